"""Lists of words that stand for removed ones, and draws from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from voicenym.pseudonym import Pseudonym
from voicenym.redaction.finding.spoken_numbers import NUMBERS as NUMBER_WORDS
from voicenym.redaction.finding.spoken_numbers import PLURALS

WORD = re.compile(r"[^\W_]+(?:['’.\-/:][^\W_]+)*", re.UNICODE)
JOINING = frozenset({"and", "of", "the", "in", "on"})
"""Words within dates and addresses that tell nothing."""


@cache
def lists() -> Mapping[str, list[str]]:
    """Words by class."""
    text = files("voicenym.redaction").joinpath("replacement_words.txt").read_text("utf-8")
    rows = [line.partition(":") for line in text.splitlines() if not line.startswith("#")]
    return {name.strip(): words.split() for name, _, words in rows}


@cache
def lower(name: str) -> frozenset[str]:
    """Words of a class, case folded."""
    return frozenset(word.casefold() for word in lists()[name])


def drawn_from(pseudonym: Pseudonym, purpose: str, choices: Sequence[str]) -> str:
    """One of some words, the same for the same pseudonym and purpose."""
    return choices[pseudonym.index(purpose, len(choices))]


def is_number(word: str) -> bool:
    """Whether a word is a number, or several that are joined."""
    parts = word.casefold().split("-")
    return any(c.isdigit() for c in word) or all(
        part in NUMBER_WORDS or part in PLURALS for part in parts
    )
