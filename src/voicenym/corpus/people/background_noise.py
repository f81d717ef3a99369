"""Noise with the level and spectrum of a recording's background, for parts that lack it.

The background is what cannot be speech; its spectrum is the geometric mean over frames, which
single sounds change little. Silenced parts get its noise, and hidden parts where their
sound is weaker than the background, so that the background does not come and go with the borders.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.float32]
FRAME_SECONDS = 0.032
LOOP_SECONDS = 16.0
LEAST_FRAMES = 10
"""Frames of background below which nothing is known of it."""
GAIN_SECONDS = 0.02
TINY = 1e-20
LOG_BIAS = float(np.exp(np.euler_gamma))
"""Mean of exponentially distributed powers, those of noise, over their geometric mean."""


class BackgroundNoise:
    """Learns the spectrum of the background, then gives noise of it.

    Args:
        rate: in Hz.
        channels: of the recording; noises of channels are independent.
    """

    def __init__(self, rate: int, channels: int) -> None:
        self._rate, self._size = rate, max(16, round(FRAME_SECONDS * rate))
        self._window = np.hanning(self._size)
        self._power = np.zeros((channels, self._size // 2 + 1))
        self._frames = 0
        self._loop: Block | None = None

    def learn(self, block: Block) -> None:
        """Adds background ``[channel, time]``; what is left after whole frames does not count."""
        count = block.shape[1] // self._size
        if not count:
            return
        frames = block[:, : count * self._size].reshape(len(block), count, self._size)
        spectrum = np.fft.rfft(frames * self._window, axis=2)
        self._power += np.log(np.square(np.abs(spectrum)) + TINY).sum(1)
        self._frames += count

    def draw(self, rng: np.random.Generator) -> None:
        """Makes the noise; without background, silence."""
        length = round(LOOP_SECONDS * self._rate)
        channels = len(self._power)
        if self._frames < LEAST_FRAMES:
            self._loop = np.zeros((channels, length), np.float32)
            return
        power = LOG_BIAS * np.exp(self._power / self._frames) / np.square(self._window).sum()
        places = np.linspace(0.0, 1.0, length // 2 + 1)
        coarse = np.linspace(0.0, 1.0, power.shape[1])
        noise = np.empty((channels, length))
        for channel in range(channels):
            density = np.interp(places, coarse, power[channel])
            white = rng.standard_normal((2, len(places)))
            spectrum = (white[0] + 1j * white[1]) * np.sqrt(0.5 * density * length)
            spectrum[0] = 0.0
            noise[channel] = np.fft.irfft(spectrum, length)
        self._loop = noise.astype(np.float32)

    def noise(self, start: int, end: int) -> Block:
        """Noise ``[channel, time]`` for samples of the recording; a loop of 16 s."""
        assert self._loop is not None
        return np.take(self._loop, np.arange(start, end), axis=1, mode="wrap")

    def filled(self, sound: Block, start: int) -> Block:
        """Sound with noise where it is weaker than the background.

        Args:
            sound: ``[channel, time]``.
            start: its first sample in the recording.
        """
        noise = self.noise(start, start + sound.shape[1])
        if not sound.shape[1]:
            return sound
        size = max(1, round(GAIN_SECONDS * self._rate))
        wanted = float(np.square(self._loop).mean()) if self._loop is not None else 0.0
        if wanted == 0.0:
            return sound
        count = -(-sound.shape[1] // size)
        padded = np.pad(sound, ((0, 0), (0, count * size - sound.shape[1])), mode="edge")
        power = np.square(padded.reshape(len(sound), count, size)).mean((0, 2))
        gain = np.sqrt(np.maximum(0.0, 1.0 - power / wanted))
        centres = (np.arange(count) + 0.5) * size
        curve = np.interp(np.arange(sound.shape[1]), centres, gain).astype(np.float32)
        return sound + noise * curve
