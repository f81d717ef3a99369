"""A closed vocabulary: pronunciations, a bigram and a grammar of given sentences.

A closed vocabulary makes a small recogniser accurate enough to measure the cost of anonymization.
Such figures compare systems on the same sentences; they do not predict the error rate of people or
large recognisers on other sentences.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from voicenym.errors import VoicenymError

DISCOUNT = 0.5
"""Absolute discount of bigram counts; Ney, Essen & Kneser (1994)."""
NEVER = -99.0
"""Logarithm that stands for a probability of zero in ARPA files."""

Lexicon = dict[str, list[str]]
"""Lower-case words and, for each, its pronunciations as phones with spaces between."""


def read_lexicon(text: str) -> Lexicon:
    r"""Pronunciations of a dictionary in CMU format, ``word PHONES`` and ``word(2) PHONES``.

    >>> read_lexicon("either IY DH ER\neither(2) AY DH ER\n")
    {'either': ['IY DH ER', 'AY DH ER']}
    """
    found: Lexicon = {}
    for line in text.splitlines():
        word, _, phones = line.strip().partition(" ")
        if phones:
            found.setdefault(re.sub(r"\(\d+\)$", "", word), []).append(phones.strip())
    return found


def lexicon_of(path: Path | str) -> Lexicon:
    """:func:`read_lexicon` of a file.

    Raises:
        VoicenymError: the file cannot be read, or is no dictionary.
    """
    try:
        found = read_lexicon(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise VoicenymError(
            f"{path}: cannot be read ({why}); give a dictionary in CMU's form"
        ) from None
    if not found:
        raise VoicenymError(f"{path}: has no words; a line of it is: word P H O N E S")
    return found


def write_lexicon(words: Iterable[str], lexicon: Mapping[str, Sequence[str]]) -> str:
    """The entries of ``words`` of a dictionary, in CMU format."""
    lines = []
    for word in sorted(set(words)):
        for number, phones in enumerate(lexicon[word], 1):
            lines.append(f"{word} {phones}" if number == 1 else f"{word}({number}) {phones}")
    return "\n".join(lines) + "\n"


def pronounceable(
    sentences: Iterable[str], lexicon: Mapping[str, object]
) -> tuple[list[str], dict[str, list[str]]]:
    """Sentences whose words the lexicon has, and the others with their missing words.

    Args:
        sentences: words with spaces between; case does not matter. Remove punctuation
            first; a word with punctuation counts as missing.

    Returns:
        Sentences in lower case, in order, with one space between words; and missing words by the
        sentence as given.

    >>> pronounceable(["A cat", "A glorp"], {"a": ["AH"], "cat": ["K AE T"]})
    (['a cat'], {'A glorp': ['glorp']})
    """
    kept: list[str] = []
    left_out: dict[str, list[str]] = {}
    for sentence in sentences:
        words = sentence.lower().split()
        missing = sorted({word for word in words if word not in lexicon})
        if missing:
            left_out[sentence] = missing
        elif words:
            kept.append(" ".join(words))
    return kept, left_out


def bigram(sentences: Sequence[str]) -> str:
    """A bigram with absolute discounting, backing off to the unigram, as an ARPA file.

    With counts ``c``, discount ``D`` and ``n(a)`` words seen after ``a``: a bigram that was seen
    has ``p(b|a) = (c(ab) - D) / c(a)``; one that was not ``p(b|a) = w(a) p(b)``, where ``w(a)``
    spreads the mass ``D n(a) / c(a)`` over the words not seen after ``a``.

    Args:
        sentences: words with spaces between.

    Raises:
        VoicenymError: no words.
    """
    unigrams: Counter[str] = Counter()
    followers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        words = ["<s>", *sentence.split(), "</s>"]
        unigrams.update(words)
        for first, second in pairwise(words):
            followers[first][second] += 1
    starts = unigrams["<s>"]
    if sum(unigrams.values()) == 2 * starts:
        raise VoicenymError("a language model needs sentences, and there are no words in these")
    total = sum(unigrams.values()) - starts
    chance = {word: count / total for word, count in unigrams.items() if word != "<s>"}
    ones, twos = [], []
    for word in sorted(unigrams):
        seen = followers[word]  # nothing follows </s>
        history = sum(seen.values())
        back_off = 0.0
        if history:
            mass = DISCOUNT * len(seen) / history
            unseen = 1.0 - sum(chance[second] for second in seen)
            # Where every word was seen after this one, nothing is left to back off to.
            back_off = math.log10(mass / unseen) if unseen > 1e-9 else NEVER
        log = NEVER if word == "<s>" else math.log10(chance[word])
        ones.append(f"{log:.5f} {word} {back_off:.5f}")
        for second, count in sorted(seen.items()):
            twos.append(f"{math.log10((count - DISCOUNT) / history):.5f} {word} {second}")
    counts = [f"ngram 1={len(ones)}", f"ngram 2={len(twos)}"]
    return "\n".join(
        ["\\data\\", *counts, "", "\\1-grams:", *ones, "", "\\2-grams:", *twos, "", "\\end\\", ""]
    )


def grammar(phrases: Iterable[str]) -> str:
    """A JSGF grammar of exactly one of the phrases.

    Raises:
        VoicenymError: no phrases, or one with special characters of JSGF.
    """
    distinct = sorted(set(phrases))
    if not distinct:
        raise VoicenymError("a choice among phrases needs phrases, and there are none")
    for phrase in distinct:
        if re.search(r"[^\w' .-]", phrase):
            raise VoicenymError(f"{phrase!r}: a phrase may hold letters, digits, ' . and - only")
    return "#JSGF V1.0;\ngrammar choice;\npublic <phrase> = " + " | ".join(distinct) + ";\n"
