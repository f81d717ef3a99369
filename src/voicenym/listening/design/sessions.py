"""Sessions of listeners: who hears which recording of which system, and when.

Listener ``l`` hears the systems in the order of row ``l`` of a Williams design, once in each block
of as many pages; recordings rotate against systems (a Latin square), so that as many listeners as
there are systems hear each recording once from each system, and nobody hears a sentence twice while
there are sentences left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.listening.design import headphone_checks
from voicenym.listening.design.items import Item, ItemMaker
from voicenym.listening.design.latin_squares import williams
from voicenym.listening.design.stimuli import ClipSource
from voicenym.listening.study import COMPARE, CONSENT, HEADPHONES, INTRO, ITEM, Page

ATTEMPTS = 2
"""Of the headphone check."""
COMPARISONS = 4
"""Pairs of a recording with little and with less noise; P.808's check of surroundings."""
NOISES = (30, 50)
"""Their signal-to-noise ratios in dB."""
SPREAD = 10
"""Pages for each of which there is one gold and one trapping item."""


@dataclass(frozen=True)
class Plan:
    """Size of sessions.

    Args:
        tests: names, in the order of the first listener.
        listeners: number.
        ratings: rated pages of each test and listener at least; whole blocks are asked for.
        training: pages for practice before each test.
        checks: whether there are gold and trapping items, and comparisons of noise.
        headphones: method of the check, or empty.
    """

    tests: tuple[str, ...]
    listeners: int
    ratings: int
    training: int = 3
    checks: bool = True
    headphones: str = headphone_checks.HUGGINS


def sessions(plan: Plan, maker: ItemMaker, rng: np.random.Generator) -> dict[str, tuple[Page, ...]]:
    """Pages of all listeners, by name.

    Args:
        plan: sizes.
        maker: of items.
        rng: of orders.

    Raises:
        VoicenymError: no listeners, no pages, or no test.
    """
    if plan.listeners < 1 or plan.ratings < 1 or not plan.tests:
        raise VoicenymError("a study needs a test, a listener and a rating of each at least")
    if len(set(plan.tests)) < len(plan.tests):
        raise VoicenymError("a test is named twice; name each once")
    orders = {test: rng.permutation(len(maker.material.utterances)) for test in plan.tests}
    practice = {
        test: [maker.training(test, i) for i in range(plan.training)] for test in plan.tests
    }
    rows = williams(len(plan.tests))
    digits = max(3, len(str(plan.listeners)))
    found = {}
    for listener in range(plan.listeners):
        pages = [Page(CONSENT, CONSENT), *_checks(plan, maker, rng)]
        for test in (plan.tests[place] for place in rows[listener % len(rows)]):
            pages.append(Page(f"{INTRO}-{test}", INTRO, test))
            pages += [_page(item, listener, i, rng, True) for i, item in enumerate(practice[test])]
            items = rated(maker, test, orders[test], listener, plan.ratings)
            if plan.checks:
                items = _with_checks(maker, test, items, listener, rng)
            pages += [_page(item, listener, i, rng) for i, item in enumerate(items)]
        found[f"L{listener + 1:0{digits}d}"] = tuple(pages)
    return found


def rated(
    maker: ItemMaker, test: str, order: Sequence[int] | np.ndarray, listener: int, ratings: int
) -> list[Item]:
    """Rated items of a listener in a test, in their order.

    Args:
        order: of the utterances, the same for all listeners.
        listener: number from 0.
        ratings: at least; whole blocks are asked for.
    """
    conditions, utterances = maker.conditions(test), maker.material.utterances
    size, many = len(conditions), len(utterances)
    rows = williams(size)
    blocks = -(-ratings // size)
    window = (listener // size) * blocks * size
    taken: set[tuple[str, str]] = set()
    heard: set[str] = set()
    found = []
    for block in range(blocks):
        for place in rows[listener % len(rows)]:
            start = window + block * size + (place + listener) % size
            one = None
            for near in (utterances[order[(start + step) % many]] for step in range(many)):
                if (near.name, conditions[place]) in taken:
                    continue
                one = one or near
                if near.name not in heard:
                    one = near
                    break
            if one is None:
                continue  # the listener has heard all there is of this system
            taken.add((one.name, conditions[place]))
            heard.add(one.name)
            variant = block + place + listener // size
            found.append(maker.rating(test, conditions[place], one, variant))
    return found


def _with_checks(
    maker: ItemMaker, test: str, items: list[Item], listener: int, rng: np.random.Generator
) -> list[Item]:
    """Items with gold and trapping ones among them, none at the beginning."""
    found = list(items)
    for number in range(max(1, round(len(items) / SPREAD))):
        for make in (maker.gold, maker.trap):
            made = make(test, listener + 3 * number)
            if made is not None:
                found.insert(int(rng.integers(1, len(found) + 1)), made)
    return found


def _page(
    item: Item, listener: int, number: int, rng: np.random.Generator, training: bool = False
) -> Page:
    """Page of an item; clips that have no fixed place are shuffled, a line-up's target rotated."""
    first, rest = item.clips[: item.fixed], list(item.clips[item.fixed :])
    if item.key.test == "linkage" and rest:
        target, *foils = rest
        rest = [foils[i] for i in rng.permutation(len(foils))]
        rest.insert((listener + number) % (len(foils) + 1), target)
    elif rest:
        rest = [rest[i] for i in rng.permutation(len(rest))]
    return Page(item.name, ITEM, item.key.test, (*first, *rest), training)


def _checks(plan: Plan, maker: ItemMaker, rng: np.random.Generator) -> list[Page]:
    """Pages of the headphone check, twice in case of failure, and of the comparisons of noise."""
    pages = []
    if plan.headphones:
        trials = headphone_checks.TRIALS
        drawn = maker.bank.checks(plan.headphones, ATTEMPTS * trials, rng)
        for place, (clip, answer) in enumerate(drawn):
            name = f"{HEADPHONES}-{1 + place // trials}-{1 + place % trials}"
            pages.append(Page(name, HEADPHONES, plan.headphones, (clip,), expected=answer))
    utterances = maker.material.utterances
    for number in range(COMPARISONS if plan.checks else 0):
        one = utterances[int(rng.integers(len(utterances)))]
        clean = int(rng.integers(2))
        noises = [f"noise-{NOISES[place == clean]}" for place in range(2)]
        clips = [maker.bank.name(ClipSource("original", one.name, noise)) for noise in noises]
        pages.append(Page(f"{COMPARE}-{number + 1}", COMPARE, "", tuple(clips), False, "AB"[clean]))
    return pages
