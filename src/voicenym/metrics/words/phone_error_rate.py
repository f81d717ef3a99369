"""Phone error rate: errors of a recogniser of phones, which has no words and no language model.

The reference is the pronunciation of the text. A word with several pronunciations counts with the
one that fits best, so that a regional variant of the dictionary is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from voicenym.errors import UnmeasurableError
from voicenym.metrics.intervals.bootstrap_draws import Drawn, share
from voicenym.metrics.intervals.interval import FEW_PEOPLE
from voicenym.metrics.metric import BOOTSTRAP_OF_ERRORS, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import RecognisedPhones, Tally
from voicenym.metrics.words.word_error_rate import KINDS, ErrorRate, error_interval

ERROR = 1 << 42
SPOKEN = -(1 << 21)
"""Costs of an error and of a phone of the reference, so far apart that the sum of a path's costs
orders paths by their errors, then by the length of the reference, and tells all counts."""
SUBSTITUTED, DELETED, INSERTED = ERROR + 1, ERROR + SPOKEN, ERROR


def phone_counts(words: Sequence[Sequence[str]], found: Sequence[str]) -> tuple[int, int, int, int]:
    """Substitutions, deletions, insertions, and the phones of the pronunciations that fit best.

    The alignment has the fewest errors; of equals, the one with the longest reference.

    Args:
        words: of each word its pronunciations, phones with blanks between.
        found: recognised phones.

    Raises:
        UnmeasurableError: a word without a pronunciation.

    Example:
        >>> phone_counts([["DH AH", "DH IY"], ["K AE T"]], ["DH", "IY", "K", "AH", "T", "S"])
        (1, 0, 1, 5)
    """
    known = {phone: i for i, phone in enumerate(sorted(set(found)))}
    numbers = np.array([known[phone] for phone in found], dtype=np.int64)
    added = INSERTED * np.arange(len(found) + 1)
    row = added.copy()  # the cost of each number of recognised phones
    for ways in words:
        if not ways:
            raise UnmeasurableError("a word has no pronunciation; leave its recording out")
        ends = []
        for way in ways:
            now = row
            for phone in way.split():
                after = now + DELETED
                wrong = numbers != known.get(phone, -1)
                np.minimum(after[1:], now[:-1] + SPOKEN + SUBSTITUTED * wrong, out=after[1:])
                now = np.minimum.accumulate(after - added) + added
            ends.append(now)
        row = np.minimum.reduce(ends)
    cost = int(row[-1])
    errors = (cost + ERROR // 2) // ERROR
    rest = cost - errors * ERROR
    length = -(rest // -SPOKEN) if rest else 0
    substitutions = rest - length * SPOKEN
    # deletions and insertions: their sum, and their difference by the two lengths
    others, more = errors - substitutions, length - len(found)
    return substitutions, (others + more) // 2, (others - more) // 2, length


def _counted(phones: RecognisedPhones) -> np.ndarray:
    """Counts of every recording ``[recording, 4]``."""
    pairs = zip(phones.references, phones.hypotheses, strict=True)
    return np.array([phone_counts(words, found) for words, found in pairs], dtype=np.int64)


def _rate(phones: RecognisedPhones) -> ErrorRate:
    counts = phones.once(_counted)
    if not counts.size or not counts[:, 3].sum():
        raise UnmeasurableError("the references hold no phones; there is nothing to compare with")
    substitutions, deletions, insertions, length = (int(n) for n in counts.sum(0))
    interval, by_kind = None, None
    if len(set(phones.speakers)) >= FEW_PEOPLE:
        overall, *kinds = (
            error_interval(errors, counts[:, 3], phones.speakers, **phones.bootstrap)
            for errors in (counts[:, :3].sum(1), *counts[:, :3].T)
        )
        interval, by_kind = overall, (kinds[0], kinds[1], kinds[2])
    value = (substitutions + deletions + insertions) / length
    return ErrorRate(value, interval, substitutions, deletions, insertions, length, by_kind=by_kind)


def tally(phones: RecognisedPhones) -> Tally:
    """Phone errors and reference phones of each recording."""
    counts = phones.once(_counted).astype(np.float64)
    return Tally(counts[:, :3].sum(1), counts[:, 3], tuple(phones.names), tuple(phones.speakers))


def _redrawn(counts: Tally) -> Drawn:
    return share(counts.above, counts.below, counts.speakers)


def _of_kind(number: int) -> Callable[[RecognisedPhones], Estimate]:
    def measure(phones: RecognisedPhones) -> Estimate:
        found = phones.once(_rate)
        errors = getattr(found, KINDS[number]) / found.length
        return Estimate(errors, found.by_kind and found.by_kind[number])

    return measure


PHONES: Metric[RecognisedPhones] = Metric(
    name="PER",
    unit="%",
    better="lower",
    chance=None,
    interval=BOOTSTRAP_OF_ERRORS,
    definition="Errors of a recogniser of phones without words and language model, as a share of "
    "the phones of the reference",
    data=RecognisedPhones,
    measure=lambda phones: phones.once(_rate),
    display=Display(
        table="errors", digits=1, heading="PER, %", subject="phones", card=True, summary=True
    ),
    scale=100.0,
    originals=True,
    subgroups=True,
    redraw=_redrawn,
)
SUBSTITUTED_PHONES, DELETED_PHONES, INSERTED_PHONES = (
    replace(
        PHONES,
        name=f"PER {kind}",
        definition=f"Share of {kind} in PER",
        measure=_of_kind(number),
        display=Display(table="errors", digits=1, subject="phones"),
        subgroups=False,
        redraw=None,
    )
    for number, kind in enumerate(KINDS)
)
