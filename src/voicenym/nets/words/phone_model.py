"""A network of phones' states with their names and how often they occur, kept in a folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration, fill, read, write
from voicenym.nets.words.phone_state_network import FRAME, FrameNet, FrameNetConfig
from voicenym.nets.words.phones import States
from voicenym.nets.words.posteriors import log_posteriors

KIND = "frames"
"""Of network, in the configuration."""


@dataclass(frozen=True)
class PhoneModel:
    """Hears phones.

    Args:
        net: recordings to scores of states.
        states: what the scores are of.
        priors: natural logarithms of the states' shares of the training's frames, ``[state]``.

    Example:
        >>> model = PhoneModel.make(States(("AA", "B")), {"width": 16, "gaps": (1,)})
        >>> model.log_probs(torch.zeros(16_000)).shape
        (34, 5)
    """

    net: FrameNet
    states: States
    priors: np.ndarray

    @classmethod
    def make(
        cls,
        states: States,
        options: Mapping[str, Any] | None = None,
        priors: Sequence[float] | np.ndarray | None = None,
    ) -> PhoneModel:
        """A model with random weights.

        Args:
            states: what it hears.
            options: of :class:`~voicenym.nets.words.phone_state_network.FrameNetConfig`.
            priors: see the class; all alike unless given.

        Raises:
            VoicenymError: options that do not fit.
        """
        try:
            config = FrameNetConfig(**{**(options or {}), "tokens": len(states)})
        except (TypeError, ValueError) as error:
            raise VoicenymError(f"network of phones: {error}") from None
        even = np.full(len(states), -np.log(len(states)))
        return cls(FrameNet(config), states, even if priors is None else np.array(priors))

    frame = FRAME
    """Seconds from one frame of scores to the next."""

    def save(self, folder: Path, *, half: bool = False, **about: Any) -> None:
        """Keep it in a folder.

        Args:
            folder: made where there is none.
            half: in half precision.
            about: kept in the configuration: how it was trained, how to decode.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        sizes = dataclasses.asdict(self.net.config)
        sizes.pop("tokens")
        config = {
            "net": KIND,
            "phones": list(self.states.phones),
            "options": sizes,
            "priors": [round(float(prior), 4) for prior in self.priors],
        }
        write(folder, self.net.state_dict(), {**config, **about}, half=half)

    @classmethod
    def load(cls, folder: Path | str) -> tuple[PhoneModel, dict[str, Any]]:
        """A model that :meth:`save` kept, ready to hear, and its configuration.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no such model, or weights of another.
        """
        if not holds_phones(folder):
            raise VoicenymError(
                f"{folder}: holds no recogniser of phones; give one of voicenym train hybrid"
            )
        config, state = read(Path(folder))
        model = cls.make(States(tuple(config["phones"])), config["options"], config["priors"])
        fill(model.net, state, folder)
        model.net.eval()
        return model, config

    def log_probs(self, samples: torch.Tensor) -> np.ndarray:
        """Logarithms of probabilities ``[frame, state]`` of a recording ``[time]`` at 16 kHz."""
        return log_posteriors(self.net, samples)


def holds_phones(folder: Path | str) -> bool:
    """Whether a folder holds such a model, rather than one of characters.

    Raises:
        VoicenymError: it holds none at all.
    """
    return configuration(Path(folder)).get("net") == KIND
