"""Discriminators of waveforms for adversarial training of vocoders.

- :class:`MultiPeriod`, :class:`MultiScale`: Kong et al., "HiFi-GAN", NeurIPS 2020.
- :class:`MultiSpectral`: on complex spectra as in EnCodec and HiFi-Codec (Défossez et al. 2022,
  Yang et al. 2023), or on magnitudes as in UnivNet and Vocos (Jang et al. 2021, Siuzdak 2024).

Parameters are named as in the published checkpoints (``discriminators.0.convs.0``, ``conv_post``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch.nn.functional import leaky_relu
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

HIFIGAN_SLOPE = 0.1
SPECTRAL_SLOPE = 0.2
PERIODS = (2, 3, 5, 7, 11)
SPECTRA = ((1024, 256), (2048, 512), (512, 128))
"""Points (and window) and hop; EnCodec's. HiFi-Codec adds (256, 64) and (128, 32)."""

Normalization = Callable[[torch.nn.Module], torch.nn.Module]


class DiscriminatorOutput(NamedTuple):
    """Output of one discriminator: score and hidden features."""

    score: torch.Tensor
    """``[batch, ...]``: one score per position; 1 is real."""
    features: list[torch.Tensor]
    """Outputs of its layers, the score included."""


class Discriminator(torch.nn.Module):
    """Convolutional discriminator: layers with rectifiers, and one that gives the score.

    Args:
        convs, conv_post: the layers.
        slope: of the rectifiers below zero.
    """

    def __init__(
        self, convs: Sequence[torch.nn.Module], conv_post: torch.nn.Module, slope: float
    ) -> None:
        super().__init__()
        self.convs = torch.nn.ModuleList(convs)
        self.conv_post = conv_post
        self.slope = slope

    def look(self, waveform: torch.Tensor) -> torch.Tensor:
        """Input of the layers, ``[batch, channel, ...]``, from ``[batch, time]``."""
        return waveform[:, None]

    def forward(self, waveform: torch.Tensor) -> DiscriminatorOutput:
        x = self.look(waveform)
        features = []
        for conv in self.convs:
            x = leaky_relu(conv(x), self.slope)
            features.append(x)
        x = self.conv_post(x)
        features.append(x)
        return DiscriminatorOutput(x.flatten(1), features)


class Several(torch.nn.Module):
    """Ensemble of discriminators.

    Args:
        discriminators: single ones or ensembles.
    """

    def __init__(self, discriminators: Sequence[torch.nn.Module]) -> None:
        super().__init__()
        self.discriminators = torch.nn.ModuleList(discriminators)

    def forward(self, waveform: torch.Tensor) -> list[DiscriminatorOutput]:
        """Outputs of all discriminators for ``[batch, time]``."""
        outputs: list[DiscriminatorOutput] = []
        for discriminator in self.discriminators:
            output = discriminator(waveform)
            outputs.extend([output] if isinstance(output, DiscriminatorOutput) else output)
        return outputs


class Period(Discriminator):
    """Period discriminator: 2-D convolutions over the waveform folded at ``period`` samples.

    Args:
        period: in samples.
        channels: of the layers; all but the last take every third step.
    """

    def __init__(self, period: int, channels: Sequence[int] = (32, 128, 512, 1024, 1024)) -> None:
        widths = [1, *channels]
        convs = [
            weight_norm(
                torch.nn.Conv2d(
                    widths[i],
                    widths[i + 1],
                    (5, 1),
                    (3 if i < len(channels) - 1 else 1, 1),
                    padding=(2, 0),
                )
            )
            for i in range(len(channels))
        ]
        post = weight_norm(torch.nn.Conv2d(widths[-1], 1, (3, 1), padding=(1, 0)))
        super().__init__(convs, post, HIFIGAN_SLOPE)
        self.period = period

    def look(self, waveform: torch.Tensor) -> torch.Tensor:
        missing = -waveform.shape[1] % self.period
        padded = torch.nn.functional.pad(waveform[:, None], (0, missing), mode="reflect")
        return padded.unflatten(2, (-1, self.period))


class MultiPeriod(Several):
    """HiFi-GAN's multi-period discriminator: 41 million parameters at its published width.

    Args:
        periods: in samples; primes, so that the views overlap little.
        channels: of the layers of each.
    """

    def __init__(
        self,
        periods: Sequence[int] = PERIODS,
        channels: Sequence[int] = (32, 128, 512, 1024, 1024),
    ) -> None:
        super().__init__([Period(period, channels) for period in periods])


class Scale(Discriminator):
    """Scale discriminator: the waveform at a rate halved ``halvings`` times by average pooling.

    Args:
        halvings: of the rate.
        width: channels of the first layer; 128 as published.
        norm: of the weights.
    """

    def __init__(self, halvings: int, width: int = 128, norm: Normalization = weight_norm) -> None:
        # inputs, outputs (in widths), kernel, stride, groups
        shape = (
            (1, 1, 41, 2, 4),
            (1, 2, 41, 2, 16),
            (2, 4, 41, 4, 16),
            (4, 8, 41, 4, 16),
            (8, 8, 41, 1, 16),
            (8, 8, 5, 1, 1),
        )
        convs = [norm(torch.nn.Conv1d(1, width, 15, padding=7))]
        convs += [
            norm(torch.nn.Conv1d(i * width, o * width, k, s, padding=k // 2, groups=g))
            for i, o, k, s, g in shape
        ]
        post = norm(torch.nn.Conv1d(8 * width, 1, 3, padding=1))
        super().__init__(convs, post, HIFIGAN_SLOPE)
        self.halvings = halvings

    def look(self, waveform: torch.Tensor) -> torch.Tensor:
        x = waveform[:, None]
        for _ in range(self.halvings):
            x = torch.nn.functional.avg_pool1d(x, 4, 2, padding=2)
        return x


class MultiScale(Several):
    """HiFi-GAN's multi-scale discriminator: 30 million parameters at its published width.

    Args:
        scales: rate, half the rate, and so on.
        width: channels of the first layers, a multiple of 16.
    """

    def __init__(self, scales: int = 3, width: int = 128) -> None:
        super().__init__(
            [Scale(i, width, weight_norm if i else spectral_norm) for i in range(scales)]
        )


class Spectral(Discriminator):
    """Discriminator of an STFT.

    Args:
        fft: points of the transform and of the Hann window.
        hop: in samples.
        width: channels.
        magnitude: input of magnitudes instead of real and imaginary parts; then without dilations.
    """

    window: torch.Tensor

    def __init__(self, fft: int, hop: int, width: int = 32, magnitude: bool = False) -> None:
        dilations = (1, 1, 1) if magnitude else (1, 2, 4)
        convs = [weight_norm(torch.nn.Conv2d(1 if magnitude else 2, width, (3, 9), padding=(1, 4)))]
        convs += [
            weight_norm(
                torch.nn.Conv2d(width, width, (3, 9), (1, 2), padding=(d, 4), dilation=(d, 1))
            )
            for d in dilations
        ]
        convs.append(weight_norm(torch.nn.Conv2d(width, width, (3, 3), padding=1)))
        post = weight_norm(torch.nn.Conv2d(width, 1, (3, 3), padding=1))
        super().__init__(convs, post, SPECTRAL_SLOPE)
        self.fft, self.hop, self.magnitude = fft, hop, magnitude
        self.register_buffer("window", torch.hann_window(fft), persistent=False)

    def look(self, waveform: torch.Tensor) -> torch.Tensor:
        """STFT ``[batch, part, frame, bin]`` of ``[batch, time]``; the window has unit energy."""
        side = (self.fft - self.hop) // 2
        padded = torch.nn.functional.pad(waveform[:, None], (side, side), mode="reflect")[:, 0]
        frames = padded.unfold(1, self.fft, self.hop) * self.window
        spectra = torch.fft.rfft(frames) / torch.linalg.vector_norm(self.window)
        parts = torch.view_as_real(spectra)
        if self.magnitude:
            return (parts.square().sum(-1) + 1e-9).sqrt()[:, None]
        return parts.movedim(-1, 1)


class MultiSpectral(Several):
    """Multi-resolution STFT discriminator.

    Args:
        spectra: points and hop of each.
        width: channels.
        magnitude: see :class:`Spectral`.
    """

    def __init__(
        self,
        spectra: Sequence[tuple[int, int]] = SPECTRA,
        width: int = 32,
        magnitude: bool = False,
    ) -> None:
        super().__init__([Spectral(fft, hop, width, magnitude) for fft, hop in spectra])
