"""Simultaneous masking: the masking threshold of MPEG-1's psychoacoustic model 1.

Spectral masking as in MPEG-1's first psychoacoustic model (ISO/IEC 11172-3, annex D.1; Painter and
Spanias, "Perceptual coding of digital audio", Proc. IEEE 88(4), 2000, section II), with the slopes
that Qin et al. (ICML 2019, appendix A) and after them V-Cloak (Deng et al., USENIX Security 2023,
equation 3) use: tonal and noise maskers are found in each frame, the weak ones left out, each is
spread over the critical bands, and their powers and that of the absolute threshold of hearing add
up. Frames have 2,048 samples, so that the threshold has F = 1,025 bins.

Levels are in dB where the loudest bin of a recording has 96 dB, for want of knowledge how loud it
will be played. Unlike in the code that circulates, a perturbation is scaled as its masker is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch

RATE = 16_000
FFT = 2_048
BINS = FFT // 2 + 1
"""Number of bins, F of V-Cloak's equation 3."""
LOUDEST_DB = 96.0
LEAST_DB = -100.0
"""Level of digital silence."""
TONE_DB = 7.0
"""Least prominence of a tonal masker."""
NEIGHBOURS = ((0.0, (2, 3)), (4_000.0, (2, 3, 4, 5)))
"""Lower frequencies in Hz, and distances in bins at which a tone must be prominent; two bins are
the half width of a tone under a Hann window.
"""
SAME_BARK = 0.5
"""Distance below which only the stronger of two maskers counts."""
TONES = 40
"""Largest number of tonal maskers of a frame, the strongest."""


def bark(hertz: torch.Tensor) -> torch.Tensor:
    """Critical-band rate, 13 atan(0.00076 f) + 3.5 atan((f / 7500)^2) (Zwicker and Terhardt)."""
    return 13.0 * torch.atan(0.00076 * hertz) + 3.5 * torch.atan((hertz / 7_500.0).square())


def hearing_threshold(hertz: torch.Tensor) -> torch.Tensor:
    """Absolute threshold of hearing in dB of sound pressure (Terhardt 1979).

    3.64 k^-0.8 - 6.5 exp(-0.6 (k - 3.3)^2) + 0.001 k^4, k in kHz; 0 Hz counts as 20.
    """
    k = hertz.clamp_min(20.0) / 1_000.0
    return 3.64 * k**-0.8 - 6.5 * torch.exp(-0.6 * (k - 3.3).square()) + 1e-3 * k**4


def tonal_offset(z: torch.Tensor) -> torch.Tensor:
    """Offset in dB from the level of a tonal masker to its threshold in its own band, negative:
    ``-6.025 - 0.275 z``.

    Args:
        z: its place in Bark.
    """
    return -6.025 - 0.275 * z


def noise_offset(z: torch.Tensor) -> torch.Tensor:
    """Offset of noise maskers, which mask better than tonal ones: ``-2.025 - 0.175 z``."""
    return -2.025 - 0.175 * z


@dataclass(frozen=True)
class Maskers:
    """Maskers of a frame: ``[..., masker]`` each.

    Args:
        bins: where, as whole bins of the transform.
        levels: in dB; :data:`LEAST_DB` where there is none.
        tonal: whether a tone.
    """

    bins: torch.Tensor
    levels: torch.Tensor
    tonal: torch.Tensor


class Masking(torch.nn.Module):
    """Masking thresholds of recordings, and the excess of perturbations over them.

    Args:
        hop: samples from frame to frame.

    Example:
        >>> masking = Masking()
        >>> speech = torch.randn(1, 16_000)
        >>> threshold, scale = masking.threshold(speech)
        >>> threshold.shape
        torch.Size([1, 28, 1025])
        >>> bool(masking.excess(1e-6 * speech, threshold, scale) == 0)
        True
    """

    window: torch.Tensor
    _bark: torch.Tensor
    _quiet: torch.Tensor
    _bands: torch.Tensor
    _middles: torch.Tensor
    _widths: torch.Tensor

    def __init__(self, hop: int = 512) -> None:
        super().__init__()
        self.hop = hop
        hertz = torch.arange(BINS, dtype=torch.float64) * RATE / FFT
        z = bark(hertz)
        bands = torch.zeros(int(z[-1]) + 1, BINS)
        bands[z.long(), torch.arange(BINS)] = 1.0
        places = torch.arange(BINS, dtype=torch.float64).clamp_min(1.0).log()
        middles = [places[band.bool()].mean().exp().round().long() for band in bands]
        self.register_buffer("window", torch.hann_window(FFT), persistent=False)
        self.register_buffer("_bark", z.float(), persistent=False)
        self.register_buffer("_quiet", hearing_threshold(hertz).float(), persistent=False)
        self.register_buffer("_bands", bands.T.contiguous(), persistent=False)
        self.register_buffer("_middles", torch.stack(middles), persistent=False)
        slope = torch.gradient(z)[0]  # Bark per bin
        self.register_buffer("_widths", decibels(1.0 / slope).float(), persistent=False)

    def power(self, signal: torch.Tensor) -> torch.Tensor:
        """``[..., time]`` to power spectra ``[..., frame, 1025]``: a full-scale sine's peak is 1/6.

        A signal that is shorter than a frame is followed by zeros; samples at the end that fill no
        frame are left out.
        """
        missing = max(0, FFT - signal.shape[-1])
        frames = torch.nn.functional.pad(signal, (0, missing)).unfold(-1, FFT, self.hop)
        spectra = torch.fft.rfft(frames * self.window)
        return (spectra.real.square() + spectra.imag.square()) * (8.0 / 3.0 / FFT**2)

    def threshold(self, masker: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Masking thresholds of recordings; no gradient.

        Args:
            masker: ``[batch, time]`` at 16 kHz.

        Returns:
            Threshold powers ``[batch, frame, 1025]``, and scales ``[batch]``: the threshold's unit
            for a value of 1 of :meth:`power`. The threshold of a silent recording is the absolute
            threshold of hearing, with a full-scale sine at 96 dB.
        """
        with torch.no_grad():
            power = self.power(masker)
            loudest = power.amax((-2, -1))
            loudest = torch.where(loudest > 1e-12, loudest, torch.full_like(loudest, 1.0 / 6.0))
            scale = 10.0 ** (LOUDEST_DB / 10.0) / loudest
            levels = decibels(power * scale[..., None, None])
            return self.spread(self.maskers(levels)), scale

    def maskers(self, levels: torch.Tensor) -> Maskers:
        """Maskers in spectra in dB, ``[..., 1025]``.

        A tone is a local maximum that stands out of the bins around it; its level is that of its
        three bins. The power that is no tone's makes a noise in each critical band, at the
        geometric mean of its bins. Maskers below the absolute threshold of hearing, and those near
        a stronger one of their kind, are discarded.
        """
        tones, taken = self._tones(levels)
        strongest = tones.topk(min(TONES, BINS), dim=-1)
        places, heights = strongest.indices, strongest.values
        heights = self._alone(places, heights)
        rest = torch.where(taken, 0.0, 10.0 ** (levels / 10.0))
        noise = decibels(rest @ self._bands)
        middles = self._middles.expand(noise.shape)
        noise = torch.where(noise > self._quiet[middles], noise, LEAST_DB)
        return Maskers(
            torch.cat([places, middles], dim=-1),
            torch.cat([heights, noise], dim=-1),
            torch.cat([torch.ones_like(places), torch.zeros_like(middles)], dim=-1).bool(),
        )

    def spread(self, maskers: Maskers) -> torch.Tensor:
        """Masked powers ``[..., 1025]`` of maskers ``[..., masker]`` and the absolute threshold of
        hearing.

        A noise masks a level within a critical band, which the masked sound may fill: a bin gets
        its share of it. Model 1's bins are about as wide as its bands are, and need none.
        """
        z = self._bark[maskers.bins]
        offset = torch.where(maskers.tonal, tonal_offset(z), noise_offset(z))
        distance = self._bark - z[..., None]
        # below: 27; above: a slope by the level. Both slopes fall, so the larger one counts
        above = (0.37 * (maskers.levels - 40.0).clamp_min(0.0) - 27.0)[..., None]
        attenuation = torch.minimum(27.0 * distance, above * distance)
        attenuation = attenuation - torch.where(maskers.tonal[..., None], 0.0, self._widths)
        hidden = torch.exp2(
            (attenuation + (maskers.levels + offset)[..., None]) * (math.log2(10.0) / 10)
        )
        there = (maskers.levels > LEAST_DB)[..., None, :].to(hidden.dtype)
        return (there @ hidden).squeeze(-2) + 10.0 ** (self._quiet / 10.0)

    def excess(
        self,
        perturbation: torch.Tensor,
        threshold: torch.Tensor,
        scale: torch.Tensor,
        unit: str = "decibel",
    ) -> torch.Tensor:
        """Excess of a perturbation over the masking threshold, differentiable: ``[batch]``.

        (1 / F) max{0, PSD(x~ - x) - M(x)} of V-Cloak's equation 3, over frames and bins.

        Args:
            perturbation: ``[batch, time]``, as long as the signal of the threshold.
            threshold, scale: of :meth:`threshold`.
            unit: ``decibel``, as the paper says (log-magnitude), or ``power``, as its weights and
                Qin et al. want it.

        Raises:
            ValueError: another unit.
        """
        power = self.power(perturbation) * scale[..., None, None]
        if unit == "power":
            return (power - threshold).clamp_min(0.0).mean((-2, -1))
        if unit == "decibel":
            return (decibels(power) - decibels(threshold)).clamp_min(0.0).mean((-2, -1))
        raise ValueError(f"unit is decibel or power, not {unit!r}")

    def _tones(self, levels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Levels of tonal maskers at their bins, and a mask of the bins they occupy: both ``[...,
        1025]``.
        """
        peak = torch.zeros_like(levels, dtype=torch.bool)
        inner = levels[..., 1:-1]
        peak[..., 1:-1] = (inner > levels[..., :-2]) & (inner >= levels[..., 2:])
        borders = [*(round(start * FFT / RATE) for start, _ in NEIGHBOURS), BINS]
        for (first, last), (_, distances) in zip(pairwise(borders), NEIGHBOURS, strict=True):
            for distance in distances:
                for side in (-distance, distance):
                    low, high = max(first, -side, 0), min(last, BINS - max(0, side))
                    neighbours = levels[..., low + side : high + side]
                    peak[..., low:high] &= levels[..., low:high] >= neighbours + TONE_DB
        power = 10.0 ** (levels / 10.0)
        three = torch.nn.functional.pad(power, (1, 1)).unfold(-1, 3, 1).sum(-1)
        tones = torch.where(peak, decibels(three), LEAST_DB)
        taken = peak.clone()
        reach = max(distances[-1] for _, distances in NEIGHBOURS[:1])
        for distance in range(1, reach + 1):
            taken[..., distance:] |= peak[..., :-distance]
            taken[..., :-distance] |= peak[..., distance:]
        return tones, taken

    def _alone(self, places: torch.Tensor, heights: torch.Tensor) -> torch.Tensor:
        """Levels of tonal maskers, strongest first; discarded ones have the lowest level."""
        heights = torch.where(heights > self._quiet[places], heights, LEAST_DB)
        z = self._bark[places]
        near = (z[..., :, None] - z[..., None, :]).abs() < SAME_BARK
        stronger = torch.ones(z.shape[-1], z.shape[-1], device=z.device).tril(-1).bool()
        beaten = near & stronger & (heights > LEAST_DB)[..., None, :]
        return torch.where(beaten.any(-1), LEAST_DB, heights)


def decibels(power: torch.Tensor) -> torch.Tensor:
    """Power in dB, 10 log10, at least :data:`LEAST_DB`."""
    return 10.0 * power.clamp_min(10.0 ** (LEAST_DB / 10.0)).log10()
