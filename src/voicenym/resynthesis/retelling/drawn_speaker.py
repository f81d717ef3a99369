"""The voice of a pseudonym: a timbre of the synthesiser, vocal tract, F0 and speaking rate."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from voicenym.dsp.pitch.online import PitchStream
from voicenym.dsp.pitch_changes.voice_shift import RATE, shifted
from voicenym.nets.speech_synthesis.synthesiser import Synthesiser, Timbre
from voicenym.pseudonym import Pseudonym

TRACT_PER_PITCH = 0.28
"""Change of log formant frequencies per change of ln F0 from one speaker to another (women's F0 is
1.7 times men's, and their formants 1.16 times)."""
FEW = 4
"""Voices of a synthesiser up to which F0 is drawn from a range of adults, whatever its own."""
REGISTER = (80.0, 215.0)
"""That range, of the median F0 in Hz."""
CHANGE = 0.12
"""Largest change of ln F0 of a synthesiser with more voices."""
TRACT = 0.06
"""Largest change of the log vocal-tract length apart from that which fits F0."""
TEMPO = (0.9, 1.15)
"""Speaking rates, as factors of the synthesiser's own."""
TRIAL = "The birch canoe slid on the smooth planks, and we were all away a year ago."
"""Sentence on which F0 is measured."""
QUIETEST = 10.0 ** (-40.0 / 20.0)
"""Amplitude against the peak below which the ends of speech are cut off."""
MARGIN, FADE = 0.02, 0.008
"""Seconds that are kept beside the loud part, and that fade in and out."""


@dataclass(frozen=True)
class DrawnSpeaker:
    """A voice.

    Args:
        timbre: of the synthesiser.
        tract: factor of formant frequencies.
        pitch: factor of F0.
        tempo: factor of the speaking rate.
    """

    timbre: Timbre
    tract: float
    pitch: float
    tempo: float

    @classmethod
    def of(cls, synthesiser: Synthesiser, pseudonym: Pseudonym, sex: str = "") -> DrawnSpeaker:
        """The voice of a pseudonym.

        Args:
            synthesiser: that speaks with it.
            pseudonym: draws it.
            sex: of the timbre, where the synthesiser labels it; empty for any.
        """
        timbre = synthesiser.timbre(pseudonym, sex)
        low, high = -CHANGE, CHANGE
        if synthesiser.voices <= FEW and (own := _median_f0(cast(Any, synthesiser), timbre)):
            low, high = (math.log(f0 / own) for f0 in REGISTER)
        log_pitch = pseudonym.uniform("asr-tts.pitch", low, high)
        log_tract = TRACT_PER_PITCH * log_pitch + pseudonym.uniform("asr-tts.tract", -TRACT, TRACT)
        return cls(
            timbre,
            math.exp(log_tract),
            math.exp(log_pitch),
            pseudonym.uniform("asr-tts.tempo", *TEMPO),
        )

    def speak(
        self, synthesiser: Synthesiser, text: str, speed: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Speech ``[time]`` float32 at 16 kHz, without silence at its ends.

        Args:
            synthesiser: of the timbre.
            text: a sentence.
            speed: factor of the speaking rate, beside :attr:`tempo`.
            rng: of the noise within the speech.
        """
        made = synthesiser.speak(text, self.timbre, speed * self.tempo / self.tract, rng)
        return _trimmed(shifted(made, synthesiser.rate, self.tract, self.pitch))


def median_f0(synthesiser: Synthesiser, speaker: DrawnSpeaker) -> float:
    """Median F0 of a voice in Hz, measured on a sentence that it speaks without a shift."""
    return _median_f0(cast(Any, synthesiser), speaker.timbre) * speaker.pitch


@functools.lru_cache(maxsize=4096)
def _median_f0(synthesiser: Any, timbre: Timbre) -> float:
    plain = DrawnSpeaker(timbre, 1.0, 1.0, 1.0)
    samples = plain.speak(synthesiser, TRIAL, 1.0, np.random.Generator(np.random.Philox(0)))
    tracker = PitchStream(1, RATE)
    frames = [tracker.push(torch.from_numpy(samples)[None]).f0, tracker.flush().f0]
    f0 = torch.cat(frames, dim=1)[0]
    voiced = f0[f0 > 0]
    return float(voiced.median()) if len(voiced) else 0.0


def _trimmed(samples: np.ndarray) -> np.ndarray:
    """Without quiet ends, faded in and out."""
    loud = np.flatnonzero(np.abs(samples) > QUIETEST * np.abs(samples).max(initial=0.0))
    if not len(loud):
        return samples[:0]
    side = round(MARGIN * RATE)
    found = samples[max(0, loud[0] - side) : loud[-1] + 1 + side].copy()
    rise = np.linspace(0.0, 1.0, min(round(FADE * RATE), len(found) // 2), dtype=np.float32)
    found[: len(rise)] *= rise
    found[len(found) - len(rise) :] *= rise[::-1]
    return found
