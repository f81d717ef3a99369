"""Speaker encoders by name, in folders with their configuration and digest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voicenym.nets.architectures import Kinds
from voicenym.nets.speakers.speaker_encoder import Encoder

SMALL = Path(__file__).parent / "bundled" / "ecapa-small"
"""The bundled speaker encoder; its card lies beside its weights."""
KINDS: Kinds[Encoder] = Kinds(
    "speaker encoder",
    {
        "ecapa": "voicenym.nets.speakers.ecapa:Ecapa",
        "two-branch": "voicenym.nets.speakers.two_branch:TwoBranch",
        "xvector": "voicenym.nets.speakers.xvector:XVector",
        "dvector": "voicenym.nets.speakers.dvector:DVector",
        "formant-pitch": "voicenym.nets.speakers.formant_pitch_encoder:Formants",
    },
)
make, load = KINDS.make, KINDS.load


def save(
    encoder: Encoder,
    folder: Path,
    card: Mapping[str, Any] | None = None,
    *,
    calibration: tuple[float, float] | None = None,
    half: bool = False,
) -> None:
    """Writes an encoder to a folder, as :meth:`voicenym.nets.architectures.Kinds.save`.

    Args:
        encoder: of any kind.
        folder: made where there is none.
        card: how it was trained and what it reaches.
        calibration: slope and offset from cosine to log-likelihood ratio in nats.
        half: in half precision.
    """
    about: dict[str, Any] = {} if calibration is None else {"calibration": list(calibration)}
    KINDS.save(encoder, folder, card, half=half, **about)
