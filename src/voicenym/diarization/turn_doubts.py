"""Doubts about turns that were found: what a person should check, and what may mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch

from voicenym.diarization.possible_speech import seconds_outside
from voicenym.diarization.speaker_turns import Diarization

ENOUGH_SECONDS = 60.0
"""Seconds of speech below which the number of speakers is uncertain."""
LONG_SECONDS = 600.0
"""Seconds of speech above which the number is uncertain, too; settings know four minutes."""
LEAST_OUTSIDE, SHARE_OUTSIDE = 3.0, 0.2
"""Seconds, and share of the speech, from which sound outside of the turns is worth a warning."""

ALIKE, LITTLE, LONG, OUTSIDE = "alike", "little", "long", "outside"
"""Two speakers may be one; little speech to find their number, or too much; sound outside of the
turns."""


@dataclass(frozen=True)
class Doubt:
    """One doubt.

    Args:
        kind: :data:`ALIKE`, :data:`LITTLE`, :data:`LONG` or :data:`OUTSIDE`.
        figures: numbers of the sentence, by name.
        what: what is uncertain, as a sentence without its stop.
        cure: what to do, in terms of the command.
    """

    kind: str
    figures: Mapping[str, float]
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.what}; {self.cure}"


def alike(speakers: int, cosine: float) -> Doubt:
    """Two of a given number of speakers sound alike.

    Args:
        speakers: the number that was given.
        cosine: of their mean vectors.
    """
    return Doubt(
        ALIKE,
        {"speakers": speakers, "cosine": round(cosine, 2)},
        f"two of the {speakers} speakers sound alike (cosine {cosine:.2f}): one person may have "
        "two labels",
        "check the turns, or compare with a smaller --speakers",
    )


def doubts_of(
    found: Diarization, blocks: Iterable[torch.Tensor], given: int | None
) -> Iterator[Doubt]:
    """Doubts that the turns of a recording and its sound tell.

    Args:
        found: the turns.
        blocks: ``[time]`` of the recording at 16 kHz.
        given: number of speakers that the user stated; None if it was found.
    """
    spoken = sum(turn.end - turn.start for turn in found.turns)
    if given is None and spoken < ENOUGH_SECONDS:
        count = len(found.speakers)
        yield Doubt(
            LITTLE,
            {"seconds": round(spoken), "speakers": count},
            f"{spoken:.0f} s of speech are little to find the number of speakers ({count} found)",
            "give --speakers N if you know it",
        )
    if given is None and spoken > LONG_SECONDS:
        count, minutes = len(found.speakers), round(spoken / 60.0)
        yield Doubt(
            LONG,
            {"minutes": minutes, "speakers": count},
            f"{minutes} minutes of speech are much to find the number of speakers ({count} found)",
            "give --speakers N if you know it",
        )
    outside = seconds_outside(blocks, found)
    if outside > max(LEAST_OUTSIDE, SHARE_OUTSIDE * spoken):
        yield Doubt(
            OUTSIDE,
            {"seconds": round(outside), "spoken": round(spoken)},
            f"{outside:.0f} s of sound outside of all turns stand out from the background and may "
            f"be speech ({spoken:.0f} s lie in turns); anonymize --rttm hides them",
            "listen: add turns where somebody speaks; if nobody does, --unsure keep passes them on",
        )
