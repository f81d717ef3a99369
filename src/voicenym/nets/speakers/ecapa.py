"""ECAPA-TDNN speaker encoder.

Desplanques, Thienpondt, Demuynck, "ECAPA-TDNN: emphasized channel attention, propagation and
aggregation in TDNN based speaker verification", Interspeech 2020, arXiv 2005.07143. Layers, names
and numbers are those of SpeechBrain's ``spkrec-ecapa-voxceleb``, whose ``embedding_model.ckpt``
is a state dict of :class:`Ecapa` with 1,024 channels.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.dsp.features.fbank import Fbank
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.tdnn_layers import Conv, Norm, Tdnn, Valid, linear, moments

BANDS = 80
AT_ONCE = 256
"""Channels pooled at a time, so that their frames stay in the cache."""
DILATIONS = (2, 3, 4)


class Res2(torch.nn.Module):
    """Res2Net convolution: dilated convolutions over groups of channels, each added to the next
    group's input (section 3.2).
    """

    def __init__(self, channels: int, scale: int, dilation: int) -> None:
        super().__init__()
        width = channels // scale
        self.scale = scale
        self.blocks = torch.nn.ModuleList(Tdnn(width, width, 3, dilation) for _ in range(scale - 1))

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        first, *groups = values.chunk(self.scale, dim=2)
        done = [first]
        for block, group in zip(self.blocks, groups, strict=True):
            done.append(block(group if len(done) == 1 else group + done[-1], valid))
        return torch.cat(done, dim=2)


class Squeeze(torch.nn.Module):
    """Squeeze-and-excitation: channel gains from the mean over the recording."""

    def __init__(self, channels: int, squeeze: int) -> None:
        super().__init__()
        self.conv1 = Conv(channels, squeeze)
        self.conv2 = Conv(squeeze, channels)

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        """Gains ``[batch, 1, channel]`` of ``[batch, frame, channel]``."""
        squeezed = self.conv1(valid.mean(values), after="relu")
        return torch.sigmoid(self.conv2(squeezed))


class Block(torch.nn.Module):
    """SE-Res2Block (figure 2)."""

    def __init__(self, channels: int, scale: int, squeeze: int, dilation: int) -> None:
        super().__init__()
        self.tdnn1 = Tdnn(channels, channels)
        self.res2net_block = Res2(channels, scale, dilation)
        self.tdnn2 = Tdnn(channels, channels)
        self.se_block = Squeeze(channels, squeeze)

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        inner = self.tdnn2(self.res2net_block(self.tdnn1(values), valid))
        return torch.addcmul(values, inner, self.se_block(inner, valid))


class AttentivePooling(torch.nn.Module):
    """Channel- and context-dependent attentive statistics pooling (section 3.1)."""

    def __init__(self, channels: int, attention: int) -> None:
        super().__init__()
        self.channels = channels
        self.tdnn = Tdnn(3 * channels, attention)
        self.conv = Conv(attention, channels)

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        """Weighted mean and deviation ``[batch, 1, 2 channel]`` of ``[batch, frame, channel]``."""
        step = AT_ONCE if values.device.type == "cpu" else self.channels
        parts = [slice(i, i + step) for i in range(0, self.channels, step)]
        found = [moments(values[..., part], valid.weights) for part in parts]
        context = joined(found)
        # Mean and deviation are alike in all frames, so their share of the convolution is
        # computed once instead of once a frame.
        conv = self.tdnn.conv.conv
        own, shared = conv.weight[:, :, 0].split([self.channels, 2 * self.channels], dim=1)
        shared = torch.nn.functional.linear(context, shared, conv.bias)
        hidden = torch.relu(linear(values, own.contiguous(), None) + shared)
        hidden = torch.tanh(self.tdnn.norm(hidden))
        weight, bias = self.conv.conv.weight[:, :, 0], self.conv.conv.bias
        assert bias is not None
        found = []
        for part in parts:
            scores = valid.without_past(linear(hidden, weight[part], bias[part]))
            found.append(moments(values[..., part], scores.softmax(1)))
        return joined(found)


def joined(moments: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """Concatenation of all means, then all deviations, of groups of channels."""
    return torch.cat([some for kind in zip(*moments, strict=True) for some in kind], dim=2)


class Ecapa(Encoder):
    """ECAPA-TDNN network.

    Args:
        channels: of the frame layers; a multiple of ``scale``. Published: 512 and 1,024.
        size: elements of a vector.
        scale: groups of channels in a block.
        attention: channels of the pooling's attention.
        squeeze: channels of the squeezed recording.
    """

    kind = "ecapa"

    def __init__(
        self,
        channels: int = 512,
        size: int = 192,
        scale: int = 8,
        attention: int = 128,
        squeeze: int = 128,
    ) -> None:
        super().__init__()
        if channels % scale:
            raise ValueError(f"{channels} channels are not a multiple of the scale {scale}")
        self.size = size
        self._config = {
            "channels": channels,
            "size": size,
            "scale": scale,
            "attention": attention,
            "squeeze": squeeze,
        }
        self.fbank = Fbank(BANDS)
        blocks = [Block(channels, scale, squeeze, dilation) for dilation in DILATIONS]
        self.blocks = torch.nn.ModuleList([Tdnn(BANDS, channels, 5), *blocks])
        joined = len(DILATIONS) * channels
        self.mfa = Tdnn(joined, joined)
        self.asp = AttentivePooling(joined, attention)
        self.asp_bn = Norm(2 * joined)
        self.fc = Conv(2 * joined, size)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.fbank(waveforms, lengths)

    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        valid = Valid(lengths, features)
        values = self.blocks[0](features - valid.mean(features), valid)
        layers = []
        for block in self.blocks[1:]:
            values = block(values, valid)
            layers.append(values)
        pooled = self.asp(self.mfa(torch.cat(layers, dim=2)), valid)
        return self.fc(self.asp_bn(pooled)).squeeze(1)
