"""Voicing of short frames by themselves, for streams that cannot wait for an F0 tracker.

A linear logistic regression on six measures of a frame of 20 ms was fitted to Praat's voicing of
150 recordings of LibriSpeech and speechocean762 (train). On 60 recordings of speechocean762 (dev)
it agrees with Praat in 91.6 % of the frames; :class:`voicenym.dsp.pitch.online.PitchStream`, which
waits for 90 ms, in 89.5 %, and in 79.5 % where its voicing is 50 ms late
(``benchmarks/studies/pitch/frame_voicing.py``).
"""

from __future__ import annotations

import math

import torch

from voicenym.dsp.pitch.online import FADE_SECONDS

BANDS = ((60.0, 500.0), (500.0, 1000.0), (1000.0, 2000.0), (2000.0, 3900.0))
"""Bands in Hz whose ratios of energy count."""
LEAST_PERIOD, MOST_PERIOD = 0.0022, 0.0125
"""Periods in seconds among which the autocorrelation of a frame has its peak."""
WEIGHTS = (0.14, 0.42, 0.17, 1.1, 5.0, 1.96)
"""Of the measures, in the order of :meth:`FrameVoicing.measures`."""
BIAS = -4.06
DECISION = 5.0
"""Factor on the logit, which makes frames that are half voiced rare: mixtures of pulses and noise
sound rough (DNSMOS 2.62 without it, 2.79 with it)."""
QUIET = 1e-12
"""Added to energies; silence is unvoiced."""


class FrameVoicing:
    """Voicing of consecutive frames.

    Args:
        rows: rows of the signal.
        length, hop: of the frames, in samples; a length of 20 ms is what was fitted.
        rate: in Hz.
        device: of the frames.
    """

    def __init__(
        self, rows: int, length: int, hop: int, rate: int, device: str | torch.device = "cpu"
    ) -> None:
        window = torch.hann_window(length, periodic=True, dtype=torch.float64)
        self._fft = 1 << math.ceil(math.log2(length + MOST_PERIOD * rate))
        own = torch.fft.irfft(torch.fft.rfft(window, n=self._fft).abs().square(), n=self._fft)
        self._lags = slice(math.ceil(LEAST_PERIOD * rate), math.ceil(MOST_PERIOD * rate))
        self._unbias = (own[0] / own[self._lags]).float().to(device)
        self._window = window.float().to(device)
        hertz = torch.arange(self._fft // 2 + 1) * rate / self._fft
        inside = [((hertz >= low) & (hertz < high)).float() for low, high in BANDS]
        self._bands = torch.stack(inside, dim=1).to(device)
        self._weights = torch.tensor(WEIGHTS, device=device)
        # so that the loudest frame fades by 20 dB in FADE_SECONDS
        self._fade = math.log(10.0) * hop / (FADE_SECONDS * rate)
        self._loudest = torch.full((rows, 1), 0.5 * math.log(QUIET), device=device)

    def __call__(self, frames: torch.Tensor, late: torch.Tensor) -> torch.Tensor:
        """Voicing ``[row, frame]``, 0 to 1 and mostly near these, of frames ``[row, frame,
        length]``.

        Args:
            frames: that follow those of the call before.
            late: ``[row, frame]``, the last known voicing, 0 to 1.
        """
        logit = self.measures(frames, late) @ self._weights + BIAS
        voicing = torch.sigmoid(DECISION * logit)
        return torch.where(frames.square().sum(-1) > QUIET, voicing, 0.0)

    def measures(self, frames: torch.Tensor, late: torch.Tensor) -> torch.Tensor:
        """Measures ``[row, frame, 6]``: ln energy of each band over that of the next; ln level over
        that of the loudest frame so far; peak of the autocorrelation over that of no lag; and the
        last known voicing. Arguments as of the call.
        """
        centred = (frames - frames.mean(-1, keepdim=True)) * self._window
        spectrum = torch.fft.rfft(centred, n=self._fft)
        power = spectrum.real.square() + spectrum.imag.square()
        bands = (power @ self._bands).add_(QUIET)
        logs = bands.log()
        level = 0.5 * bands.sum(-1).log()
        correlation = torch.fft.irfft(power, n=self._fft)
        peak = (correlation[..., self._lags] * self._unbias).amax(-1)
        peak = (peak / correlation[..., 0].clamp_min(QUIET)).clamp(0.0, 1.0)
        fallen = (level - self._loudest_until(level)).clamp_max(0.0)
        rest = torch.stack([fallen, peak, late], dim=-1)
        return torch.cat([logs[..., :-1] - logs[..., 1:], rest], dim=-1)

    def _loudest_until(self, level: torch.Tensor) -> torch.Tensor:
        """Level ``[row, frame]`` of the loudest frame so far, which fades."""
        steps = self._fade * torch.arange(1, level.shape[1] + 1, device=level.device)
        risen = torch.maximum((level + steps).cummax(1).values, self._loudest) - steps
        self._loudest = risen[:, -1:].clone()
        return risen
