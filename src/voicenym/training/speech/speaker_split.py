"""Who is learnt from, and who is kept out to judge by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError

MOST_JUDGED = 10
"""Recordings of a speaker who is kept out that are looked at in every validation."""


def speaker_split(
    recordings: Sequence[Recording], share: float, seed: int, what: str = "recordings"
) -> tuple[list[Recording], list[Recording]]:
    """Recordings to train on, and those of speakers who are kept out; of a single one, some.

    Args:
        recordings: in any order, which does not matter.
        share: of the speakers who are kept out; one at least, and not all.
        seed: of the draw.
        what: they are, for the error.

    Raises:
        CorpusError: a single recording.
    """
    spoken = sorted(recordings)
    speakers = sorted({recording.speaker for recording in spoken})
    names = speakers if len(speakers) > 1 else [recording.name for recording in spoken]
    if len(names) < 2:
        raise CorpusError(
            f"{len(names)} {what} are too few to learn from and to keep one out to judge by; give "
            "more"
        )
    out = _drawn(names, min(len(names) - 1, max(1, round(share * len(names)))), (seed, 72))
    who = {r.name: r.speaker if len(speakers) > 1 else r.name for r in spoken}
    train = [recording for recording in spoken if who[recording.name] not in out]
    return train, [recording for recording in spoken if who[recording.name] in out]


def verification_split(
    recordings: Sequence[Recording], share: float, seed: int
) -> tuple[list[Recording], list[Recording]]:
    """Recordings to train on, and those of speakers who are kept out to be verified.

    Kept out are speakers with two recordings at least, so that there are pairs of one speaker, and
    at least four of them, so that there are pairs of two.

    Args:
        recordings: in an order that matters: the first :data:`MOST_JUDGED` of a speaker are kept.
        share: of the speakers who are kept out.
        seed: of the draw.

    Raises:
        CorpusError: too few speakers to keep any out.
    """
    by_speaker: dict[str, list[Recording]] = {}
    for recording in recordings:
        by_speaker.setdefault(recording.speaker, []).append(recording)
    able = sorted(name for name, own in by_speaker.items() if len(own) > 1)
    wanted = max(4, round(share * len(by_speaker)))
    if len(able) < wanted or len(by_speaker) < wanted + 2:
        raise CorpusError(
            f"{len(by_speaker)} speakers, {len(able)} of them with two recordings or more, are too "
            f"few to learn from and to keep {wanted} out to judge by; add speakers, or recordings "
            "of those there are"
        )
    out = _drawn(able, wanted, (seed, 71))
    train = [recording for recording in recordings if recording.speaker not in out]
    judged = [recording for name in sorted(out) for recording in by_speaker[name][:MOST_JUDGED]]
    return train, judged


def _drawn(names: Sequence[str], count: int, seed: tuple[int, int]) -> set[str]:
    """So many of the names."""
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[i] for i in order[:count]}
