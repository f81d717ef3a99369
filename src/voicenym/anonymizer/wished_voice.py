"""Choice among the voices that a key draws: the first that fits a wish, or a later one.

A pseudonym has variants 0, 1, 2 ..., each as random as the first and known to whoever holds the
key. A wish chooses among them by the voice alone, never by the speaker or the recording.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from voicenym.anonymizer.card import Card
from voicenym.errors import UnknownSystemError

if TYPE_CHECKING:
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


@dataclass(frozen=True)
class VoiceChoice:
    """Part of :class:`voicenym.anonymizer.Anonymizer`: the wish for a voice.

    Args:
        voice_kind: ``female``, ``male``, ``low`` or ``high``; ``any`` for no wish.
        voice_variant: number of the voice among those of a pseudonym that fit: 0 for the first.
    """

    voice_kind: str = field(default=ANY, kw_only=True)
    voice_variant: int = field(default=0, kw_only=True)

    card: ClassVar[Card]

    @property
    def version(self) -> str:
        """Version of the weights, which may change under the same parameters; empty without any."""
        return ""

    def median_f0(self, pseudonym: Pseudonym) -> float | None:
        """Median F0 in Hz of the voice that a pseudonym gives every speaker; None where the voice
        depends on the speaker's own.
        """
        return None

    @property
    def takes_wishes(self) -> bool:
        """Whether :attr:`voice_kind` can choose: whether the F0 of a voice is known."""
        return type(self).median_f0 is not VoiceChoice.median_f0

    @property
    def unset_wishes(self) -> tuple[str, ...]:
        """Names of those of the two parameters that are as without a wish."""
        kind = ("voice_kind",) if self.voice_kind == ANY else ()
        return kind if self.voice_variant else (*kind, "voice_variant")

    def fits_wish(self, pseudonym: Pseudonym) -> bool:
        """Whether the voice of a pseudonym is as :attr:`voice_kind` wishes, which is not ``any``.

        Raises:
            UnknownSystemError: the voice depends on the speaker's own.
        """
        f0 = self.median_f0(pseudonym)
        if f0 is None:
            raise _impossible(self)
        low, high = REGISTERS[self.voice_kind]
        return low <= f0 < high

    def drawn(self, pseudonym: Pseudonym) -> Pseudonym:
        """The variant of a pseudonym whose voice is as wished; itself without a wish.

        Raises:
            UnknownSystemError: the voice depends on the speaker's own, or no variant fits.
        """
        if self.voice_kind == ANY:
            return pseudonym.variant(self.voice_variant)
        return _fitting(self, pseudonym, self.version)


def check_wish(system: VoiceChoice) -> None:
    """Checks the wish of a system.

    Raises:
        UnknownSystemError: no such kind of voice or variant, or the system cannot choose.
    """
    name = system.card.name
    if system.voice_kind not in VOICE_KINDS:
        raise UnknownSystemError(
            f"{name}: a voice is {', '.join(VOICE_KINDS)}, not {system.voice_kind!r}"
        )
    if not 0 <= system.voice_variant < 2**63:
        raise UnknownSystemError(
            f"{name}: the number of a voice is 0 or more, below 2^63, not {system.voice_variant}"
        )
    if system.voice_kind != ANY and not system.takes_wishes:
        raise _impossible(system)


@functools.lru_cache(maxsize=4096)
def _fitting(system: VoiceChoice, pseudonym: Pseudonym, version: str) -> Pseudonym:
    left = system.voice_variant
    for number in range(MOST_VARIANTS):
        candidate = pseudonym.variant(number)
        if system.fits_wish(candidate):
            if not left:
                return candidate
            left -= 1
    raise UnknownSystemError(
        f"{system.card.name}: of the first {MOST_VARIANTS} voices {system.voice_variant - left} "
        f"are {system.voice_kind}; wish for one of these, or for another voice, or change the "
        "system's settings"
    )


def _impossible(system: VoiceChoice) -> UnknownSystemError:
    return UnknownSystemError(
        f"{system.card.name}: its voices depend on the speaker's own, so that none can be wished "
        "for; --voice-like N draws another one, and recast, word-codes and asr-tts take wishes"
    )
