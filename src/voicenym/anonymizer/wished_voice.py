"""Choice among the voices that a key draws: the first that fits a wish, or a later one.

A pseudonym has variants 0, 1, 2 ..., each as random as the first and known to whoever holds the
key. A wish chooses among them by the voice alone, never by the speaker or the recording.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from voicenym.errors import UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer.anonymizer import Anonymizer
    from voicenym.pseudonym import Pseudonym

ANY = "any"
REGISTERS = {
    "female": (165.0, 400.0),
    "male": (50.0, 155.0),
    "low": (50.0, 120.0),
    "high": (200.0, 400.0),
}
"""Median F0 in Hz, from and to, of voices that fit a wish. Where a system moves formants, they
follow F0 as from one sex to the other. Low and high are about the lowest and highest quarters of
adults' voices.
"""
VOICE_KINDS = (ANY, *REGISTERS)
MOST_VARIANTS = 2000
"""Variants that are tried; a wish that one voice of a hundred fits is found in all but 2 of 10^9
pseudonyms.
"""


def check_wish(system: Anonymizer) -> None:
    """Checks the wish of a system.

    Raises:
        UnknownSystemError: no such kind of voice or variant, or the system cannot choose.
    """
    name = system.card.name
    if system.voice_kind not in VOICE_KINDS:
        raise UnknownSystemError(
            f"{name}: a voice is {', '.join(VOICE_KINDS)}, not {system.voice_kind!r}"
        )
    if system.voice_variant < 0:
        raise UnknownSystemError(
            f"{name}: the number of a voice is 0 or more, not {system.voice_variant}"
        )
    from voicenym.anonymizer.anonymizer import Anonymizer

    if system.voice_kind != ANY and type(system).median_f0 is Anonymizer.median_f0:
        raise _impossible(system)


def wished(system: Anonymizer, pseudonym: Pseudonym) -> Pseudonym:
    """The variant of a pseudonym whose voice is wished for.

    Raises:
        UnknownSystemError: the voice depends on the speaker's own, or no variant fits.
    """
    if system.voice_kind == ANY:
        return pseudonym.variant(system.voice_variant)
    return _fitting(system, pseudonym, system.version)


@functools.lru_cache(maxsize=4096)
def _fitting(system: Anonymizer, pseudonym: Pseudonym, version: str) -> Pseudonym:
    left = system.voice_variant
    for number in range(MOST_VARIANTS):
        candidate = pseudonym.variant(number)
        if system.fits_wish(candidate):
            if not left:
                return candidate
            left -= 1
    raise UnknownSystemError(
        f"{system.card.name}: of {MOST_VARIANTS} voices not {system.voice_variant + 1} "
        f"{'is' if not system.voice_variant else 'are'} {system.voice_kind}; wish for another "
        "voice, or change the system's settings"
    )


def has_register(system: Anonymizer, pseudonym: Pseudonym) -> bool:
    """Whether the median F0 of a voice fits the wish of a system.

    Raises:
        UnknownSystemError: the voice depends on the speaker's own.
    """
    f0 = system.median_f0(pseudonym)
    if f0 is None:
        raise _impossible(system)
    low, high = REGISTERS[system.voice_kind]
    return low <= f0 < high


def _impossible(system: Anonymizer) -> UnknownSystemError:
    return UnknownSystemError(
        f"{system.card.name}: its voices depend on the speaker's own, so that none can be wished "
        "for; --voice-like N draws another one, and recast, word-codes and asr-tts take wishes"
    )
