"""HuBERT-soft: soft speech units, the distribution over discrete units before quantisation.

van Niekerk et al., "A comparison of discrete and soft speech units for improved voice conversion",
ICASSP 2022, over HuBERT base of Hsu et al. (TASLP 2021): seven convolutions, a transformer, a
projection (to 256 numbers; 200 in Miao et al., Odyssey 2022) whose cosines with an embedding of
each unit are the logits. Units are k-means clusters of the outputs of HuBERT's seventh layer (van
Niekerk) or its sixth (Miao).

Published checkpoints of the soft encoder hold all twelve layers and project from the twelfth; the
cut after the seventh is that of their units. Miao et al. describe a soft encoder cut after the
sixth. ``layers`` is the number in a checkpoint, or the number that is kept. Parameters bear the
published names.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import gelu, group_norm, normalize, pad

from voicenym.nets.content.content_encoder import Content
from voicenym.nets.masked_batch import valid

KERNELS = (10, 3, 3, 3, 3, 2, 2)
STRIDES = (5, 2, 2, 2, 2, 2, 2)
HOP = 320
EDGE = 40
"""Zeros on either side: windows of 400 samples every 320 then give a frame for every 320."""
TEMPERATURE = 0.1
UNITS_LAYER = 7
"""Layer whose outputs are clustered into units by van Niekerk et al."""


class RecordingNorm(torch.nn.GroupNorm):
    """Normalisation of every channel over a recording, without padding."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels, channels)

    def forward(  # type: ignore[override]
        self, x: torch.Tensor, counts: torch.Tensor | None = None
    ) -> torch.Tensor:
        """``[batch, channel, step]``, of which ``counts`` ``[batch]`` count, to the same."""
        if counts is None:
            return group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
        x = x.float()  # half precision would round the mean, as group_norm does not either
        mask = valid(counts, x.shape[2])[:, None]
        number = counts[:, None, None]
        centred = x - (x * mask).sum(2, keepdim=True) / number
        variance = (centred * mask).square().sum(2, keepdim=True) / number
        return centred * (variance + self.eps).rsqrt() * self.weight[:, None] + self.bias[:, None]


class FeatureExtractor(torch.nn.Module):
    """Feature extractor: seven convolutions, a frame for every 320 samples."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm0 = RecordingNorm(channels)
        for i, (kernel, stride) in enumerate(zip(KERNELS, STRIDES, strict=True)):
            inputs = channels if i else 1
            conv = torch.nn.Conv1d(inputs, channels, kernel, stride, bias=False)
            torch.nn.init.kaiming_normal_(conv.weight)
            self.add_module(f"conv{i}", conv)

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """``[batch, frame * 320]`` to ``[batch, frame, channel]``."""
        x = pad(waveforms, (EDGE, EDGE))[:, None]
        counts = None
        if lengths is not None:
            steps = lengths + 2 * EDGE - KERNELS[0]
            counts = steps.div(STRIDES[0], rounding_mode="floor") + 1
        for i in range(len(KERNELS)):
            x = self.get_submodule(f"conv{i}")(x)
            x = gelu(self.norm0(x, counts) if i == 0 else x)
        return x.transpose(1, 2)


class FeatureProjection(torch.nn.Module):
    """Linear projection to the transformer's width."""

    def __init__(self, channels: int, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(channels)
        self.projection = torch.nn.Linear(channels, width)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.projection(self.norm(x)))


class PositionalEmbedding(torch.nn.Module):
    """Convolutional positional embedding: a wide grouped convolution."""

    def __init__(self, width: int, kernel: int, groups: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=groups)
        deviation = 2.0 / (kernel * width) ** 0.5
        torch.nn.init.normal_(self.conv.weight, 0.0, deviation)
        torch.nn.init.zeros_(self.conv.bias)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, width]`` to the same; an even kernel looks one frame less ahead."""
        found = self.conv(x.transpose(1, 2)).transpose(1, 2)
        return gelu(found[:, : x.shape[1]])


class Transformer(torch.nn.Module):
    """Transformer encoder with post-normalisation."""

    def __init__(self, layers: int, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(
                width, heads, inner, dropout, activation="gelu", batch_first=True
            )
            for _ in range(layers)
        )


class HubertSoft(Content):
    """HuBERT with a projection to soft units.

    Args:
        size: elements of a soft unit.
        units: classes that it was trained to predict.
        layers: of the transformer.
        width, heads, inner: of its vectors, its attention and its feed-forward parts.
        channels: of the convolutions.
        kernel, groups: of the positional convolution.
        dropout: dropout rate in training.

    Raises:
        ValueError: numbers that do not fit.
    """

    kind = "hubert-soft"
    hop = HOP

    def __init__(
        self,
        size: int = 256,
        units: int = 100,
        layers: int = 12,
        width: int = 768,
        heads: int = 12,
        inner: int = 3072,
        channels: int = 512,
        kernel: int = 128,
        groups: int = 16,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if width % heads or width % groups:
            raise ValueError("width must be a multiple of heads and of groups")
        self.size, self.units = size, units
        self._config = {
            "size": size,
            "units": units,
            "layers": layers,
            "width": width,
            "heads": heads,
            "inner": inner,
            "channels": channels,
            "kernel": kernel,
            "groups": groups,
            "dropout": dropout,
        }
        self.feature_extractor = FeatureExtractor(channels)
        self.feature_projection = FeatureProjection(channels, width, dropout)
        self.positional_embedding = PositionalEmbedding(width, kernel, groups)
        self.norm = torch.nn.LayerNorm(width)
        self.dropout = torch.nn.Dropout(dropout)
        self.encoder = Transformer(layers, width, heads, inner, dropout)
        self.proj = torch.nn.Linear(width, size)
        self.masked_spec_embed = torch.nn.Parameter(torch.rand(width))
        self.label_embedding = torch.nn.Embedding(units, size)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        return self.proj(self.hidden(waveforms, lengths))

    def hidden(
        self,
        waveforms: torch.Tensor,
        lengths: torch.Tensor | None = None,
        layer: int | None = None,
        masked: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Hidden states of a layer, ``[batch, frame, width]``.

        Args:
            waveforms, lengths: as of :meth:`encode`.
            layer: 0 for what enters the first; None for the last.
            masked: ``[batch, frame]``, frames replaced by a learned mask vector.

        Raises:
            ValueError: if there is no such layer.
        """
        layers = self.encoder.layers
        layer = len(layers) if layer is None else layer
        if not 0 <= layer <= len(layers):
            raise ValueError(f"no layer {layer}: there are {len(layers)}")
        x = self.feature_projection(self.feature_extractor(waveforms, lengths))
        if masked is not None:
            x = torch.where(masked[:, :, None], self.masked_spec_embed.to(x), x)
        behind = None
        if lengths is not None:
            behind = ~valid(lengths.div(HOP, rounding_mode="floor"), x.shape[1])
            x = x.masked_fill(behind[:, :, None], 0.0)
        x = self.dropout(self.norm(x + self.positional_embedding(x)))
        for block in layers[:layer]:
            x = block(x, src_key_padding_mask=behind)
        return x

    def logits(self, soft: torch.Tensor) -> torch.Tensor:
        """Logits ``[..., unit]`` of soft units ``[..., size]``: cosines over 0.1."""
        return normalize(soft, dim=-1) @ normalize(self.label_embedding.weight).T / TEMPERATURE
