"""Speaker encoders and their weights: our own format, and published checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.folder import fill, read, write
from voicenym.nets.speakers.encoder import Encoder

SMALL = Path(__file__).parent / "bundled" / "ecapa-small"
"""The speaker encoder that comes with the package."""
KINDS = {
    "ecapa": "voicenym.nets.speakers.ecapa:Ecapa",
    "xvector": "voicenym.nets.speakers.xvector:XVector",
    "dvector": "voicenym.nets.speakers.dvector:DVector",
}
"""Architectures by name: module and class."""


def make(kind: str, options: Mapping[str, Any]) -> Encoder:
    """A new encoder.

    Args:
        kind: one of :data:`KINDS`.
        options: of its construction.

    Raises:
        VoicenymError: no such kind, or options that it does not take.
    """
    if kind not in KINDS:
        raise VoicenymError(f"no encoder {kind!r}; there are: {', '.join(sorted(KINDS))}")
    module, name = KINDS[kind].split(":")
    built: Callable[..., Encoder] = getattr(import_module(module), name)
    try:
        return built(**options)
    except (TypeError, ValueError) as error:
        raise VoicenymError(f"{kind}: {error}") from None


def save(
    encoder: Encoder,
    folder: Path,
    card: Mapping[str, Any] | None = None,
    *,
    calibration: tuple[float, float] | None = None,
    half: bool = False,
) -> None:
    """Keep an encoder in a folder.

    Args:
        encoder: of any kind.
        folder: made where there is none.
        card: how it was trained and what it reaches.
        calibration: slope and offset from cosine to log-likelihood ratio in nats.
        half: in half precision.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.write`.
    """
    config: dict[str, Any] = {
        "kind": encoder.kind,
        "options": encoder.config(),
        "card": dict(card or {}),
    }
    if calibration is not None:
        config["calibration"] = list(calibration)
    write(folder, encoder.state_dict(), config, half=half)


def load(folder: Path) -> Encoder:
    """An encoder that :func:`save` kept, ready to embed.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.folder.read`, and where the folder
            holds no speaker encoder.
    """
    config, state = read(folder)
    if not {"kind", "options"} <= set(config):
        raise VoicenymError(f"{folder}: holds no speaker encoder; give one of voicenym train")
    encoder = make(config["kind"], config["options"])
    fill(encoder, state, folder)
    return encoder.eval()
