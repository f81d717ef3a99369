"""Splits of recordings into training speakers and held-out speakers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError

MOST_HELD_OUT = 10
"""Largest number of recordings of each held-out speaker in a validation."""


def speaker_split(
    recordings: Sequence[Recording], share: float, seed: int, what: str = "recordings"
) -> tuple[list[Recording], list[Recording]]:
    """Training recordings, and those of held-out speakers; of a single speaker, some of both.

    Args:
        recordings: in any order, which has no effect.
        share: of held-out speakers; at least one, and not all.
        seed: of the draw.
        what: description of the recordings, for the error.

    Raises:
        CorpusError: a single recording.
    """
    ordered = sorted(recordings)
    speakers = sorted({recording.speaker for recording in ordered})
    names = speakers if len(speakers) > 1 else [recording.name for recording in ordered]
    if len(names) < 2:
        raise CorpusError(
            f"{len(names)} {what} are too few to train on and to hold one out for validation; "
            "give more"
        )
    out = _drawn(names, min(len(names) - 1, max(1, round(share * len(names)))), (seed, 72))
    held = [(r.speaker if len(speakers) > 1 else r.name) in out for r in ordered]
    train = [recording for recording, away in zip(ordered, held, strict=True) if not away]
    return train, [recording for recording, away in zip(ordered, held, strict=True) if away]


def verification_split(
    recordings: Sequence[Recording], share: float, seed: int
) -> tuple[list[Recording], list[Recording]]:
    """Training recordings, and those of held-out speakers for verification trials.

    Held-out speakers have two recordings at least, which gives target trials; there are at least
    four of them, which gives non-target trials.

    Args:
        recordings: of each held-out speaker, the first :data:`MOST_HELD_OUT` are used.
        share: of held-out speakers.
        seed: of the draw.

    Raises:
        CorpusError: too few speakers to hold any out.
    """
    by_speaker: dict[str, list[Recording]] = {}
    for recording in recordings:
        by_speaker.setdefault(recording.speaker, []).append(recording)
    able = sorted(name for name, own in by_speaker.items() if len(own) > 1)
    wanted = max(4, round(share * len(by_speaker)))
    if len(able) < wanted or len(by_speaker) < wanted + 2:
        raise CorpusError(
            f"{len(by_speaker)} speakers, {len(able)} of them with two recordings or more, are too "
            f"few to train on and to hold {wanted} out for validation; add speakers, or recordings "
            "of these"
        )
    out = _drawn(able, wanted, (seed, 71))
    train = [recording for recording in recordings if recording.speaker not in out]
    held_out = [recording for name in sorted(out) for recording in by_speaker[name][:MOST_HELD_OUT]]
    return train, held_out


def _drawn(names: Sequence[str], count: int, seed: tuple[int, int]) -> set[str]:
    """Random choice of names."""
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[i] for i in order[:count]}
