"""x-vector network: time-delay layers, statistics pooling, and a projection.

Snyder, Garcia-Romero, Sell, Povey, Khudanpur, "X-vectors: robust DNN embeddings for speaker
recognition", ICASSP 2018, in the form of SpeechBrain's ``spkrec-xvect-voxceleb``: 24 filterbank
energies, leaky rectifiers before batch normalisation. Its ``embedding_model.ckpt`` is a state dict
of :class:`XVector`. That implementation adds random noise, of 1e-5 to 9e-5, to the means it pools,
so that its vectors of one recording differ; here there is none.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.dsp.features.fbank import Fbank
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.tdnn_layers import Conv, Norm, Valid, weighted_mean

BANDS = 24
KERNELS = (5, 3, 3, 1, 1)
DILATIONS = (1, 2, 3, 1, 1)
LEAST_DEVIATION = 1e-5
"""Added to deviations."""


class Leaky(torch.nn.Module):
    """Placeholder for a rectifier of the published layout, which the convolution before it
    applies.
    """

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values


class Statistics(torch.nn.Module):
    """Statistics pooling: mean and deviation over valid frames."""

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        """Statistics ``[batch, 1, 2 channel]`` of ``[batch, frame, channel]``."""
        mean = valid.mean(values)
        frames = values.shape[1] if valid.lengths is None else valid.lengths[:, None, None]
        variance = weighted_mean((values - mean).square(), valid.weights) * (frames / (frames - 1))
        # The gradient of a root at zero is infinite; the floor is far below rounding of the sum.
        deviation = variance.clamp_min(LEAST_DEVIATION**4).sqrt()
        return torch.cat([mean, deviation + LEAST_DEVIATION], dim=2)


class Projection(torch.nn.Module):
    """Linear layer under its published name."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.w = torch.nn.Linear(inputs, outputs)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.w(values)


class XVector(Encoder):
    """The x-vector network.

    Args:
        channels: of the first four layers.
        pooled: channels of the fifth layer, the input of the pooling.
        size: elements of a vector.
    """

    kind = "xvector"

    def __init__(self, channels: int = 512, pooled: int = 1_500, size: int = 512) -> None:
        super().__init__()
        self.size = size
        self._config = {"channels": channels, "pooled": pooled, "size": size}
        self.fbank = Fbank(BANDS)
        widths = [BANDS, channels, channels, channels, channels, pooled]
        layers: list[torch.nn.Module] = []
        for layer, (kernel, dilation) in enumerate(zip(KERNELS, DILATIONS, strict=True)):
            conv = Conv(widths[layer], widths[layer + 1], kernel, dilation)
            layers += [conv, Leaky(), Norm(widths[layer + 1])]
        self.blocks = torch.nn.ModuleList([*layers, Statistics(), Projection(2 * pooled, size)])

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.fbank(waveforms, lengths)

    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        valid = Valid(lengths, features)
        values = features - valid.mean(features)
        for layer in self.blocks:
            if isinstance(layer, Conv):
                values = layer(values, valid, "leaky_relu")
            elif isinstance(layer, Statistics):
                values = layer(values, valid)
            else:
                values = layer(values)
        return values.squeeze(1)
