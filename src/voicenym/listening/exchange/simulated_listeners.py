"""Simulated listeners with set abilities, biases and cheaters, for tests and demonstrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voicenym.listening.answer_store import AnswerStore
from voicenym.listening.questions import CHOICE, LINE_UP, SCALE, SLIDERS, Question
from voicenym.listening.session_progress import current, questions
from voicenym.listening.study import GOLD, TRAP, ItemKey, Key, Page, Study


@dataclass(frozen=True)
class Listener:
    """How somebody answers.

    Args:
        ability: share of choices, words and comparisons that are right beyond guessing, 0 to 1.
        bias: added to ratings, in shares of the scale.
        noise: deviation of ratings, in shares of the scale.
        cheats: answers at random at once, without listening.
        opinions: mean rating of each system in shares of the scale, 0 to 1; 0.5 where not named.
    """

    ability: float = 0.9
    bias: float = 0.0
    noise: float = 0.1
    cheats: bool = False
    opinions: Mapping[str, float] = field(default_factory=dict)


def answer_all(
    study: Study,
    key: Key,
    store: AnswerStore,
    people: Mapping[str, Listener],
    rng: np.random.Generator,
) -> None:
    """Answers the sessions of simulated listeners.

    Args:
        people: by the name of a session.
        rng: of answers.
    """
    for name, person in people.items():
        while (page := current(study, name, store.answered(name))) is not None:
            given = answers(page, key, person, rng)
            heard = sum(key.clips[clip].seconds for clip in page.clips)
            seconds = 0.5 + 0.1 * heard if person.cheats else 2.0 + heard
            store.add(name, page.name, given, round(seconds, 2), len(page.clips))


def answers(page: Page, key: Key, person: Listener, rng: np.random.Generator) -> dict[str, Any]:
    """Answers of a person to a page."""
    item = key.items.get(page.name)
    found: dict[str, Any] = {}
    for question in questions(page):
        if question.kind == SLIDERS:
            for clip in page.clips[1:]:
                system = key.clips[clip].system
                found[f"{question.name}:{clip}"] = _rating(question, person, system, rng)
        elif question.kind == SCALE:
            found[question.name] = _scale(question, item, person, rng)
        else:
            found[question.name] = _choice(question, page, item, person, rng)
    return found


def _scale(
    question: Question, item: ItemKey | None, person: Listener, rng: np.random.Generator
) -> int:
    if item is not None and question.name in item.expected and not person.cheats:
        low, _, high = item.expected[question.name].partition("-")
        return round((float(low) + float(high)) / 2.0)
    system = "" if item is None else item.system
    if question.name == "similarity" and item is not None:
        same = item.kind == "same"
        side = 0.5 + (0.4 if same else -0.4) * person.opinions.get(f"voice of {system}", 1.0)
        person = Listener(person.ability, person.bias, person.noise, person.cheats, {system: side})
    return _rating(question, person, system, rng)


def _rating(question: Question, person: Listener, system: str, rng: np.random.Generator) -> int:
    width = question.high - question.low
    if person.cheats:
        return int(rng.integers(question.low, question.high + 1))
    mean = person.opinions.get(system, 0.5) + person.bias
    value = question.low + width * (mean + person.noise * rng.standard_normal())
    return int(np.clip(round(value), question.low, question.high))


def _choice(
    question: Question, page: Page, item: ItemKey | None, person: Listener, rng: np.random.Generator
) -> str:
    """Right with the person's ability, else a guess."""
    right = page.expected or ("" if item is None else item.expected.get(question.name, ""))
    if item is not None and question.name == "same" and not right:
        right = item.kind
    obvious = item is not None and item.role in (GOLD, TRAP)
    knows = not person.cheats and (obvious or rng.random() < person.ability)
    if question.kind == CHOICE:
        choices: Sequence[str] = question.labels
    elif question.kind == LINE_UP:
        choices = page.clips[1:]
    else:
        words = (right or ("" if item is None else item.text)).split()
        kept = [
            w for w in words if not person.cheats and (obvious or rng.random() < person.ability)
        ]
        return " ".join(kept) or "nothing"
    return right if knows and right else str(choices[int(rng.integers(len(choices)))])
