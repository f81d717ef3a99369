"""Short-time spectral envelopes and filters made from them."""

from __future__ import annotations

import torch

from voicenym.dsp.complex_exponential import exponential

FLOOR = 1e-5
"""Magnitude (relative to the frame's largest) below which a spectrum counts as empty: -100 dB."""
QUEFRENCY = 0.0018
"""Seconds of cepstrum of an envelope: formants, but no harmonics below 550 Hz."""
MAX_GAIN = 6.0
"""Largest log-gain of an envelope filter (52 dB), up or down."""


def log_magnitude(spectrum: torch.Tensor) -> torch.Tensor:
    """Natural log of the magnitude of ``[..., bin]``, floored relative to each frame's maximum."""
    size = spectrum.abs()
    floor = size.amax(-1, keepdim=True).mul_(FLOOR).add_(1e-20)
    return torch.maximum(size, floor, out=size).log_()


def cepstral_envelope(
    log_spectrum: torch.Tensor, coefficients: int, steps: int = 2
) -> torch.Tensor:
    """Cepstrum of the "true envelope", which follows the harmonic peaks.

    Imai and Abe's iteration as described by Röbel and Rodet (DAFx 2005): smooth the spectrum, take
    the larger of the spectrum and its smoothed form, smooth again.

    Args:
        log_spectrum: ``[..., n / 2 + 1]``, natural log of magnitudes.
        coefficients: cepstral coefficients kept (c_0 ... c_(coefficients - 1)).
        steps: iterations of smoothing; 1 gives the ordinary cepstrum.

    Returns:
        ``[..., coefficients]``: the real cepstrum; :func:`log_envelope` gives the envelope back.
    """
    size = 2 * (log_spectrum.shape[-1] - 1)
    target = log_spectrum
    cepstrum = torch.fft.irfft(target, n=size)[..., :coefficients]
    for _ in range(steps - 1):
        target = torch.maximum(log_spectrum, log_envelope(cepstrum, size))
        cepstrum = torch.fft.irfft(target, n=size)[..., :coefficients]
    return cepstrum


def of_spectrum(spectrum: torch.Tensor, coefficients: int) -> torch.Tensor:
    """Log-magnitude envelope of spectra, both ``[..., bin]``; see :func:`cepstral_envelope`."""
    cepstrum = cepstral_envelope(log_magnitude(spectrum), coefficients)
    return log_envelope(cepstrum, 2 * (spectrum.shape[-1] - 1))


def log_envelope(cepstrum: torch.Tensor, size: int) -> torch.Tensor:
    """Log-magnitude envelope ``[..., size / 2 + 1]`` of a real cepstrum ``[..., coefficient]``."""
    # an even real sequence: its spectrum is c_0 + 2 sum_q c_q cos(q w)
    folded = torch.cat([cepstrum[..., :1], 2.0 * cepstrum[..., 1:]], dim=-1)
    return torch.fft.rfft(folded, n=size).real


def warp_bins(values: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Resampling along the frequency axis: S'(k) = S(positions(k)), with linear interpolation.

    Args:
        values: ``[row, frame, bin]``.
        positions: ``[row, bin]``, or ``[row, frame, bin]`` where frames differ; in bins, anywhere;
            outside, the edge's value holds.
    """
    bins = values.shape[-1]
    positions = positions.clamp(0.0, bins - 1.0)
    if positions.ndim == 2:
        positions = positions[:, None]
    lower = positions.floor().long().clamp_max(bins - 2)
    share = positions - lower
    shape = (-1, values.shape[1], -1)
    low = values.gather(2, lower.expand(shape))
    high = values.gather(2, (lower + 1).expand(shape))
    return high.sub_(low).mul_(share).add_(low)


def keep_energy(changed: torch.Tensor, original: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """Scales frames ``[..., time]`` to the energy of the original ones; silence stays silent.

    Args:
        changed, original: frames.
        scale: factor on the result, a power of two.
    """
    energy_in = original.square().sum(-1, keepdim=True)
    energy_out = changed.square().sum(-1, keepdim=True)
    gain = torch.where(energy_out > 0, energy_in / energy_out.clamp_min(1e-30), 0.0).sqrt()
    return changed * gain.mul_(scale)


def minimum_phase(log_envelope: torch.Tensor) -> torch.Tensor:
    """Complex response of the minimum-phase filter of an envelope.

    Args:
        log_envelope: ``[..., bin]``, natural log, from 0 to half the sample rate.

    Returns:
        ``[..., bin]`` complex, by folding the cepstrum onto positive time (Oppenheim and
        Schafer, Discrete-Time Signal Processing, 1989).
    """
    size = 2 * (log_envelope.shape[-1] - 1)
    cepstrum = torch.fft.irfft(log_envelope, n=size)
    middle = size // 2
    folded = torch.cat(
        [cepstrum[..., :1], 2.0 * cepstrum[..., 1:middle], cepstrum[..., middle : middle + 1]],
        dim=-1,
    )
    return exponential(torch.fft.rfft(folded, n=size))
