"""Formant, F0 and speaking-rate modification toward a drawn voice (Idiap-NKI, I1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.dsp.pitch_changes.psola import Psola, Retuning
from voicenym.dsp.pitch_changes.psola_envelope_warp import PsolaEnvelopeWarp
from voicenym.dsp.voice_measurement import USUAL_NEUTRAL, Reader, Reading, Readings
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Pseudonym

USUAL_SYLLABLES = 4.2
PHI_JITTER = 75.0
"""Largest deviation of phi_i of F3, F4, F5 from phi, in Hz."""
LEVELS = (64.0, 67.0, 58.0, 50.0, 47.0, 45.0)
LEVEL_JITTER = (4.5, 2.5, 4.5, 8.0, 10.0, 9.0)
MOVED = (0, 3, 4, 5)
"""Bands whose level is drawn: F0, F3, F4, F5."""
WARP_CAP = 1.35
"""Largest change of a formant, as a factor."""
LEAST_WARP = 1.08
"""Least change of F1 and F2, and so of the length of the vocal tract, as a factor (revision 2)."""
LEAST_RANGE = 1.06
"""Width of the target range on the far side of a speaker at its end, as a factor."""


@dataclass(frozen=True)
class Voice:
    """Target voice: the formants, band levels, pitch and rate that speech is moved to."""

    phi: float
    phis: tuple[float, ...]
    levels: tuple[float, ...]
    pitch: float
    spread: float
    syllables: float


@dataclass(frozen=True)
class Formant(Anonymizer):
    """Moves formants, F0 and optionally the speaking rate to those of a drawn voice.

    A first pass measures the speaker's median F0, formants, band levels and syllable rate; the
    pseudonym draws a target voice; a second pass moves the measured values to the target.

    Revision 2 keeps the target's phi away from the speaker's own: the pseudonym alone chooses the
    side, above or below the middle of the limits, and draws phi from the part of that side that
    differs from the speaker's phi by more than a factor of 1.08. Revision 1 draws phi between the
    limits, so that some speakers keep their own formants.

    Args:
        phi_low, phi_high: limits of the target's phi (neutral F1), in Hz.
        pitch_low, pitch_high: limits of the target's median F0, in Hz.
        spread_low, spread_high: limits of the factor on the range of pitch.
        cap: largest change of pitch and of rate, as a factor.
        level_cap: largest change of a band's level, in dB.
        rate: whether the speaking rate is moved too, which changes the length.

    Source: Dubagunta, van Son, Magimai-Doss, Computer Speech & Language 72 (2022).
    """

    phi_low: float = 480.0
    phi_high: float = 620.0
    pitch_low: float = 90.0
    pitch_high: float = 250.0
    spread_low: float = 0.8
    spread_high: float = 1.25
    cap: float = 1.5
    level_cap: float = 9.0
    rate: bool = False

    streams: ClassVar[bool] = False
    profile_type: ClassVar[type] = Readings
    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    card: ClassVar[Card] = Card(
        name="formant",
        title="Formants, pitch and rate moved to a drawn voice (Idiap-NKI, I1)",
        paper="Dubagunta, van Son, Magimai-Doss, 'Adjustable deterministic pseudonymization of "
        "speech', Computer Speech & Language 72, 101284 (2022)",
        year=2022,
        equations=(
            "phi_i = median F_i / (2i-1); F1 and F2 move by phi_target / phi",
            "F3, F4, F5 move by phi_i,target / phi_i; phi_i,target = phi_target + U(-75, 75) Hz",
            "bands [0, phi/2], [phi/2, 2 phi], [2(i-1) phi, 2 i phi]; levels of bands 0, 3, 4, 5 "
            "drawn about 64, 50, 47, 45 dB, against 70 dB for the whole",
            "median F0 moved by PSOLA; pitch and rate by at most a factor of 1.5",
        ),
        needs="no weights; two passes over the recording; 8 kHz or more",
        protects="casual listeners and ignorant verifiers, in part",
        promises=(
            "length, channels and level are kept (but for the length with rate=True)",
            "words and the shape of the intonation contour are those of the speaker",
            "F1 and F2 move by 8 % or more if they are measured correctly (revision 2)",
        ),
        fails=(
            "does not stop an attacker who knows the system: about ten numbers describe the "
            "change, and most of it can be estimated from a few recordings and undone",
            "a drawn voice can lie near the speaker's own, and then little changes: in revision 1 "
            "its formants and pitch, in revision 2 its pitch",
            "rhythm, pronunciation and the shape of the intonation still identify speakers",
            "profiles from a few seconds of speech, or of several speakers at once, are unreliable",
            "F0 tracking fails on creaky or noisy voices and on music; the output sounds rough",
            "an attacker who trains on voice, prosody, content, words and room of the output has "
            "an EER of 2.7 % (1.3 to 4.2), and one who tries keys an EER of 4.1 % (2.7 to 6.3)",
        ),
        approximations=(
            "the targets of the published submission are not known; here they are drawn uniformly",
            "phi is the mean of phi_i weighted by i, instead of Lammert and Narayanan's weights",
            "one piecewise-linear warp of the spectral envelope through the formants, and PSOLA, "
            "instead of Praat's 'Change gender' once per band; changes of level are capped at 9 dB "
            "and of formants at a factor of 1.35",
            "the target's phi keeps 8 % away from the speaker's (revision 2; published: anywhere)",
            "the range of F0 is moved too, by a factor of 0.8 to 1.25 (published: 1)",
        ),
    )

    def __post_init__(self) -> None:
        for name, low, high, example in (
            ("phi", self.phi_low, self.phi_high, (480, 620)),
            ("pitch", self.pitch_low, self.pitch_high, (90, 250)),
            ("spread", self.spread_low, self.spread_high, (0.8, 1.25)),
        ):
            if not 0.0 < low <= high < 10_000.0:
                raise UnknownSystemError(
                    f"formant: {name} needs 0 < {name}_low <= {name}_high, such as {example[0]} "
                    f"and {example[1]}, not {low} and {high}"
                )
        if not 1.0 <= self.cap <= 2.0:
            raise UnknownSystemError(
                f"formant: cap is a factor from 1 to 2, such as 1.5, not {self.cap}"
            )
        if not 0.0 <= self.level_cap <= 20.0:
            raise UnknownSystemError(
                f"formant: level_cap is from 0 to 20 dB, such as 9, not {self.level_cap}"
            )

    def median_f0(self, pseudonym: Pseudonym) -> float:
        return self.voice(pseudonym).pitch

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_kind(self) -> str:
        return "voice measurement"

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return Reader(rows, rate, lengths)

    def voice(self, pseudonym: Pseudonym) -> Voice:
        """Target voice of a pseudonym."""
        phi = pseudonym.uniform("formant.phi", self.phi_low, self.phi_high)
        jitter = pseudonym.uniforms("formant.phis", 3, -PHI_JITTER, PHI_JITTER)
        shares = pseudonym.uniforms("formant.levels", len(LEVELS), -1.0, 1.0)
        return Voice(
            phi=phi,
            phis=(phi, phi, *(phi + change for change in jitter)),
            levels=tuple(
                mean + share * width
                for mean, share, width in zip(LEVELS, shares, LEVEL_JITTER, strict=True)
            ),
            pitch=pseudonym.uniform("formant.pitch", self.pitch_low, self.pitch_high),
            spread=pseudonym.uniform("formant.spread", self.spread_low, self.spread_high),
            syllables=pseudonym.uniform("formant.syllables", 3.5, 5.0),
        )

    def voice_for(self, reading: Reading, pseudonym: Pseudonym) -> Voice:
        """Target voice of a pseudonym for a measured speaker; its phi is not the speaker's."""
        voice = self.voice(pseudonym)
        if self.revision_for(pseudonym) == 1:
            return voice
        phi = self._away(voice.phi, reading.neutral or USUAL_NEUTRAL)
        return replace(voice, phi=phi, phis=tuple(phi + one - voice.phi for one in voice.phis))

    def _away(self, phi: float, own: float) -> float:
        """A drawn phi, moved on its side of the middle away from the speaker's own.

        It is continuous in the speaker's phi, so that recordings of one speaker with slightly
        different measured phi get one voice.
        """
        middle = 0.5 * (self.phi_low + self.phi_high)
        if phi >= middle:
            start = max(middle, own * LEAST_WARP)
            stop = max(self.phi_high, start * LEAST_RANGE)
            share = (phi - middle) / max(self.phi_high - middle, 1e-9)
        else:
            start = min(middle, own / LEAST_WARP)
            stop = min(self.phi_low, start / LEAST_RANGE)
            share = (middle - phi) / (middle - self.phi_low)
        return start + share * (stop - start)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        readings: list[Reading] = profile
        track = getattr(profile, "pitch", None)
        if len(readings) == 1:
            readings = list(readings) * len(pseudonyms)
        voices = [
            self.voice_for(reading, pseudonym)
            for reading, pseudonym in zip(readings, pseudonyms, strict=True)
        ]
        both = list(zip(readings, voices, strict=True))
        return PsolaEnvelopeWarp(
            Psola(rate, [self._retuning(reading, voice) for reading, voice in both], track),
            [self._warp(reading, voice, rate) for reading, voice in both],
            rate,
            self.device,
        )

    def _retuning(self, reading: Reading, voice: Voice) -> Retuning:
        tempo = 1.0
        if self.rate:
            tempo = voice.syllables / max(reading.syllables or USUAL_SYLLABLES, 0.1)
            tempo = min(max(tempo, 1.0 / self.cap), self.cap)
        if reading.pitch is None:
            return Retuning(voice.pitch, voice.pitch, cap=self.cap, tempo=tempo)
        return Retuning(reading.pitch, voice.pitch, voice.spread, self.cap, tempo)

    def _warp(
        self, reading: Reading, voice: Voice, rate: int
    ) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Knots of the warp (target and source in Hz), and the bands' changes of level in dB."""
        nyquist = rate / 2
        neutral = reading.neutral or USUAL_NEUTRAL
        target, source = [0.0], [0.0]
        for i, formant in enumerate(reading.formants):
            wanted = voice.phi / neutral if i < 2 else voice.phis[i] / reading.neutral_formants[i]
            moved = formant * min(max(wanted, 1.0 / WARP_CAP), WARP_CAP)
            gap = 0.5 * (formant - source[-1])  # formants never meet, nor pass each other
            moved = max(moved, target[-1] + gap)
            if max(moved, formant) < 0.95 * nyquist:
                source.append(formant)
                target.append(moved)
        source.append(nyquist)
        target.append(nyquist)
        changes = numpy.zeros(len(LEVELS))
        for band in MOVED:
            low, high = _band(band, neutral)
            if high <= reading.nyquist * 1.1:
                change = voice.levels[band] - reading.band_level(low, high)
                changes[band] = min(max(change, -self.level_cap), self.level_cap)
        middles = numpy.array([sum(_band(band, voice.phi)) / 2 for band in range(len(LEVELS))])
        return numpy.array([target, source]), middles, changes


def _band(band: int, phi: float) -> tuple[float, float]:
    if band == 0:
        return 0.0, phi / 2
    return (phi / 2 if band == 1 else 2 * (band - 1) * phi), 2 * band * phi
