"""Items of each test: which clips a page has, in which order, and what is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.listening.design.material import LINE_UP, ORIGINAL, Material
from voicenym.listening.design.stimuli import ClipBank, ClipSource, token
from voicenym.listening.questions import SCALE, kind
from voicenym.listening.study import GOLD, RATING, TRAINING, TRAP, ItemKey

COPY = "copy"
"""Treatment that changes nothing: the same sound under another name."""
TOGETHER = "all"
"""Condition of a page that holds all systems."""
PAIRS = ("verifiability", "voiceprivacy", "same")
ANCHORS = (("anchor35", "low-pass-3500"), ("anchor70", "low-pass-7000"))


@dataclass(frozen=True)
class Item:
    """An item of the study.

    Args:
        name: its token.
        key: what it is.
        clips: tokens, in an order that listeners may get.
        fixed: how many of the first clips keep their places; the others are shuffled for each
            listener.
    """

    name: str
    key: ItemKey
    clips: tuple[str, ...]
    fixed: int


class ItemMaker:
    """Makes items; those of the same question are the same item for all listeners.

    Args:
        material: recordings.
        bank: of clips.
        rng: of choices among speakers and sentences.
    """

    def __init__(self, material: Material, bank: ClipBank, rng: np.random.Generator) -> None:
        self.material, self.bank, self.rng = material, bank, rng
        self.items: dict[str, Item] = {}
        self._made: dict[tuple[object, ...], Item] = {}

    def conditions(self, test: str) -> tuple[str, ...]:
        """What is counterbalanced in a test: systems, or all of them on one page."""
        if test == "mushra":
            return (TOGETHER,)
        return self.material.systems[1:] if test == "abx" else self.material.systems

    def variants(self, test: str) -> int:
        """Number of forms of an item: same and different speaker, or the orders of ABX."""
        return 2 if test in PAIRS else 4 if test == "abx" else 1

    def rating(self, test: str, system: str, one: Recording, variant: int) -> Item:
        """Item that is analysed."""
        variant %= self.variants(test)
        key = (RATING, test, system, one.name, variant)
        return self._once(key, lambda: self._make(test, RATING, system, one, variant))

    def training(self, test: str, number: int) -> Item:
        """Item for practice: conditions in turn, and a bad recording where ratings have a scale."""
        conditions = self.conditions(test)
        one = self._recording(-1 - number)
        bad = number == 1 and kind(test).questions[0].kind == SCALE and test not in PAIRS
        system = conditions[number % len(conditions)]
        made = self._make(test, TRAINING, system, one, number % self.variants(test), bad=bad)
        return self._keep(made)

    def gold(self, test: str, number: int) -> Item | None:
        """Item with an obvious answer; None where the test has none of its own.

        MUSHRA has the hidden reference and its anchors, and words are compared with what is said.
        """
        one = self._recording(number)
        bad = number % 2 == 1
        if test in ("naturalness", "acr", "dcr"):
            low, top = ("1-4", "6-10") if test == "naturalness" else ("1-2", "4-5")
            made = self._make(test, GOLD, ORIGINAL, one, 0, bad=bad)
            return self._expect(made, low if bad else top)
        if test == "intelligibility":
            return self._expect(self._make(test, GOLD, ORIGINAL, one, 0), "6-10")
        if test in PAIRS:
            twice = self._clip(ORIGINAL, one), self._clip(ORIGINAL, one, COPY)
            made = replace(self._make(test, GOLD, ORIGINAL, one, 0), clips=twice)
            asked = {"similarity": "7-10"}
            if test == "voiceprivacy":
                asked["intelligibility"] = "6-10"
            return self._expect(made, right={"same": "same"} if test == "same" else asked)
        if test == "abx":
            clips = [self._clip(ORIGINAL, one), self._clip(ORIGINAL, one, "mnru")]
            x = number % 2
            again = self._clip(ORIGINAL, one, "mnru-copy" if x else COPY)
            made = self._make(test, GOLD, self.material.systems[1], one, 0)
            made = replace(made, clips=(*clips, again))
            return self._expect(made, right={"match": "AB"[x]})
        if test == "linkage":
            made = self._make(test, GOLD, ORIGINAL, one, 0)
            target = made.key.expected["person"]
            again = self._clip(ORIGINAL, one, COPY)  # the very recording stands in the line-up
            line_up = tuple(again if clip == target else clip for clip in made.clips)
            return self._expect(replace(made, clips=line_up), right={"person": again})
        return None

    def trap(self, test: str, number: int) -> Item | None:
        """Item whose first clip beeps interrupt, which ask for an answer; None for MUSHRA."""
        if not kind(test).beeps:
            return None
        one = self._recording(number + 1)
        limit = 2 if test in ("abx", "same") else 5
        beeps = 1 + int(self.rng.integers(limit))
        system = self.material.systems[number % len(self.material.systems)]
        if test == "abx":
            system = self.material.systems[1 + number % (len(self.material.systems) - 1)]
        made = self._make(test, TRAP, system, one, 0)
        place = 1 if test == "dcr" else 2 if test == "abx" else 0
        clips = list(made.clips)
        clips[place] = self._clip(system, one, f"beeps-{beeps}")
        right = {q.name: f"{beeps}-{beeps}" for q in kind(test).questions if q.kind == SCALE}
        if test == "abx":
            right = {"match": "AB"[beeps - 1]}
        elif test == "same":
            right = {"same": ("same", "different")[beeps - 1]}
        elif test == "words":
            right = {"words": str(beeps)}
        elif test == "linkage":
            right = {"person": clips[beeps]}
        made = replace(made, clips=tuple(clips), fixed=len(clips))
        return self._expect(made, right=right)

    def _make(
        self, test: str, role: str, system: str, one: Recording, variant: int, *, bad: bool = False
    ) -> Item:
        """An item of any test."""
        treatment = "mnru" if bad else COPY if test == "dcr" and system == ORIGINAL else ""
        rated = self._clip(system, one, treatment) if system != TOGETHER else ""
        bare = self._clip(ORIGINAL, one) if test in ("dcr", "abx", "mushra") else ""
        key = ItemKey(test, role, system, one.name, one.speaker, text=one.text)
        clips: tuple[str, ...] = (rated,)
        fixed = 1
        if test == "dcr":
            clips, fixed = (bare, rated), 2
        elif test in PAIRS:
            same = variant == 0
            pool = self.material.others(one) if same else self.material.strangers(one)
            other = pool[int(self.rng.integers(len(pool)))]
            clips, fixed = (rated, self._clip(ORIGINAL, other)), 2
            key = replace(
                key, kind="same" if same else "different", other="" if same else other.speaker
            )
        elif test == "abx":
            pair, systems = (bare, rated), (ORIGINAL, system)
            if variant % 2:
                pair, systems = pair[::-1], systems[::-1]
            x = variant // 2
            clips, fixed = (*pair, self._clip(systems[x], one, COPY)), 3
            key = replace(key, expected={"match": "AB"[x]})
        elif test == "mushra":
            hidden = [self._clip(name, one, COPY) for name in self.material.systems]
            anchors = [self._clip(ORIGINAL, one, treatment) for _, treatment in ANCHORS]
            clips = (bare, *hidden, *anchors)
        elif test == "linkage":
            target, foils = self._line_up(one)
            clips = (rated, *(self._clip(ORIGINAL, who) for who in (target, *foils)))
            key = replace(key, expected={"person": clips[1]})
        return Item(token(), key, clips, fixed)

    def _line_up(self, one: Recording) -> tuple[Recording, list[Recording]]:
        """Another recording of the speaker, and one of each of four other people.

        People of the same sex come first, as far as there are any.
        """
        own = self.material.others(one)
        target = own[int(self.rng.integers(len(own)))]
        everyone = [u for u in self.material.utterances if u.speaker != one.speaker]
        order = [everyone[i] for i in self.rng.permutation(len(everyone))]
        order.sort(key=lambda u: bool(one.sex and u.sex and u.sex != one.sex))
        people: dict[str, Recording] = {}
        for candidate in order:
            people.setdefault(candidate.speaker, candidate)
        return target, list(people.values())[: LINE_UP - 1]

    def _clip(self, system: str, one: Recording, treatment: str = "") -> str:
        return self.bank.name(ClipSource(system, one.name, treatment))

    def _recording(self, number: int) -> Recording:
        return self.material.utterances[number % len(self.material.utterances)]

    def _expect(self, item: Item, rating: str = "", right: dict[str, str] | None = None) -> Item:
        """The item with its right answers."""
        if right is None:
            right = {question.name: rating for question in kind(item.key.test).questions}
        return self._keep(replace(item, key=replace(item.key, expected=right)))

    def _once(self, key: tuple[object, ...], make: Callable[[], Item]) -> Item:
        if key not in self._made:
            self._made[key] = self._keep(make())
        return self._made[key]

    def _keep(self, item: Item) -> Item:
        self.items[item.name] = item
        return item
