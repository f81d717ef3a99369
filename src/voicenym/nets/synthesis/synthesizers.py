"""Synthesis networks by name, in folders with their configuration and digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.folder import fill, read, write
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.weight_norm import plain

KINDS = {
    "hifigan": "voicenym.nets.synthesis.hifigan:HifiGan",
    "hifigan-nsf": "voicenym.nets.synthesis.hifigan_nsf:HifiGanNsf",
    "acoustic-nsf": "voicenym.nets.synthesis.acoustic:AcousticNsf",
    "istft-vocoder": "voicenym.nets.synthesis.istft_vocoder:IstftVocoder",
}
"""Architectures by name: module and class."""


def make(kind: str, options: Mapping[str, Any]) -> Synthesizer:
    """A new network.

    Args:
        kind: one of :data:`KINDS`.
        options: of its construction.

    Raises:
        VoicenymError: no such kind, or options that it does not take.
    """
    if kind not in KINDS:
        raise VoicenymError(f"no synthesizer {kind!r}; there are: {', '.join(sorted(KINDS))}")
    module, name = KINDS[kind].split(":")
    built: Callable[..., Synthesizer] = getattr(import_module(module), name)
    try:
        return built(**options)
    except (TypeError, ValueError) as error:
        raise VoicenymError(f"{kind}: {error}") from None


def save(
    network: Synthesizer,
    folder: Path,
    card: Mapping[str, Any] | None = None,
    *,
    half: bool = False,
) -> None:
    """Keep a network in a folder, with plain weights: weight norm is folded.

    Args:
        network: of any kind.
        folder: made where there is none.
        card: how it was trained and what it reaches.
        half: in half precision.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.write`.
    """
    config = {"kind": network.kind, "options": network.config(), "card": dict(card or {})}
    write(folder, plain(network.state_dict()), config, half=half)


def load(folder: Path) -> Synthesizer:
    """A network that :func:`save` kept, ready to synthesize.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.read`, and where the folder
            holds no synthesizer.
    """
    config, state = read(folder)
    if config.get("kind") not in KINDS or "options" not in config:
        raise VoicenymError(f"{folder}: holds no synthesizer; give one of voicenym train")
    network = make(config["kind"], config["options"])
    fill(network, state, folder)
    return network.eval()
