"""Conformer encoder with a CTC output layer.

Gulati et al., "Conformer: convolution-augmented transformer for speech recognition", Interspeech
2020, arXiv 2005.08100: convolutional subsampling by 4 (section 2), blocks of half a feed-forward
part, self-attention with relative positions (Dai et al. 2019, Transformer-XL), a convolution part,
half a feed-forward part and layer normalisation (equation 1). The paper's decoder, a transducer's
LSTM, is not here: a linear layer gives CTC's scores of tokens (Graves et al. 2006).

Choices and deviations: mel bands are normalised to mean 0 and deviation 1 within each recording;
batch normalisation ignores padding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.nn import functional

from voicenym.nets.masked_batch import MaskedBatchNorm, valid
from voicenym.nets.words.log_mel import mels, normalised


@dataclass(frozen=True)
class ConformerConfig:
    """Sizes of a Conformer.

    Args:
        tokens: of the output, CTC's blank included.
        size: of vectors within the encoder.
        layers: blocks.
        heads: of self-attention.
        kernel: frames that a block's convolution spans, odd.
        channels: of the subsampling convolutions; the paper has ``size``.
        bands: of the mel spectrum.
        expansion: of feed-forward parts.
        dropout: dropout rate in training.
    """

    tokens: int
    size: int = 96
    layers: int = 6
    heads: int = 4
    kernel: int = 15
    channels: int = 32
    bands: int = 80
    expansion: int = 4
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.size % self.heads or self.size % 2 or self.kernel % 2 == 0:
            raise ValueError("size must be even and a multiple of heads, and kernel odd")


SIZES: dict[str, dict[str, int]] = {
    "laptop": {"size": 96, "layers": 6, "heads": 4, "kernel": 15, "channels": 32},
    "small": {"size": 144, "layers": 16, "heads": 4, "kernel": 31, "channels": 144},
    "medium": {"size": 256, "layers": 16, "heads": 4, "kernel": 31, "channels": 256},
}
"""Sizes by name. ``small`` and ``medium`` are the encoders of the paper's (S) and (M); their
kernels have 31 taps instead of 32, so that frames have a centre.
"""


class Conformer(torch.nn.Module):
    """Conformer: CTC logits of recordings, a frame every 40 ms.

    Args:
        config: sizes.

    Example:
        >>> net = Conformer(ConformerConfig(tokens=29, size=16, layers=1)).eval()
        >>> logits, frames = net(torch.zeros(2, 16_000), torch.tensor([16_000, 8_000]))
        >>> list(logits.shape), frames.tolist()
        ([2, 26, 29], [26, 13])
    """

    def __init__(self, config: ConformerConfig) -> None:
        super().__init__()
        self.config = config
        size = config.size
        self.mel = mels(config.bands)
        self.subsampling = Subsampling(config.bands, config.channels, size)
        self.dropout = torch.nn.Dropout(config.dropout)
        self.blocks = torch.nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.output = torch.nn.Linear(size, config.tokens)

    def features(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Normalised log mel frames, zeros after each recording.

        Args:
            samples: ``[batch, time]`` at 16 kHz, zeros behind each recording.
            lengths: ``[batch]`` in samples.

        Returns:
            ``[batch, frame, band]`` and frames ``[batch]``.
        """
        return normalised(self.mel, samples, lengths)

    def logits(
        self, features: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame / 4, token]`` of :meth:`features`, and numbers of frames
        ``[batch]``.
        """
        x, frames = self.subsampling(features, frames)
        mask = valid(frames, x.shape[1])
        x = self.dropout(x)
        places = relative_positions(x.shape[1], x.shape[2]).to(x)
        for block in self.blocks:
            x = block(x, mask, places)
        return self.output(x), frames

    def forward(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame, token]`` of recordings, and numbers of frames ``[batch]``."""
        return self.logits(*self.features(samples, lengths))


class Subsampling(torch.nn.Module):
    """Convolutional subsampling by 4: two 3x3 convolutions with a stride of 2, and a projection."""

    def __init__(self, bands: int, channels: int, size: int) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(1, channels, 3, stride=2, padding=1)
        self.second = torch.nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.project = torch.nn.Linear(channels * _half(_half(bands)), size)

    def forward(
        self, features: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``[batch, frame, band]`` to ``[batch, frame / 4, size]``."""
        x = features[:, None]
        for convolution in (self.first, self.second):
            x = torch.relu(convolution(x))
            frames = frames.add(1).div(2, rounding_mode="floor")
            # the next one finds nothing behind a recording's end, as it would were it alone
            x = x * valid(frames, x.shape[2])[:, None, :, None]
        return self.project(x.transpose(1, 2).flatten(2)), frames


class Block(torch.nn.Module):
    """Conformer block: equation 1."""

    def __init__(self, config: ConformerConfig) -> None:
        super().__init__()
        self.before = FeedForward(config.size, config.expansion, config.dropout)
        self.attention = Attention(config.size, config.heads, config.dropout)
        self.convolution = Convolution(config.size, config.kernel, config.dropout)
        self.after = FeedForward(config.size, config.expansion, config.dropout)
        self.norm = torch.nn.LayerNorm(config.size)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, size]`` to the same shape; padding has no effect."""
        x = x + 0.5 * self.before(x)
        x = x + self.attention(x, mask, places)
        x = x + self.convolution(x, mask)
        x = x + 0.5 * self.after(x)
        return self.norm(x)


class FeedForward(torch.nn.Sequential):
    """Feed-forward module: two linear layers with Swish between (figure 4)."""

    def __init__(self, size: int, expansion: int, dropout: float) -> None:
        super().__init__(
            torch.nn.LayerNorm(size),
            torch.nn.Linear(size, expansion * size),
            torch.nn.SiLU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(expansion * size, size),
            torch.nn.Dropout(dropout),
        )


class Convolution(torch.nn.Module):
    """Convolution module: gated pointwise, depthwise, batch normalisation, Swish, pointwise (figure
    2).
    """

    def __init__(self, size: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.before = torch.nn.LayerNorm(size)
        self.widen = torch.nn.Linear(size, 2 * size)
        self.depthwise = torch.nn.Conv1d(size, size, kernel, padding=kernel // 2, groups=size)
        self.norm = MaskedBatchNorm(size)
        self.narrow = torch.nn.Linear(size, size)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = functional.glu(self.widen(self.before(x))) * mask[..., None]
        x = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return self.dropout(self.narrow(functional.silu(self.norm(x, mask))))


class Attention(torch.nn.Module):
    """Self-attention with relative positions (figure 3): Dai et al. (2019), section 3.3."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.rate = heads, dropout
        self.before = torch.nn.LayerNorm(size)
        self.inward = torch.nn.Linear(size, 3 * size)
        self.place = torch.nn.Linear(size, size, bias=False)
        self.content_bias = torch.nn.Parameter(torch.zeros(heads, 1, size // heads))
        self.place_bias = torch.nn.Parameter(torch.zeros(heads, 1, size // heads))
        self.outward = torch.nn.Linear(size, size)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            self._split(part) for part in self.inward(self.before(x)).chunk(3, dim=-1)
        )
        distance = self._split(self.place(places)[None])
        scores = shifted((query + self.place_bias) @ distance.transpose(-2, -1))
        scores = scores / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        found = functional.scaled_dot_product_attention(
            query + self.content_bias,
            key,
            value,
            attn_mask=scores,
            dropout_p=self.rate if self.training else 0.0,
        )
        return self.dropout(self.outward(found.transpose(1, 2).flatten(2)))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, size]`` to ``[batch, head, frame, size / heads]``."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def relative_positions(frames: int, size: int) -> torch.Tensor:
    """Sinusoidal embedding ``[2 frames - 1, size]`` of the distances ``frames - 1`` down to ``1 -
    frames``.

    Vaswani et al. (2017), section 3.5, of distances instead of positions.
    """
    distances = torch.arange(frames - 1, -frames, -1, dtype=torch.float32)[:, None]
    slowness = torch.exp(torch.arange(0, size, 2) * (-math.log(10_000.0) / size))
    angles = distances * slowness
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def shifted(scores: torch.Tensor) -> torch.Tensor:
    """Relative shift: scores by distance ``[..., frame, 2 frames - 1]`` to scores by frame ``[...,
    frame, frame]``.

    Distances descend from ``frames - 1``, so that of row i and column j is at ``frames - 1 - i +
    j``: each row is shifted by one against the row above it. Padding one column and reshaping gives
    this shift.
    """
    *rest, frames, width = scores.shape
    moved = functional.pad(scores, (1, 0)).reshape(*rest, width + 1, frames)
    return moved[..., 1:, :].reshape(*rest, frames, width)[..., :frames]


def _half(count: int) -> int:
    return (count + 1) // 2
