"""Phone-state acoustic models: network, state inventory and priors, stored in a folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration, fill, read, rebuilding, write
from voicenym.nets.weights.integer_weights import dequantised, quantised
from voicenym.nets.words.phone_states.phone_state_network import FRAME, FrameNet, FrameNetConfig
from voicenym.nets.words.phone_states.phones import States
from voicenym.nets.words.posteriors import log_posteriors

SMALL = Path(__file__).parents[1] / "bundled" / "phones-small"
"""Folder of the bundled network, for phone error rates."""
KIND = "frames"
"""Kind of network in the configuration."""


@dataclass(frozen=True)
class PhoneModel:
    """Acoustic model of phone states.

    Args:
        net: network from recordings to state logits.
        states: state inventory.
        priors: log relative frequencies of the states in the training frames, ``[state]``.

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
        """Model with random weights.

        Args:
            states: state inventory.
            options: of
                :class:`~voicenym.nets.words.phone_states.phone_state_network.FrameNetConfig`.
            priors: see the class; uniform by default.

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

    def save(self, folder: Path, *, bits: int = 0, **about: Any) -> None:
        """Writes the model to a folder.

        Args:
            folder: made where there is none.
            bits: of a weight of a matrix, up to 8
                (:func:`voicenym.nets.weights.integer_weights.quantised`); other numbers are then
                in half precision. 0 for single precision.
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
        state = self.net.state_dict()
        write(folder, quantised(state, bits) if bits else state, {**config, **about}, half=bits > 0)

    @classmethod
    def load(cls, folder: Path | str) -> tuple[PhoneModel, dict[str, Any]]:
        """Reads a model written by :meth:`save`, in evaluation mode, and its configuration.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no such model, or weights of another.
        """
        if not holds_phones(folder):
            raise VoicenymError(
                f"{folder}: holds no recogniser of phones; give one of voicenym train hybrid"
            )
        config, state = read(Path(folder))
        with rebuilding(folder):
            states = States(tuple(config["phones"]))
            model = cls.make(states, config["options"], config["priors"])
        fill(model.net, dequantised(state), folder)
        model.net.eval()
        return model, config

    def log_probs(self, samples: torch.Tensor) -> np.ndarray:
        """Log posteriors ``[frame, state]`` of a recording ``[time]`` at 16 kHz."""
        return log_posteriors(self.net, samples)


def holds_phones(folder: Path | str) -> bool:
    """Whether a folder holds a phone model rather than a character model.

    Raises:
        VoicenymError: it holds none at all.
    """
    return configuration(Path(folder)).get("net") == KIND
