"""Pitch shifting by time-scale modification with a phase vocoder (T32)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from voicenym.anonymizer import Anonymizer, Card, Core
from voicenym.anonymizer.live_delay import SHORT, USUAL, check_delay
from voicenym.dsp.overlap_add import OverlapAdd
from voicenym.dsp.pitch_changes.phase_vocoder import OVERLAP, PitchShifter
from voicenym.dsp.pitch_changes.stretched_pitch import StretchedPitch
from voicenym.dsp.separate_rows import SeparateRows
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Pseudonym

WINDOWS: Mapping[str, tuple[float, int, int]] = {USUAL: (0.008, OVERLAP, 0), SHORT: (0.007, 5, 2)}
"""Analysis hop in seconds, hops of a window, and those at its beginning that are not returned, by
the delay that is asked for. A window of 64 ms resolves harmonics 62 Hz apart; one of 35 ms those of
voices above 114 Hz.
"""


@dataclass(frozen=True)
class PvTsm(Anonymizer):
    """Shifts pitch and formants together by one ratio rho = 2^(n / 12).

    The signal is stretched by rho with a phase vocoder and resampled to its original length. n is
    drawn once per pseudonym, up or down. Phases are locked to spectral peaks (Laroche and Dolson
    1999): without phase locking, speech sounds hollow and loses 3 dB.

    Args:
        low, high: limits of the magnitude of n, in semitones.
        delay: ``usual``, with windows of 64 ms, or ``short``, of 35 ms, of which the last 21 are
            returned: live, the sound comes 56 ms sooner.

    Source: Mawalim, Okada, Unoki, SPSC 2022 (T32).
    """

    low: float = 2.0
    high: float = 5.0
    delay: str = USUAL

    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    unnamed_values: ClassVar[Mapping[str, Any]] = {"delay": USUAL}
    card: ClassVar[Card] = Card(
        name="pv-tsm",
        title="Pitch and formants shifted together by a phase vocoder (T32)",
        paper="Mawalim, Okada, Unoki, 'Speaker anonymization by pitch shifting based on time-scale "
        "modification', SPSC Symposium 2022",
        year=2022,
        equations=(
            "rho = 2^(n/12); |n| ~ U(2, 5) semitones, either sign",
            "w_inst,k = w_k + princarg(dphi_k - H_a w_k) / H_a",
            "phi_k(m) = phi_k(m-1) + H_s w_inst,k, H_s = rho H_a",
            "resampling by 1/rho to the original length; the envelope is not corrected",
        ),
        needs="no weights; 8 kHz or more; CPU or GPU",
        protects="casual listeners and ignorant verifiers, in part",
        promises=(
            "length, channels and level are kept, without drift; live latency is 77 ms at 16 kHz, "
            "84 ms at 48 kHz (revision 1: 88 and 95); 21 ms with delay=short",
            "rhythm, words and the shape of the intonation are those of the speaker",
        ),
        fails=(
            "does not stop an attacker who knows the system: one number describes the change, and "
            "an attacker who searches for it has an EER of 2.2 % (1.2 to 4.0), with three "
            "recordings 0.1 %; one who inverts it has 3.4 %, one who trains on voice, prosody, "
            "content, words and room of the output 4.0 %",
            "the ratios between formants, and between them and the pitch, are the speaker's own",
            "speaking rate, rhythm and intonation still identify speakers",
            "a shift down leaves the top of the band empty, a shift up removes it: both reveal the "
            "direction, and nearly the size, of n",
            "large shifts sound unnatural; sharp onsets are smeared over the 64 ms window (35 ms "
            "with delay=short)",
        ),
        approximations=(
            "the range of n, window, hop, the draw per speaker and phase locking are not known "
            "from the publication: |n| of 2 to 5, 64 ms, 8 ms, one n per pseudonym, locked",
            "revision 2 analyses at 7 to 9 ms, so that both hops are whole numbers of samples: the "
            "shift is within 0.05 semitones of n; revision 1, and delay=short, squeeze each frame "
            "by rho before it is added, instead of the whole signal after: the same in exact "
            "arithmetic",
            "every frame keeps its mean power, so that the level is kept",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.high <= 12.0:
            raise UnknownSystemError(
                "pv-tsm: semitones need 0 <= low <= high <= 12, such as low=2, high=5, not "
                f"low={self.low}, high={self.high}"
            )
        check_delay(self.card.name, self.delay)

    def semitones(self, pseudonym: Pseudonym) -> float:
        """Shift n of a pseudonym, in semitones."""
        magnitude = pseudonym.uniform("pv-tsm.semitones", self.low, self.high)
        return magnitude if pseudonym.uniform("pv-tsm.sign") < 0.5 else -magnitude

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        groups: dict[int, list[int]] = {}
        for row, pseudonym in enumerate(pseudonyms):
            groups.setdefault(self.revision_for(pseudonym), []).append(row)
        cores = [
            (self._core(revision, [pseudonyms[row] for row in rows], rate), rows)
            for revision, rows in groups.items()
        ]
        return cores[0][0] if len(cores) == 1 else SeparateRows(cores)

    def _core(self, revision: int, pseudonyms: Sequence[Pseudonym], rate: int) -> Core:
        """The core of rows of one revision."""
        ratios = [2.0 ** (self.semitones(pseudonym) / 12.0) for pseudonym in pseudonyms]
        seconds, overlap, unused = WINDOWS[self.delay]
        hop = 2 * round(seconds * rate / 2)
        # the same for every pseudonym: long enough for the lowest shift there is, or the window
        lowest = 2.0 ** (-self.high / 12.0)
        if self.delay == USUAL and revision > 1:
            return StretchedPitch(ratios, hop, overlap * hop, lowest)
        hops = math.ceil(overlap / lowest) if self.delay == USUAL else overlap
        shifter = PitchShifter(ratios, hop, hops * hop, self.device, overlap, unused)
        return OverlapAdd(len(ratios), hops * hop, hop, shifter, self.device, unused=unused)
