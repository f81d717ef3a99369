"""Content encoders by name, in folders with their configuration and digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.content.content import Content
from voicenym.nets.folder import fill, read, write

KINDS = {
    "hubert-soft": "voicenym.nets.content.hubert:HubertSoft",
    "tdnnf": "voicenym.nets.content.tdnnf:TdnnF",
    "wav2vec2": "voicenym.nets.content.wav2vec:Wav2Vec",
}
"""Architectures by name: module and class."""


def make(kind: str, options: Mapping[str, Any]) -> Content:
    """A new encoder.

    Args:
        kind: one of :data:`KINDS`.
        options: of its construction.

    Raises:
        VoicenymError: no such kind, or options that it does not take.
    """
    if kind not in KINDS:
        raise VoicenymError(f"no content encoder {kind!r}; there are: {', '.join(sorted(KINDS))}")
    module, name = KINDS[kind].split(":")
    built: Callable[..., Content] = getattr(import_module(module), name)
    try:
        return built(**options)
    except (TypeError, ValueError) as error:
        raise VoicenymError(f"{kind}: {error}") from None


def save(
    network: Content,
    folder: Path,
    card: Mapping[str, Any] | None = None,
    *,
    half: bool = False,
) -> None:
    """Keep an encoder in a folder.

    Args:
        network: of any kind.
        folder: made where there is none.
        card: how it was trained and what it reaches.
        half: in half precision.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.write`.
    """
    config = {"kind": network.kind, "options": network.config(), "card": dict(card or {})}
    write(folder, network.state_dict(), config, half=half)


def load(folder: Path) -> Content:
    """An encoder that :func:`save` kept, ready to extract.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.read`, and where the folder
            holds no content encoder.
    """
    config, state = read(folder)
    if config.get("kind") not in KINDS or "options" not in config:
        raise VoicenymError(f"{folder}: holds no content encoder; give one of voicenym train")
    network = make(config["kind"], config["options"])
    fill(network, state, folder)
    return network.eval()
