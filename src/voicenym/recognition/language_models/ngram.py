"""N-gram language models of words or characters.

Two smoothing methods, both interpolated (Chen and Goodman, "An empirical study of smoothing
techniques for language modeling", 1999): Kneser and Ney (1995), where a word's lower-order
probability counts the contexts that it occurs in, with one discount for each order, ``n1 / (n1 + 2
n2)`` (Ney, Essen and Kneser 1994); and Witten and Bell (1991), which has no parameter and does
better where counts of counts are odd, as they are for characters.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from voicenym.errors import VoicenymError

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
SPACE = "<space>"
"""The blank as a character unit, since blanks separate units in ARPA files."""
LEAST_DISCOUNT, MOST_DISCOUNT = 0.1, 0.9
"""Limits of the Kneser-Ney discount, which the counts of counts of little text exceed."""

Gram = tuple[str, ...]


@dataclass(frozen=True)
class NGram:
    """An n-gram model: natural logarithms of probabilities, with back-off.

    Args:
        order: largest number of units in an n-gram.
        log_probs: of the last unit of each listed n-gram, given those before it.
        back_offs: of contexts; added for a unit that is not listed after the context.

    Probabilities after any context sum to one over :attr:`units`.
    """

    order: int
    log_probs: dict[Gram, float]
    back_offs: dict[Gram, float]

    @cached_property
    def units(self) -> frozenset[str]:
        """Possible next units: words or characters, the end, and the unknown unit."""
        return frozenset(gram[0] for gram in self.log_probs if len(gram) == 1 and gram[0] != START)

    def log_prob(self, unit: str, context: Sequence[str] = ()) -> float:
        """Natural logarithm of the probability of a unit after others; ``-inf`` for none.

        Args:
            unit: :data:`UNKNOWN` stands for one that is not listed.
            context: units before it, as of :meth:`context`, or with :data:`START` first.
        """
        if (unit,) not in self.log_probs:
            unit = UNKNOWN
        left = self.context(context)
        total = 0.0
        while True:
            found = self.log_probs.get((*left, unit))
            if found is not None:
                return total + found
            if not left:
                return -math.inf
            total += self.back_offs.get(left, 0.0)
            left = left[1:]

    def context(self, units: Sequence[str]) -> Gram:
        """The part of the preceding units that the model uses: the state of a search."""
        last = units[max(0, len(units) - self.order + 1) :]
        left = tuple(unit if (unit,) in self.log_probs else UNKNOWN for unit in last)
        while left and left not in self.back_offs:
            left = left[1:]
        return left

    def sentence(self, units: Sequence[str]) -> float:
        """Natural logarithm of the probability of a text, including its end."""
        total, left = 0.0, self.context((START,))
        for unit in (*units, END):
            total += self.log_prob(unit, left)
            left = self.context((*left, unit))
        return total

    def perplexity(self, texts: Iterable[Sequence[str]]) -> float:
        """Perplexity of texts; ends count as units."""
        texts = list(texts)
        return math.exp(-sum(map(self.sentence, texts)) / sum(len(text) + 1 for text in texts))


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def characters(text: str) -> list[str]:
    """The characters of a text.

    >>> characters("a cat")
    ['a', '<space>', 'c', 'a', 't']
    """
    return [SPACE if character == " " else character for character in text]


def train(texts: Iterable[Sequence[str]], order: int = 2, smoothing: str = "kneser-ney") -> NGram:
    """Train an n-gram model on texts.

    Args:
        texts: each as units, from :func:`words` or :func:`characters`.
        order: 2 for a bigram.
        smoothing: ``kneser-ney`` or ``witten-bell``.

    Raises:
        VoicenymError: texts without units, or no such order or smoothing.

    Example:
        >>> model = train([["a", "cat"], ["a", "dog"]], smoothing="witten-bell")
        >>> round(math.exp(model.log_prob("cat", ["a"])), 3)
        0.34
    """
    if smoothing not in ("kneser-ney", "witten-bell"):
        raise VoicenymError(f"smoothing is kneser-ney or witten-bell, not {smoothing!r}")
    if order < 1:
        raise VoicenymError(f"an n-gram's order is 1 or more, not {order}")
    counts = _counts([(START, *text, END) for text in texts if len(text)], order)
    if not counts[0]:
        raise VoicenymError("a language model needs text, and there is none in these")
    if smoothing == "kneser-ney":
        counts = _continuations(counts)
    units = {gram[0] for gram in counts[0]} | {UNKNOWN}
    probabilities: dict[Gram, float] = {(unit,): 1.0 / len(units) for unit in units}
    back_offs: dict[Gram, float] = {}
    for level in counts:
        discount = _discount(level) if smoothing == "kneser-ney" else None
        found: dict[Gram, float] = {}
        for left, followers in _by_context(level).items():
            kept, spread = _shares(followers, discount)
            if left:
                back_offs[left] = math.log(spread)
            every = {**dict.fromkeys(units, 0.0), **kept} if not left else kept
            for unit, share in every.items():
                gram = (*left, unit)
                # the lower order's, of the same unit with less before it
                found[gram] = share + spread * probabilities[gram[1:] or gram]
        probabilities |= found
    logs = {gram: math.log(value) for gram, value in probabilities.items()}
    return NGram(order, {**logs, (START,): -math.inf}, back_offs)


def _counts(sentences: Sequence[Gram], order: int) -> list[Counter[Gram]]:
    """Counts of n-grams by order from 1; a start symbol alone is not counted."""
    found: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        for size, counter in enumerate(found, 1):
            counter.update(gram for gram in _grams(sentence, size) if gram != (START,))
    return found


def _grams(sentence: Gram, size: int) -> Iterator[Gram]:
    return (sentence[at : at + size] for at in range(len(sentence) - size + 1))


def _continuations(counts: Sequence[Counter[Gram]]) -> list[Counter[Gram]]:
    """Continuation counts below the highest order; plain counts after a start symbol."""
    changed = []
    for lower, higher in pairwise(counts):
        types = Counter(gram[1:] for gram in higher)
        changed.append(
            Counter({g: count if g[0] == START else types[g] for g, count in lower.items()})
        )
    return [*changed, counts[-1]]


def _discount(level: Counter[Gram]) -> float:
    times = Counter(level.values())
    once, twice = times[1], times[2]
    estimate = once / (once + 2 * twice) if once else LEAST_DISCOUNT
    return min(max(estimate, LEAST_DISCOUNT), MOST_DISCOUNT)


def _by_context(level: Counter[Gram]) -> dict[Gram, dict[str, int]]:
    found: defaultdict[Gram, dict[str, int]] = defaultdict(dict)
    for gram, count in level.items():
        found[gram[:-1]][gram[-1]] = count
    return dict(found)


def _shares(followers: dict[str, int], discount: float | None) -> tuple[dict[str, float], float]:
    """Discounted shares of the followers, and the mass for the lower order."""
    total = sum(followers.values())
    if discount is None:  # Witten and Bell
        total += len(followers)
        return {unit: count / total for unit, count in followers.items()}, len(followers) / total
    kept = {unit: (count - discount) / total for unit, count in followers.items()}
    return kept, discount * len(followers) / total
