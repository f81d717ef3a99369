"""CTC character models: network and alphabet, stored in a folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.words.ctc_networks.conformer import SIZES, Conformer
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.nets.words.ctc_networks.deepspeech import DeepSpeech2
from voicenym.nets.words.ctc_networks.tdnnf_ctc import FRAME as TDNNF_FRAME
from voicenym.nets.words.ctc_networks.tdnnf_ctc import TdnnFRecogniser
from voicenym.nets.words.posteriors import log_posteriors
from voicenym.registry import Registry

KINDS: Registry[Any] = Registry(
    "net", {"conformer": Conformer, "deepspeech2": DeepSpeech2, "tdnnf": TdnnFRecogniser}
)
"""Nets by name; the one parameter of each is its configuration."""
FRAME = {"conformer": 0.04, "deepspeech2": 0.02, "tdnnf": TDNNF_FRAME}
"""Seconds of a frame of each net's output."""


@dataclass(frozen=True)
class CharacterModel:
    """CTC network with its alphabet.

    Args:
        kind: of net: ``conformer``, ``deepspeech2`` or ``tdnnf``.
        net: network from recordings to token logits.
        alphabet: characters of the tokens.

    Example:
        >>> model = CharacterModel.make("conformer", Alphabet(" ab"), {"size": "laptop"})
        >>> model.log_probs(torch.zeros(16_000)).shape
        (26, 4)
    """

    kind: str
    net: Any
    alphabet: Alphabet

    @classmethod
    def make(
        cls, kind: str, alphabet: Alphabet, options: Mapping[str, Any] | None = None
    ) -> CharacterModel:
        """Model with random weights.

        Args:
            kind: of net.
            alphabet: characters of the tokens.
            options: of the net's configuration; a Conformer's ``size`` may be one of its names.

        Raises:
            VoicenymError: no such net, or options that do not fit it.
        """
        made, (configured, *_) = KINDS.get(kind), KINDS.parameters(kind)
        sizes = dict(options or {})
        named = sizes.get("size")
        if isinstance(named, str):
            if kind != "conformer" or named not in SIZES:
                raise VoicenymError(
                    f"{kind}: no size {named!r}; a number, or for conformer: {', '.join(SIZES)}"
                )
            sizes = {**SIZES[named], **{k: v for k, v in sizes.items() if k != "size"}}
        try:
            config = configured.annotation(**{**sizes, "tokens": len(alphabet)})
        except (TypeError, ValueError) as error:
            raise VoicenymError(f"{kind}: {error}") from None
        return cls(kind, made(config), alphabet)

    @property
    def frame(self) -> float:
        """Frame period of the logits, in seconds."""
        return FRAME[self.kind]

    def config(self) -> dict[str, Any]:
        """Configuration that rebuilds the model, without the weights; fit for JSON."""
        sizes = dataclasses.asdict(self.net.config)
        sizes.pop("tokens")
        return {"net": self.kind, "alphabet": self.alphabet.characters, "options": sizes}

    def save(self, folder: Path, *, half: bool = False, **about: Any) -> None:
        """Writes the model to a folder.

        Args:
            folder: made where there is none.
            half: in half precision.
            about: kept in the configuration: how it was trained, how to decode.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        write(folder, self.net.state_dict(), {**self.config(), **about}, half=half)

    @classmethod
    def load(cls, folder: Path | str) -> tuple[CharacterModel, dict[str, Any]]:
        """Reads a model written by :meth:`save`, in evaluation mode, and its configuration.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no recogniser, or weights of another.
        """
        config, state = read(Path(folder))
        if not {"net", "alphabet", "options"} <= set(config):
            raise VoicenymError(
                f"{folder}: holds no recogniser of characters; give one of voicenym train "
                "recogniser, and one of voicenym train hybrid by that name"
            )
        with rebuilding(folder):
            model = cls.make(config["net"], Alphabet(config["alphabet"]), config["options"])
        fill(model.net, state, folder)
        model.net.eval()
        return model, config

    def log_probs(self, samples: torch.Tensor) -> np.ndarray:
        """Log posteriors ``[frame, token]`` of a recording ``[time]`` at 16 kHz."""
        return log_posteriors(self.net, samples)
