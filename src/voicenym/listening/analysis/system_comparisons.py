"""Comparison of all pairs of systems: Mann-Whitney tests of normalised ranks, after Holm.

As the VoicePrivacy Challenge 2020 does (Tomashenko et al. 2022, section 4.2), with the correction
for several tests that it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.listening.ratings import Rating, in_order
from voicenym.metrics.listening_ranks import holm, mann_whitney, normalised_ranks


@dataclass(frozen=True)
class Comparison:
    """Two systems.

    Args:
        first, second: names.
        u: of the first.
        p: two-sided, of one test; and ``corrected`` after Holm among all pairs.
        superiority: probability that a rating of the first is higher than one of the second, half
            of the ties counted.
    """

    first: str
    second: str
    u: float
    p: float
    corrected: float
    superiority: float


def ranked(ratings: Sequence[Rating], *, items: bool = True) -> np.ndarray:
    """Normalised ranks by listener, and with ``items`` of these by utterance (Turner et al. 2022).

    Args:
        ratings: of one question.
    """
    scores = normalised_ranks([one.score for one in ratings], [one.listener for one in ratings])
    return normalised_ranks(scores, [one.utterance for one in ratings]) if items else scores


def comparisons(ratings: Sequence[Rating], *, items: bool = False) -> list[Comparison]:
    """All pairs of systems.

    Args:
        ratings: of one question.
        items: whether ranks are normalised by utterance too.
    """
    scores = ranked(ratings, items=items)
    systems = in_order(one.system for one in ratings)
    own = {name: scores[[one.system == name for one in ratings]] for name in systems}
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    tests = [mann_whitney(own[a], own[b]) for a, b in pairs]
    corrected = holm([test.p for test in tests])
    return [
        Comparison(a, b, test.u, test.p, float(p), test.u / (own[a].size * own[b].size))
        for (a, b), test, p in zip(pairs, tests, corrected, strict=True)
    ]
