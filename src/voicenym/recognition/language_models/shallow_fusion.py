"""Shallow fusion: a language model in the beam search of a character recogniser."""

from __future__ import annotations

from dataclasses import dataclass

from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.recognition.language_models.ngram import END, SPACE, START, Gram, NGram


@dataclass(frozen=True)
class CharacterFusion:
    """Adds ``weight log p(character) + bonus`` for each character.

    Args:
        model: of characters.
        alphabet: of the recogniser.
        weight: of the language model.
        bonus: added for each character, against the bias to short texts.
    """

    model: NGram
    alphabet: Alphabet
    weight: float
    bonus: float = 0.0

    def start(self) -> Gram:
        return self.model.context((START,))

    def step(self, state: Gram, token: int) -> tuple[float, Gram]:
        character = self.alphabet.decode([token])
        unit = SPACE if character == " " else character
        added = self.weight * self.model.log_prob(unit, state) + self.bonus
        return added, self.model.context((*state, unit))

    def finish(self, state: Gram) -> float:
        return self.weight * self.model.log_prob(END, state)


@dataclass(frozen=True)
class WordFusion:
    """Adds ``weight log p(word) + bonus`` at the end of each word.

    Args:
        model: of words.
        alphabet: of the recogniser; it has a blank between words.
        weight: of the language model.
        bonus: added for each word.
    """

    model: NGram
    alphabet: Alphabet
    weight: float
    bonus: float = 0.0

    def start(self) -> tuple[Gram, str]:
        return self.model.context((START,)), ""

    def step(self, state: tuple[Gram, str], token: int) -> tuple[float, tuple[Gram, str]]:
        left, prefix = state
        character = self.alphabet.decode([token])
        if character != " ":
            return 0.0, (left, prefix + character)
        if not prefix:  # a second blank ends nothing
            return 0.0, state
        return self._word(left, prefix), (self.model.context((*left, prefix)), "")

    def finish(self, state: tuple[Gram, str]) -> float:
        left, prefix = state
        added = 0.0
        if prefix:
            added, left = self._word(left, prefix), self.model.context((*left, prefix))
        return added + self.weight * self.model.log_prob(END, left)

    def _word(self, left: Gram, word: str) -> float:
        return self.weight * self.model.log_prob(word, left) + self.bonus
