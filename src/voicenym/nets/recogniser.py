"""A CTC net with its alphabet: made by name, kept in a folder, heard recording by recording."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.conformer import SIZES, Conformer, ConformerConfig
from voicenym.nets.ctc import Alphabet
from voicenym.nets.deepspeech import DeepSpeech2, DeepSpeech2Config

KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "conformer": (Conformer, ConformerConfig),
    "deepspeech2": (DeepSpeech2, DeepSpeech2Config),
}
CONFIG, WEIGHTS = "config.json", "model.safetensors"
FRAME = {"conformer": 0.04, "deepspeech2": 0.02}
"""Seconds of a frame of each net's output."""


@dataclass(frozen=True)
class CharacterModel:
    """Hears characters.

    Args:
        kind: of net: ``conformer`` or ``deepspeech2``.
        net: recordings to scores of tokens.
        alphabet: what the tokens are.

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
        """A model with random weights.

        Args:
            kind: of net.
            alphabet: what it hears.
            options: of the net's configuration; a Conformer's ``size`` may be one of its names.

        Raises:
            VoicenymError: no such net, or options that do not fit it.
        """
        if kind not in KINDS:
            raise VoicenymError(f"no net {kind!r}; there are: {', '.join(sorted(KINDS))}")
        made, configured = KINDS[kind]
        sizes = dict(options or {})
        named = sizes.get("size")
        if isinstance(named, str):
            if kind != "conformer" or named not in SIZES:
                raise VoicenymError(
                    f"{kind}: no size {named!r}; a number, or for conformer: {', '.join(SIZES)}"
                )
            sizes = {**SIZES[named], **{k: v for k, v in sizes.items() if k != "size"}}
        try:
            config = configured(**{**sizes, "tokens": len(alphabet)})
        except (TypeError, ValueError) as error:
            raise VoicenymError(f"{kind}: {error}") from None
        return cls(kind, made(config), alphabet)

    @property
    def frame(self) -> float:
        """Seconds from one frame of scores to the next."""
        return FRAME[self.kind]

    def config(self) -> dict[str, Any]:
        """What rebuilds it, without the weights; fit for JSON."""
        sizes = dataclasses.asdict(self.net.config)
        sizes.pop("tokens")
        return {"net": self.kind, "alphabet": self.alphabet.characters, "options": sizes}

    def save(self, folder: Path, **about: Any) -> None:
        """Write ``config.json`` and ``model.safetensors``; they are whole or not there.

        Args:
            folder: made where there is none.
            about: kept in the configuration: how it was trained, how to decode.

        Raises:
            DependencyError: safetensors is not installed.
            VoicenymError: the folder cannot be written.
        """
        files = _safetensors()
        weights = {name: value.contiguous() for name, value in self.net.state_dict().items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _replace(folder / WEIGHTS, files.save({n: v.cpu() for n, v in weights.items()}))
            text = json.dumps({**self.config(), **about}, indent=2, ensure_ascii=False)
            _replace(folder / CONFIG, text.encode())
        except OSError as error:
            raise VoicenymError(f"{folder}: cannot be written ({error.strerror})") from error

    @classmethod
    def load(cls, folder: Path | str) -> tuple[CharacterModel, dict[str, Any]]:
        """A model that :meth:`save` wrote, ready to hear, and its configuration.

        Raises:
            DependencyError: safetensors is not installed.
            VoicenymError: no such model there, or weights of another; names the first key that
                differs.
        """
        files = _safetensors()
        folder = Path(folder)
        broken = import_module("safetensors").SafetensorError
        try:
            config = json.loads((folder / CONFIG).read_text("utf-8"))
            kind, characters, options = (config[n] for n in ("net", "alphabet", "options"))
            state = files.load((folder / WEIGHTS).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, broken) as error:
            raise VoicenymError(
                f"{folder}: no recogniser that voicenym train recogniser wrote ({error}); give the "
                f"folder that holds its {CONFIG} and {WEIGHTS}"
            ) from error
        model = cls.make(kind, Alphabet(characters), options)
        own = model.net.state_dict()
        for name in [*own, *state]:
            theirs, ours = (tuple(s[name].shape) if name in s else None for s in (state, own))
            if theirs != ours:
                raise VoicenymError(
                    f"{folder / WEIGHTS}: {name} is {theirs or 'missing'}, and {ours or 'missing'} "
                    f"in what {CONFIG} tells of; take both from one training"
                )
        model.net.load_state_dict(state)
        model.net.eval()
        return model, config

    @torch.inference_mode()
    def log_probs(self, samples: torch.Tensor) -> np.ndarray:
        """Logarithms of probabilities ``[frame, token]`` of a recording ``[time]`` at 16 kHz."""
        self.net.eval()
        device = next(self.net.parameters()).device
        lengths = torch.tensor([len(samples)], device=device)
        logits, _ = self.net(samples[None].to(device), lengths)
        found: np.ndarray = logits[0].float().log_softmax(-1).cpu().numpy()
        return found


def _safetensors() -> Any:
    try:
        return import_module("safetensors.torch")
    except ImportError as error:
        raise DependencyError("trained recognisers: pip install 'voicenym[recognisers]'") from error


def _replace(path: Path, content: bytes) -> None:
    """Write a file that has its name only when it is whole."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)
