"""Quality of listeners: gold and trapping items, time, agreement with others; who is left out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.listening.design.headphone_checks import NEEDED
from voicenym.listening.ratings import RIGHT, WORDS, CheckResult, Rating
from voicenym.listening.study import COMPARE, GOLD, HEADPHONES, TRAP


@dataclass(frozen=True)
class Criteria:
    """What a listener must meet; None leaves a criterion out.

    Args:
        gold: least share of right gold items.
        traps: least share of right trapping items.
        comparisons: fewest right comparisons of noise of four (two in the P.808 toolkit).
        fast: largest share of answers that took less time than the recordings last.
        spread: least deviation of the ratings, in shares of their scale's width used by all.
        agreement: least correlation with the mean of the others, of listeners with enough items.
        hidden: largest share of MUSHRA pages with a hidden reference below 90, or a mid anchor
            above 90 (ITU-R BS.1534-3, section 4.1.2).
        headphones: whether the headphone check must be passed.
    """

    gold: float | None = 0.5
    traps: float | None = 0.7
    comparisons: int | None = 2
    fast: float | None = 0.25
    spread: float | None = 0.02
    agreement: float | None = 0.1
    hidden: float | None = 0.15
    headphones: bool = False


FEWEST_SHARED = 12
"""Items that a listener shares with others before agreement counts."""
FEWEST_OTHERS = 3
"""Ratings of a recording by others whose mean counts; with fewer, the mean of the system does."""


@dataclass(frozen=True)
class ListenerQuality:
    """A listener's results; None where there is nothing to judge by.

    Args:
        listener: name.
        ratings: number.
        gold, traps: shares of right answers.
        comparisons: right comparisons of noise.
        headphones: whether the check was passed.
        fast: share of answers in less time than the recordings last.
        spread: deviation of the ratings in shares of the range used by all.
        agreement: correlation with the mean of the others.
        hidden: share of MUSHRA pages that BS.1534-3 counts against a listener.
        reasons: why the listener is left out; empty if he is not.
    """

    listener: str
    ratings: int
    gold: float | None
    traps: float | None
    comparisons: int | None
    headphones: bool | None
    fast: float | None
    spread: float | None
    agreement: float | None
    hidden: float | None
    reasons: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether the listener's ratings are analysed."""
        return not self.reasons


def qualities(
    ratings: Sequence[Rating], checks: Sequence[CheckResult], criteria: Criteria | None = None
) -> list[ListenerQuality]:
    """Quality of each listener, in the order of their first answers."""
    criteria = criteria or Criteria()
    shared = _agreements(ratings)
    spreads = _spreads(ratings)
    names = dict.fromkeys([one.listener for one in ratings] + [one.listener for one in checks])
    found = []
    for name in names:
        own = [one for one in ratings if one.listener == name]
        right = defaultdict(list)
        for check in checks:
            if check.listener == name:
                right[check.role].append(check)
        compared = right[COMPARE]
        quality = ListenerQuality(
            name,
            len(own),
            _share(right[GOLD]),
            _share(right[TRAP]),
            sum(one.right for one in compared) if compared else None,
            _headphones(right[HEADPHONES]),
            _fast(own),
            spreads.get(name),
            shared.get(name),
            _hidden(own),
        )
        found.append(_judged(quality, criteria))
    return found


def _judged(q: ListenerQuality, c: Criteria) -> ListenerQuality:
    """The quality with the reasons against the listener."""
    reasons = []
    if _below(q.gold, c.gold):
        reasons.append(f"{100 * (q.gold or 0):.0f} % of gold items right")
    if _below(q.traps, c.traps):
        reasons.append(f"{100 * (q.traps or 0):.0f} % of trapping items right")
    if _below(q.comparisons, c.comparisons):
        reasons.append(f"{q.comparisons} comparisons of noise right")
    if q.fast is not None and c.fast is not None and q.fast > c.fast:
        reasons.append(f"{100 * q.fast:.0f} % of answers before the recordings could end")
    if _below(q.spread, c.spread):
        reasons.append("nearly the same rating everywhere")
    if _below(q.agreement, c.agreement):
        reasons.append(f"correlation with the others {q.agreement:.2f}")
    if q.hidden is not None and c.hidden is not None and q.hidden > c.hidden:
        reasons.append(f"hidden reference or anchor misjudged on {100 * q.hidden:.0f} % of pages")
    if c.headphones and q.headphones is False:
        reasons.append("headphone check failed")
    return ListenerQuality(**{**vars(q), "reasons": tuple(reasons)})


def _below(value: float | None, least: float | None) -> bool:
    return value is not None and least is not None and value < least


def _share(checks: Sequence[CheckResult]) -> float | None:
    return sum(one.right for one in checks) / len(checks) if checks else None


def _headphones(checks: Sequence[CheckResult]) -> bool | None:
    """Whether an attempt was passed with as many right answers as its method asks for, as the page
    judges it; where the method is unknown, as the strictest one asks for.
    """
    if not checks:
        return None
    attempts: dict[str, int] = defaultdict(int)
    for one in checks:
        attempts[one.page.split("-")[1]] += one.right
    return max(attempts.values()) >= NEEDED.get(checks[0].method, max(NEEDED.values()))


def _fast(ratings: Sequence[Rating]) -> float | None:
    timed = {one.item: one.seconds < one.duration for one in ratings
             if math.isfinite(one.seconds) and math.isfinite(one.duration)}  # fmt: skip
    return sum(timed.values()) / len(timed) if timed else None


def _hidden(ratings: Sequence[Rating]) -> float | None:
    """Share of pages on which the hidden reference is below 90, or the mid anchor above it.

    The larger of both shares.
    """
    pages: dict[str, dict[str, float]] = defaultdict(dict)
    for one in ratings:
        if one.test == "mushra":
            pages[one.item][one.system] = one.score
    if not pages:
        return None
    low = sum(page.get("original", 100.0) < 90.0 for page in pages.values())
    high = sum(page.get("original low-pass-7000", 0.0) > 90.0 for page in pages.values())
    return max(low, high) / len(pages)


def _scaled(ratings: Sequence[Rating]) -> dict[str, list[tuple[Rating, float]]]:
    """Ratings by question with their scores in shares of the range that all listeners use."""
    by: dict[str, list[Rating]] = defaultdict(list)
    for one in ratings:
        by[f"{one.test} {one.question}"].append(one)
    found = {}
    for name, many in by.items():
        scores = [one.score for one in many]
        width = max(scores) - min(scores)
        if width > 0.0:
            found[name] = [(one, (one.score - min(scores)) / width) for one in many]
    return found


def _spreads(ratings: Sequence[Rating]) -> dict[str, float]:
    """Largest deviation of a listener's ratings over the questions with three ratings at least."""
    found: dict[str, float] = {}
    for many in _scaled(ratings).values():
        own: dict[str, list[float]] = defaultdict(list)
        for one, score in many:
            own[one.listener].append(score)
        for name, scores in own.items():
            if len(scores) >= 3:
                found[name] = max(found.get(name, 0.0), float(np.std(scores)))
    return found


def _agreements(ratings: Sequence[Rating]) -> dict[str, float]:
    """Correlation of each listener's ratings with the mean of the others on the same thing.

    Right and wrong answers are left out, which chance decides too often. The same thing is a
    recording of a system, or the system where fewer than three others rated the recording.
    """
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    graded = [one for one in ratings if one.question not in (*RIGHT, WORDS)]
    for many in _scaled(graded).values():
        sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        own: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        places = [((r.system, r.kind, r.utterance), (r.system, r.kind)) for r, _ in many]
        for (one, score), keys in zip(many, places, strict=True):
            for key in keys:
                for table, at in ((sums, key), (own, (one.listener, *key))):
                    table[at][0] += score
                    table[at][1] += 1.0
        centre = float(np.mean([score for _, score in many]))
        for (one, score), keys in zip(many, places, strict=True):
            for key in keys:
                total, count = (
                    a - b for a, b in zip(sums[key], own[one.listener, *key], strict=True)
                )
                if count >= FEWEST_OTHERS or (key is keys[-1] and count > 0.0):
                    pairs[one.listener].append((score - centre, total / count - centre))
                    break
    found = {}
    for name, many_pairs in pairs.items():
        x, y = np.array(many_pairs).T
        if len(x) >= FEWEST_SHARED and x.std() > 0.0 and y.std() > 0.0:
            found[name] = float(np.corrcoef(x, y)[0, 1])
    return found
