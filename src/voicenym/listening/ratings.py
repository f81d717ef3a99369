"""Answers as ratings: a number for each question, with what was heard and by whom."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from voicenym.listening.answer_store import Stored
from voicenym.listening.questions import CHOICE, KINDS, SCALE, SLIDERS, kind
from voicenym.listening.study import GOLD, RATING, TRAP, ItemKey, Key, Study

VERIFICATION = ("similarity", "same speaker")
"""Questions whose scores verify speakers: higher is the same one."""
RIGHT = ("right in ABX", "right in the line-up")
"""Questions whose scores are 1 for a right and 0 for a wrong answer."""
WORDS = "word error rate"


@dataclass(frozen=True)
class Rating:
    """An answer to one question on one recording.

    Args:
        listener: name.
        item: page on which it was given.
        test, question: names.
        system, utterance, speaker: of the rated recording.
        kind: ``same`` or ``different`` speaker, or empty.
        other: the other speaker of a pair of different ones.
        score: number: of a scale; 1 or 0 of a right or wrong choice; confidence of a decision,
            negative for ``different``; percent of wrong words.
        weight: of the score in a mean: words for word errors, else 1.
        seconds: from display to answer, and ``duration`` of the recordings; NaN where unknown.
    """

    listener: str
    item: str
    test: str
    question: str
    system: str
    utterance: str
    speaker: str
    score: float
    kind: str = ""
    other: str = ""
    weight: float = 1.0
    seconds: float = math.nan
    duration: float = math.nan


@dataclass(frozen=True)
class CheckResult:
    """Whether a gold or trapping item, or a page of a check, was answered as it asks.

    Args:
        listener, page: names.
        role: ``gold``, ``trap``, ``headphones`` or ``compare``.
        right: whether it was.
        method: of a headphone check; empty where it is unknown, and of others.
    """

    listener: str
    page: str
    role: str
    right: bool
    method: str = ""


def of_study(
    study: Study, key: Key, stored: Iterable[Stored]
) -> tuple[list[Rating], list[CheckResult]]:
    """Ratings and results of checks of a study's answers; training is left out."""
    pages = {(who, page.name): page for who, found in study.sessions.items() for page in found}
    ratings: list[Rating] = []
    checks: list[CheckResult] = []
    for one in stored:
        page = pages.get((one.listener, one.page))
        item = key.items.get(one.page)
        if page is not None and page.expected:
            right = str(one.answers.get(page.kind)) == page.expected
            checks.append(CheckResult(one.listener, one.page, page.kind, right, page.test))
        elif item is None or page is None:
            continue
        elif item.role in (GOLD, TRAP):
            checks.append(CheckResult(one.listener, one.page, item.role, _right(item, one.answers)))
        elif item.role == RATING:
            seconds = math.nan if one.seconds is None else one.seconds
            duration = sum(key.clips[clip].seconds for clip in page.clips)
            for question, system, score, weight in _scores(item, key, one.answers):
                ratings.append(
                    Rating(
                        one.listener, one.page, item.test, question, system, item.utterance,
                        item.speaker, score, item.kind, item.other, weight, seconds, duration,
                    )
                )  # fmt: skip
    return ratings, checks


def _scores(
    item: ItemKey, key: Key, answers: Mapping[str, Any]
) -> Iterable[tuple[str, str, float, float]]:
    """Question, system, score and weight of the answers of a page."""
    if item.test == "same":
        sure = float(answers["confidence"])
        yield VERIFICATION[1], item.system, sure if answers["same"] == "same" else -sure, 1.0
        return
    if item.test == "words":
        from voicenym.metrics import word_counts

        errors = word_counts([item.text], [str(answers["words"])])[0]
        words = max(1.0, float(errors[3]))
        yield WORDS, item.system, 100.0 * float(errors[:3].sum()) / words, words
        return
    for question in kind(item.test).questions:
        if question.kind == SCALE:
            yield question.name, item.system, float(answers[question.name]), 1.0
        elif question.kind == SLIDERS:
            for name, value in answers.items():
                system = key.clips[name.partition(":")[2]].system
                yield "MUSHRA quality", system, float(value), 1.0
        else:
            right = str(answers[question.name]) == item.expected[question.name]
            yield RIGHT[0 if question.kind == CHOICE else 1], item.system, float(right), 1.0


NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}


def _right(item: ItemKey, answers: Mapping[str, Any]) -> bool:
    """Whether answers are those that a gold or trapping item asks for."""
    for question, expected in item.expected.items():
        value = answers.get(question)
        limits = re.fullmatch(r"(\d+)-(\d+)", expected)
        if question == "words":
            given = re.sub(r"[^\w]", " ", str(value).lower()).split()
            if not given or NUMBERS.get(given[0], given[0]) != expected:
                return False
        elif limits:
            if not isinstance(value, (int, float)) or not (
                float(limits[1]) <= value <= float(limits[2])
            ):
                return False
        elif str(value) != expected:
            return False
    return True


def scale_of(question: str) -> tuple[float, float] | None:
    """Limits of a question's scale by its name; None for shares, rates and other tools' questions.

    Example:
        >>> scale_of("naturalness")
        (1, 10)
    """
    if question == "MUSHRA quality":
        return 0, 100
    for test in KINDS.values():
        for one in test.questions:
            if one.name == question and one.kind == SCALE:
                return one.low, one.high
    return None


def in_order(systems: Iterable[str]) -> list[str]:
    """Systems, each once: the original first, the others by name."""
    return sorted(set(systems), key=lambda name: (name != "original", name))
