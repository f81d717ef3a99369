"""A study from recordings: plan, clips, sessions and key, written into a folder."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError, counted
from voicenym.listening import study as files
from voicenym.listening.design import headphone_checks
from voicenym.listening.design.items import ItemMaker
from voicenym.listening.design.material import Material, check
from voicenym.listening.design.power import OPINION, RATING, STEPS_OF_FIVE, listeners_needed
from voicenym.listening.design.sessions import Plan, sessions
from voicenym.listening.design.stimuli import ClipBank
from voicenym.listening.questions import SCALE, SLIDERS, kind
from voicenym.listening.study import ITEM, Key, Study

CONSENT_TEXT = """This is a listening test. You hear recordings and answer questions about them.

What is stored: your answers, how long each took, and how often you played a recording, under a \
random number. No name, no address and nothing else about you is asked for or stored.

You take part of your own will. You may stop at any time by closing the page; what you answered \
up to then stays stored. You may come back with the same link and go on.

The recordings may be of real people. Do not record or pass them on."""


@dataclass(frozen=True)
class Design:
    """A finished design.

    Args:
        study, key, tokens, clips: as :func:`voicenym.listening.study.save` takes them.
        level: of all clips in LUFS.
        balance: fewest and most ratings of a recording of a system, by test.
        minutes: of a session, estimated: clips are played once, and ten seconds go to each answer.
    """

    study: Study
    key: Key
    tokens: Mapping[str, str]
    clips: Mapping[str, bytes] = field(repr=False)
    level: float
    balance: Mapping[str, tuple[int, int]]
    minutes: float

    def save(self, folder: Path) -> None:
        """Writes the study; see :func:`voicenym.listening.study.save`."""
        files.save(folder, self.study, self.key, self.tokens, self.clips)


def design(
    material: Material,
    plan: Plan,
    *,
    seed: int = 0,
    title: str = "Listening test",
    consent: str = CONSENT_TEXT,
    level: float | None = None,
    whole: bool = True,
    need_headphones: bool = False,
    tell: Callable[[str], None] = lambda step: None,
    done: Callable[[int], None] = lambda clips: None,
) -> Design:
    """Designs a study.

    Args:
        material: recordings.
        plan: tests and sizes.
        seed: of orders and choices; names of clips and links are random whatever it is.
        title, consent: for listeners.
        level: of clips in LUFS; None is the highest that suits all.
        whole: whether clips must be played to their end.
        need_headphones: whether a listener without headphones is sent home.
        tell: called with each step.
        done: called with the number of clips that were made since.

    Raises:
        VoicenymError: material that does not suffice, or loudness that cannot be matched.
    """
    check(material, plan.tests)
    if plan.headphones and plan.headphones not in headphone_checks.NEEDED:
        raise VoicenymError(
            f"no headphone check {plan.headphones!r}; there are: "
            + ", ".join(headphone_checks.NEEDED)
        )
    rng = np.random.default_rng(seed)
    bank = ClipBank(material, seed)
    maker = ItemMaker(material, bank, rng)
    tell(f"planning {counted(plan.listeners, 'session')}")
    found = sessions(plan, maker, rng)
    tell(f"making {counted(len(bank.names), 'clip')}")
    clips, keys, level = bank.render(level, done)
    used = {page.name for pages in found.values() for page in pages}
    items = {name: item.key for name, item in maker.items.items() if name in used}
    settings = {
        "tests": list(plan.tests), "listeners": plan.listeners, "level": level,
        "headphones": plan.headphones, "checks": plan.checks,
    }  # fmt: skip
    key = Key(seed, material.systems, items, keys, settings)
    study = Study(title, consent, found, whole, need_headphones)
    tokens = {listener: secrets.token_urlsafe(24) for listener in found}
    return Design(study, key, tokens, clips, level, _balance(study, key), _minutes(study, key))


def _balance(study: Study, key: Key) -> dict[str, tuple[int, int]]:
    """Fewest and most ratings of a recording of a system, by test."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for pages in study.sessions.values():
        for page in pages:
            item = key.items.get(page.name)
            if item is not None and item.role == files.RATING:
                counts.setdefault(item.test, Counter())[item.system, item.utterance] += 1
    return {test: (min(found.values()), max(found.values())) for test, found in counts.items()}


def _minutes(study: Study, key: Key) -> float:
    """Length of the first session in minutes, without the headphone check's second attempt."""
    pages = next(iter(study.sessions.values()))
    kept = [page for page in pages if not page.name.startswith(f"{files.HEADPHONES}-2")]
    heard = sum(key.clips[clip].seconds for page in kept for clip in set(page.clips))
    thought = sum(10.0 if page.kind == ITEM else 4.0 for page in kept)
    return (heard + thought) / 60.0


def require_power(
    tests: tuple[str, ...], listeners: int, ratings: int, systems: int, difference: float
) -> list[tuple[str, int]]:
    """Listeners that each test with ratings needs for a difference.

    Args:
        tests: of the study.
        listeners: that are planned.
        ratings: pages of each test and listener.
        systems: number, the original included; all pairs are compared.
        difference: in points of the test's scale.

    Raises:
        VoicenymError: fewer listeners than a test needs; the message says how many.
    """
    found = []
    for test in tests:
        question = kind(test).questions[0]
        if question.kind not in (SCALE, SLIDERS) or test == "same":
            continue
        width = (question.high - question.low) / STEPS_OF_FIVE
        each = ratings if test == "mushra" else max(1, ratings // systems)
        pairs = systems * (systems - 1) // 2
        needed = listeners_needed(
            difference, each, RATING * width, OPINION * width, comparisons=pairs
        )
        found.append((test, needed))
        if listeners < needed:
            raise VoicenymError(
                f"{test} with {each} ratings of each system by each of {listeners} listeners does "
                f"not find a difference of {difference:g}: ask {needed} listeners, give each more "
                "ratings, or look for a larger difference"
            )
    return found
