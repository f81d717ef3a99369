"""YAAPT: two-pass F0 tracker with dynamic programming over spectral and temporal candidates.

Zahorian and Hu, "A spectral/temporal method for robust fundamental frequency tracking", JASA 123(6)
(2008). The first pass takes a rough track from the spectral harmonics correlation of the squared
signal, which has a fundamental even if a telephone channel removes it. The second pass computes the
normalised cross-correlation of the signal and of its square near the rough track; dynamic
programming chooses among these candidates, the rough track and unvoiced. Section letters below are
those of the paper's section II. Two deviations of the widely used implementation (a period one
sample too long, uncompensated filter delay) are not followed. Deviations of this implementation:
parabolic interpolation of peaks; linear instead of cubic interpolation of gaps in the rough track;
a rough track that the correlation contradicts is retried an octave lower, because a very steady
voice can double it; and where the correlation has no candidate, energy counts for voicing only if
there are candidates nearby, so that noise stays unvoiced. Tones that are steady throughout and have
no fundamental may be found unvoiced (harmonics 2 to 7 of 100 and of 120 Hz are). Rows are processed
in parallel; the whole recording is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.peaks_and_paths import best_path, by_frames, filled, median, peaks
from voicenym.dsp.pitch.yaapt_settings import YaaptSettings

SPECTRAL_RATE = 4_000
"""Approximate rate of the signals for spectra, above the band's Nyquist rate."""
SILENCE = 1e-7
"""Mean magnitude below which nothing is voiced."""


@dataclass(frozen=True)
class Yaapt(YaaptSettings):
    """YAAPT; its parameters are those of :class:`YaaptSettings`."""

    def __call__(self, signal: torch.Tensor, rate: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Track ``[row, time]``.

        Returns:
            F0 in Hz, 0 where unvoiced, and the merit of the choice, 0 to 1; each
            ``[row, ceil(time / hop)]``. Frame ``k`` is centred at ``k * hop``.
        """
        return _Tracking(self, signal, rate).track()


class _Tracking:
    """Intermediate results of one call of the tracker."""

    def __init__(self, settings: YaaptSettings, signal: torch.Tensor, rate: int) -> None:
        self.set = settings
        self.rate = rate
        self.hop = round(settings.hop * rate)
        self.frames = -(-signal.shape[1] // self.hop)
        divisors = [d for d in range(1, max(1, rate // SPECTRAL_RATE) + 1) if self.hop % d == 0]
        self.step = divisors[-1]
        self.slow_rate = rate / self.step
        self.points = 1 << round(math.log2(settings.points * self.slow_rate / 16_000))
        if self.frames:
            self.plain = self._limited(signal)
            self.square = self._limited(signal.square())
        else:
            self.plain = self.square = signal

    def track(self) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.frames:
            empty = self.plain[:, :0]
            return empty, empty
        energy = self._energy()
        counts = energy > self.set.voiced_energy
        rough, deviation = self._rough(counts)
        hertz, merit, share = self._candidates(rough, deviation, counts)
        if (share < self.set.least_share).any():
            lower = (rough / 2.0).clamp_min(self.set.lowest)
            of_lower = self._candidates(lower, deviation / 2.0, counts)
            better = (share < self.set.least_share) & (of_lower[2] > share)
            rough = torch.where(better, lower, rough)
            hertz = torch.where(better[..., None], of_lower[0], hertz)
            merit = torch.where(better[..., None], of_lower[1], merit)
        return self._choose(hertz, merit, rough, energy)

    def _candidates(
        self, rough: torch.Tensor, deviation: torch.Tensor, counts: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Hz and merit of both signals' candidates ``[row, frame, candidate]``, and the share of
        the frames that count which have any, ``[row, 1]``.
        """
        found = [self._correlated(x, rough, deviation) for x in (self.plain, self.square)]
        hertz, merit = (torch.cat(parts, -1) for parts in zip(*found, strict=True))
        some = (merit.amax(-1) > 0) & counts
        return hertz, merit, some.sum(1, keepdim=True) / counts.sum(1, keepdim=True).clamp_min(1)

    def _limited(self, signal: torch.Tensor) -> torch.Tensor:
        """A. Band-limited signal, with zero delay."""
        low, high = (2.0 * f / self.rate for f in self.set.band)
        side = round(self.set.order * self.rate / 16_000) // 2
        n = torch.arange(-side, side + 1, dtype=torch.float64)
        taps = high * torch.sinc(high * n) - low * torch.sinc(low * n)
        taps = taps * torch.hamming_window(2 * side + 1, periodic=False, dtype=torch.float64)
        length = signal.shape[1]
        points = 1 << math.ceil(math.log2(length + 2 * side))
        spectra = torch.fft.rfft(signal, n=points) * torch.fft.rfft(taps.to(signal), n=points)
        return torch.fft.irfft(spectra, n=points)[:, side : side + length]

    def _framed(self, signal: torch.Tensor, length: int, step: int = 1) -> torch.Tensor:
        """``[row, time]`` to ``[row, frame, length]``, centred on every hop, of every ``step``-th
        sample.
        """
        signal, hop = signal[:, ::step], self.hop // step
        need = (self.frames - 1) * hop + length
        before = length // 2
        after = need - before - signal.shape[1]
        padded = torch.nn.functional.pad(signal, (before, max(0, after)))
        return padded.unfold(1, length, hop)[:, : self.frames]

    def _bin(self, hertz: float) -> int:
        return round(hertz * self.points / self.slow_rate)

    def _energy(self) -> torch.Tensor:
        """B. Normalised low-frequency energy ratio ``[row, frame]``; 0 in a silent row."""
        length = round(self.set.frame * self.slow_rate)
        window = torch.hann_window(length, periodic=False, device=self.plain.device)
        # the limits are the paper's; where F0's own range is narrow, there would be nothing between
        low = self._bin(2.0 * self.set.lowest)
        high = self._bin(max(self.set.highest, 4.0 * self.set.lowest))

        def of(frames: torch.Tensor) -> tuple[torch.Tensor]:
            spectra = torch.fft.rfft(frames * window, n=self.points)
            return (spectra[..., low:high].abs().sum(-1),)

        (energy,) = by_frames(of, self._framed(self.plain, length, self.step))
        mean = energy.mean(1, keepdim=True)
        audible = mean > SILENCE * (high - low)
        return torch.where(audible, energy / mean.clamp_min(1e-30), 0.0)

    def _rough(self, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """C. Spectral F0 track ``[row, frame]`` and its deviation ``[row, 1]``, both in Hz.

        Args:
            counts: ``[row, frame]``: frames with energy.
        """
        set_ = self.set
        hertz, merit = self._spectral_candidates()
        counts = counts & (hertz[..., 0] > 0)
        some, number = counts.any(1, keepdim=True), counts.sum(1, keepdim=True)
        # frames that count move together; what is left over repeats the last of them
        place = torch.arange(self.frames, device=counts.device)[None]
        frame = counts.long().argsort(dim=1, descending=True, stable=True)
        frame = frame.gather(1, place.minimum((number - 1).clamp_min(0)))[..., None]
        hertz, merit = (x.gather(1, frame.expand_as(x)) for x in (hertz, merit))
        real = (place < number).to(hertz)

        def statistics(track: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            mean = (track * real).sum(1, keepdim=True) / number.clamp_min(1)
            variance = ((track - mean).square() * real).sum(1, keepdim=True) / number.clamp_min(1)
            return mean, variance.sqrt()

        mean, deviation = statistics(hertz[..., 0])
        # errors are mostly upward, so candidates are drawn to a little below the mean
        drawn = ((hertz - 0.8 * mean[..., None]).abs() * (3.0 - merit)).argmin(-1, keepdim=True)
        smooth = median(hertz.gather(-1, drawn)[..., 0], set_.smoothing - 2)
        hertz = hertz.scatter(-1, drawn, smooth[..., None])
        step = (hertz[:, :-1, :, None] - hertz[:, 1:, None, :]).abs() / set_.lowest
        weight = (set_.rough_change * deviation / mean.clamp_min(1.0))[..., None, None]
        change = weight * (0.05 * step + step.square()) * real[:, 1:, None, None]
        path = best_path((1.0 - merit) * real[..., None], change)
        track = median(hertz.gather(-1, path[..., None])[..., 0], set_.smoothing - 2)

        mean, deviation = statistics(track)
        deviation = deviation.maximum(set_.least_deviation * mean)
        rank = (counts.cumsum(1) - 1).clamp_min(0)
        track = filled(track.gather(1, rank), counts, mean)
        track = torch.nn.functional.pad(track[:, None], (1, 1), mode="replicate")
        track = torch.nn.functional.avg_pool1d(track, 3, 1)[:, 0]
        # where no frame has a pitch, correlation looks everywhere
        middle = math.sqrt(set_.lowest * set_.highest)
        track = torch.where(some, track.clamp(set_.lowest, set_.highest), middle)
        return track, torch.where(some, deviation, set_.highest)

    def _spectral_candidates(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Peaks of the spectral harmonics correlation: Hz and merit ``[row, frame, candidate]``;
        Hz are 0 and merits 1 in a frame without.
        """
        length = 2 * round(self.set.frame * self.slow_rate)
        return by_frames(self._spectral, self._framed(self.square, length, self.step))

    def _spectral(self, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        set_, length = self.set, frames.shape[-1]
        window = torch.kaiser_window(length, periodic=False, beta=0.5, device=frames.device)
        frames = frames * window
        frames = frames - frames.mean(-1, keepdim=True)
        spectra = torch.fft.rfft(frames, n=self.points).abs()
        # a peak at the upper limit must exceed the values beyond it
        low, high = self._bin(set_.lowest), self._bin(set_.highest + set_.spectral_width)
        side = self._bin(set_.harmonic_window / 2.0)
        near = spectra.unfold(-1, 2 * side + 1, 1)  # place p holds the bins p to p + 2 side
        product: torch.Tensor | None = None
        for number in range(1, set_.harmonics + 2):
            start = number * low - side
            of_number = near[..., start : number * high - side + 1 : number, :]
            product = of_number if product is None else product * of_number
        assert product is not None
        shc = product.sum(-1)
        shc = shc / shc.amax(-1, keepdim=True).clamp_min(1e-30)
        mean = shc.mean(-1, keepdim=True)
        width = 2 * self._bin(set_.spectral_width / 2.0) + 1
        least = set_.prominence * mean.expand_as(shc).clone()
        least[..., self._bin(set_.highest) - low + 1 :] = torch.inf
        least = torch.where(mean > 1.0 / set_.flatness, torch.inf, least)
        place, merit = peaks(shc, width, set_.spectral_peaks, least)
        there = merit > 0
        hertz = (place + low) * self.slow_rate / self.points
        hertz = torch.where(there, hertz, hertz[..., :1])
        merit = torch.where(there, merit, merit[..., :1])
        none = ~there[..., :1]
        return torch.where(none, 0.0, hertz), torch.where(none, 1.0, merit)

    def _correlated(
        self, signal: torch.Tensor, rough: torch.Tensor, deviation: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """D. Candidates of the normalised correlation near the rough track: Hz, 0 for none, and
        merit, ``[row, frame, candidate]``.
        """
        length = round(self.set.correlated * self.rate) + math.ceil(self.rate / self.set.lowest)
        deviation = deviation.expand_as(rough)
        return by_frames(self._correlation, self._framed(signal, length + 1), rough, deviation)

    def _correlation(
        self, frames: torch.Tensor, rough: torch.Tensor, deviation: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        set_ = self.set
        first, last = math.floor(self.rate / set_.highest), math.ceil(self.rate / set_.lowest)
        length = round(set_.correlated * self.rate)
        frames = frames - frames.mean(-1, keepdim=True)
        points = 1 << math.ceil(math.log2(2 * length + last + 1))
        head = torch.fft.rfft(frames[..., :length], n=points)
        product = torch.fft.irfft(head.conj() * torch.fft.rfft(frames, n=points), n=points)
        power = torch.nn.functional.pad(frames.double().square().cumsum(-1), (1, 0))
        energy = (power[..., length:] - power[..., :-length]).clamp_min(0.0)
        lags = slice(first - 1, last + 2)
        scale = (energy[..., :1] * energy[..., lags]).sqrt() + length * SILENCE**2
        nccf = (product[..., lags] / scale).float()

        lag = torch.arange(first - 1, last + 2, device=frames.device)
        side = round(set_.correlation_width * self.rate / 32_000)
        shortest = self.rate / (rough + 2.0 * deviation).clamp_max(set_.highest) - side
        longest = self.rate / (rough - 2.0 * deviation).clamp_min(set_.lowest) + side
        near = (lag >= shortest[..., None]) & (lag <= longest[..., None])
        least = torch.where(near, set_.least_correlation, torch.inf)
        place, merit = peaks(nccf, 2 * side + 1, set_.correlation_peaks, least)
        sure = merit[..., :1] > set_.enough_correlation
        there = merit > 0
        there[..., 1:] &= ~sure
        hertz = torch.where(there, self.rate / (place + (first - 1)), 0.0)
        closeness = 1.0 - (hertz - rough[..., None]).abs() / (5.0 * deviation[..., None])
        merit = (1.0 + set_.boost) * merit.clamp(0.0, 1.0) * closeness.clamp_min(0.0)
        return hertz, torch.where(there, merit.clamp(0.0, 1.0), 0.0)

    def _choose(
        self, hertz: torch.Tensor, merit: torch.Tensor, rough: torch.Tensor, energy: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """E. Path of least cost through the best correlation candidates, their median, the rough
        track, and unvoiced.
        """
        set_ = self.set
        order = merit.argsort(dim=-1, descending=True, stable=True)[..., : set_.correlation_peaks]
        hertz, merit = hertz.gather(-1, order), merit.gather(-1, order)
        best, best_merit = hertz[..., 0], merit[..., 0]
        width = 2 * set_.smoothing + 1
        average = torch.nn.functional.avg_pool1d(
            (best > 0).to(best)[:, None], width, 1, padding=width // 2, count_include_pad=False
        )[:, 0]
        likely = (0.5 * energy).clamp_max(1.0) * average
        smooth = median(best, set_.smoothing) * (energy > set_.voiced_energy)
        quiet = energy <= set_.unvoiced_energy
        lacks = ~quiet & (best == 0)
        silence = torch.where(lacks, 1.0 - likely, 1.0 - best_merit)
        silence = torch.where(quiet, set_.pivot, silence)
        hertz[..., 0] = torch.where(lacks, rough, best)
        merit[..., 0] = torch.where(lacks, likely, best_merit)
        possible = (hertz > 0) & ~quiet[..., None]
        hertz, merit = torch.where(possible, hertz, 0.0), torch.where(possible, merit, 0.0)
        of_smooth = torch.where(smooth > 0, best_merit, 1.0 - likely)
        hertz = torch.stack([*hertz.unbind(-1), smooth, rough, torch.zeros_like(best)], -1)
        merit = torch.stack([*merit.unbind(-1), of_smooth, energy / 5.0, silence], -1)
        merit = merit.clamp_max(1.0)

        voiced = hertz > 0
        number = (smooth > 0).sum(1).clamp_min(1)
        mean = (smooth.sum(1) / number).clamp_min(set_.lowest)[:, None, None, None]
        was, now = voiced[:, :-1, :, None], voiced[:, 1:, None, :]
        step = (hertz[:, :-1, :, None] - hertz[:, 1:, None, :]).abs() / mean
        jump = (energy[:, 1:] - energy[:, :-1]).abs().clamp_max(1.0)[..., None, None]
        change = torch.where(was & now, set_.voiced_change * step, set_.unvoiced)
        change = torch.where(was ^ now, set_.onset * (1.0 - jump), change)
        path = best_path(set_.local * (1.0 - merit), change)[..., None]
        return hertz.gather(-1, path)[..., 0], merit.gather(-1, path)[..., 0]
