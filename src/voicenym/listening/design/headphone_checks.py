"""Sounds that only headphones give away: Huggins pitch, and tones in anti-phase.

Huggins pitch: noise whose phase differs between the ears in a narrow band sounds as noise with a
faint tone, by headphones alone (Milne et al., "An online headphone screening test based on dichotic
pitch", Behavior Research Methods 53, 2021). Anti-phase: of three tones the softest is to be found;
loudspeakers cancel the one in anti-phase, so that it seems the softest (Woods et al., "Headphone
screening to facilitate web-based auditory experiments", Attention, Perception & Psychophysics 79,
2017).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Stereo = npt.NDArray[np.float64]
HUGGINS, ANTIPHASE = "huggins", "antiphase"
RATE = 44_100
TRIALS = 6
NEEDED = {HUGGINS: 6, ANTIPHASE: 5}
"""Right answers that pass, as the two publications have it."""
INTERVAL, PAUSE = 1.0, 0.5
"""Seconds of a sound, and between two."""
CENTRE, HALF_BAND = 600.0, 0.06
"""Hz of the pitch, and half of its band's width as a share of it."""
SOFTER = 6.0
"""dB by which the softest tone is below the others."""
LEVEL = 0.1
ASKED = {
    HUGGINS: "You hear three noises. One of them has a faint tone in it. Which one?",
    ANTIPHASE: "You hear three tones. Which one is the softest?",
}


def trial(method: str, rng: np.random.Generator) -> tuple[Stereo, int]:
    """Sound ``[2, time]`` of a trial at 44.1 kHz, and its right answer, 1 to 3.

    Args:
        method: :data:`HUGGINS` or :data:`ANTIPHASE`.
        rng: of noise and answer.
    """
    answer = int(rng.integers(3))
    if method == HUGGINS:
        parts = [_noise(rng, pitch=place == answer) for place in range(3)]
    else:
        inverted = int(rng.choice([place for place in range(3) if place != answer]))
        parts = [_tone(place == answer, place == inverted) for place in range(3)]
    pause = np.zeros((2, round(PAUSE * RATE)))
    sound = [part for sound in parts for part in (sound, pause)]
    return np.concatenate(sound[:-1], axis=1), answer + 1


def _noise(rng: np.random.Generator, pitch: bool) -> Stereo:
    """Noise that is the same in both ears but for the phase of a band, where it has a pitch."""
    size = round(INTERVAL * RATE)
    left = rng.standard_normal(size)
    spectrum = np.fft.rfft(left)
    frequency = np.fft.rfftfreq(size, 1.0 / RATE)
    if pitch:
        low, high = CENTRE * (1.0 - HALF_BAND), CENTRE * (1.0 + HALF_BAND)
        turn = np.clip((frequency - low) / (high - low), 0.0, 1.0)  # a whole turn across the band
        spectrum = spectrum * np.exp(2j * np.pi * turn)
    both = np.stack([left, np.fft.irfft(spectrum, size)])
    return _faded(LEVEL * both / both.std())


def _tone(softer: bool, inverted: bool) -> Stereo:
    time = np.arange(round(INTERVAL * RATE)) / RATE
    tone = LEVEL * np.sqrt(2.0) * np.sin(2.0 * np.pi * 200.0 * time)
    tone = tone * 10.0 ** (-SOFTER / 20.0) if softer else tone
    return _faded(np.stack([tone, -tone if inverted else tone]))


def _faded(sound: Stereo) -> Stereo:
    ramp = np.minimum(1.0, np.arange(sound.shape[1]) / (0.05 * RATE))
    return np.asarray(sound * ramp * ramp[::-1])
