"""Losses of vocoder training: spectral distances, and adversarial and feature matching losses.

Pure functions. Scores and features come from :mod:`voicenym.nets.synthesis.discriminators`; sums
run over discriminators, means over everything else, as in HiFi-GAN (Kong et al. 2020, equations 1
to 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from voicenym.dsp.features.mel import filterbank

Scores = Sequence[torch.Tensor]
"""One tensor of scores of any shape per discriminator; 1 is real."""
Features = Sequence[Sequence[torch.Tensor]]
"""For every discriminator its layers' outputs."""

RESOLUTIONS = ((1024, 120, 600), (2048, 240, 1200), (512, 50, 240))
"""Points, hop and window in samples, of Parallel WaveGAN (Yamamoto et al. 2020)."""
NSF_RESOLUTIONS = ((512, 80, 320), (128, 40, 80), (2048, 640, 1920))
"""Resolutions of the neural source-filter models at 16 kHz (Wang et al. 2020, table I)."""
LEAST_MAGNITUDE = 1e-7


def discriminator_least_squares(real: Scores, fake: Scores) -> torch.Tensor:
    """Least-squares loss of the discriminator, (1 - D(x))^2 + D(G)^2: Mao et al. 2017, HiFi-GAN's
    equation 1.
    """
    parts = [(1.0 - r).square().mean() + f.square().mean() for r, f in zip(real, fake, strict=True)]
    return torch.stack(parts).sum()


def generator_least_squares(fake: Scores) -> torch.Tensor:
    """Least-squares loss of the generator, (1 - D(G))^2: HiFi-GAN's equation 2."""
    return torch.stack([(1.0 - f).square().mean() for f in fake]).sum()


def discriminator_hinge(real: Scores, fake: Scores) -> torch.Tensor:
    """Hinge loss of the discriminator, max(0, 1 - D(x)) + max(0, 1 + D(G)): Lim and Ye 2017, used
    by Vocos and EnCodec.
    """
    parts = [
        torch.relu(1.0 - r).mean() + torch.relu(1.0 + f).mean()
        for r, f in zip(real, fake, strict=True)
    ]
    return torch.stack(parts).sum()


def generator_hinge(fake: Scores) -> torch.Tensor:
    """Hinge loss of the generator, max(0, 1 - D(G)), as in Vocos and EnCodec."""
    return torch.stack([torch.relu(1.0 - f).mean() for f in fake]).sum()


def feature_matching(real: Features, fake: Features, relative: bool = False) -> torch.Tensor:
    """Feature matching loss: mean absolute difference of every layer, summed; HiFi-GAN's equation
    4.

    Args:
        real, fake: of the same discriminators; no gradient goes to ``real``.
        relative: each divided by the mean absolute value of the real layer, and averaged over
            layers instead of summed (EnCodec, Défossez et al. 2022, equation 3).
    """
    parts = []
    for of_real, of_fake in zip(real, fake, strict=True):
        for r, f in zip(of_real, of_fake, strict=True):
            distance = (r.detach() - f).abs().mean()
            parts.append(distance / r.detach().abs().mean() if relative else distance)
    total = torch.stack(parts)
    return total.mean() if relative else total.sum()


class LogMel(torch.nn.Module):
    """Log-mel spectra of HiFi-GAN: Slaney filterbank on magnitudes, no centring, reflection
    padding.

    Args:
        rate: in Hz.
        fft: points of the transform and of the periodic Hann window.
        hop: in samples.
        bands: number of mels.
        low, high: corners of the filterbank in Hz; ``high`` None for half the rate.
    """

    window: torch.Tensor
    bank: torch.Tensor

    def __init__(
        self,
        rate: int = 16_000,
        fft: int = 1024,
        hop: int = 160,
        bands: int = 80,
        low: float = 0.0,
        high: float | None = None,
    ) -> None:
        super().__init__()
        self.fft, self.hop = fft, hop
        bank = filterbank(rate, fft, bands, low, rate / 2 if high is None else high)
        self.register_buffer("window", torch.hann_window(fft), persistent=False)
        self.register_buffer("bank", bank, persistent=False)

    def forward(self, waveform: torch.Tensor) -> torch.Tensor:
        """Log mels ``[batch, time / hop, band]`` of ``[batch, time]``, longer than half the
        window.
        """
        side = (self.fft - self.hop) // 2
        mirrored = torch.nn.functional.pad(waveform[:, None], (side, side), mode="reflect")
        return self.of_windows(mirrored[:, 0])

    def of_windows(self, waveform: torch.Tensor) -> torch.Tensor:
        """Log mels ``[batch, window, band]`` of the whole windows in ``[batch, time]``."""
        # whatever the network runs in, distances are measured in single precision
        with torch.autocast(waveform.device.type, enabled=False):
            spectra = torch.fft.rfft(waveform.float().unfold(1, self.fft, self.hop) * self.window)
            magnitude = torch.sqrt(torch.view_as_real(spectra).square().sum(-1) + 1e-9)
            return (magnitude @ self.bank.T).clamp_min(1e-5).log()


def mel_distance(real: torch.Tensor, fake: torch.Tensor, mel: LogMel) -> torch.Tensor:
    """Mel loss: mean absolute difference of log mels of ``[batch, time]``; HiFi-GAN's equation 3
    (weight 45 in its sum).
    """
    return (mel(real) - mel(fake)).abs().mean()


def magnitudes(waveform: torch.Tensor, fft: int, hop: int, window: int) -> torch.Tensor:
    """STFT magnitudes ``[batch, bin, frame]`` of ``[batch, time]``, centred Hann frames."""
    hann = torch.hann_window(window, device=waveform.device)
    spectra = torch.stft(waveform.float(), fft, hop, window, hann, return_complex=True)
    power = torch.view_as_real(spectra).square().sum(-1)
    return power.clamp_min(LEAST_MAGNITUDE).sqrt()


def spectral_convergence(real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """Spectral convergence: Frobenius norm of the magnitude difference over that of the real
    magnitudes.
    """
    return torch.linalg.vector_norm(real - fake) / torch.linalg.vector_norm(real)


def log_magnitude_distance(real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """Mean absolute difference of log magnitudes."""
    return (real.log() - fake.log()).abs().mean()


def multi_resolution_stft(
    real: torch.Tensor,
    fake: torch.Tensor,
    resolutions: Sequence[tuple[int, int, int]] = RESOLUTIONS,
) -> torch.Tensor:
    """Multi-resolution STFT loss: spectral convergence and log magnitude distance.

    Yamamoto, Song, Kim, "Parallel WaveGAN", ICASSP 2020, equations 4 to 6.

    Args:
        real, fake: ``[batch, time]``.
        resolutions: points, hop and window of each.
    """
    parts = []
    for fft, hop, window in resolutions:
        r, f = magnitudes(real, fft, hop, window), magnitudes(fake, fft, hop, window)
        parts.append(spectral_convergence(r, f) + log_magnitude_distance(r, f))
    return torch.stack(parts).mean()


def log_spectral_distance(
    real: torch.Tensor,
    fake: torch.Tensor,
    resolutions: Sequence[tuple[int, int, int]] = NSF_RESOLUTIONS,
    floor: float = 1e-5,
) -> torch.Tensor:
    """Log spectral distance: half the mean squared difference of log power, summed over
    resolutions.

    Wang, Takaki, Yamagishi 2020, equation 8, the training loss of NSF models.

    Args:
        real, fake: ``[batch, time]``.
        resolutions: points, hop and window of each.
        floor: added to the power.
    """
    parts = []
    for setting in resolutions:
        r, f = (magnitudes(x, *setting).square() + floor for x in (real, fake))
        parts.append(0.5 * (r.log() - f.log()).square().mean())
    return torch.stack(parts).sum()
