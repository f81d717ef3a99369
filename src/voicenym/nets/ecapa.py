"""ECAPA-TDNN: the speaker encoder of most verifiers and resynthesis systems today.

Desplanques, Thienpondt, Demuynck, "ECAPA-TDNN: emphasized channel attention, propagation and
aggregation in TDNN based speaker verification", Interspeech 2020, arXiv 2005.07143. Layers, names
and numbers are those of SpeechBrain's ``spkrec-ecapa-voxceleb``, whose ``embedding_model.ckpt``
is a state dict of :class:`Ecapa` with 1,024 channels.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.dsp.fbank import Fbank
from voicenym.nets.encoder import Encoder
from voicenym.nets.tdnn import Conv, Norm, Tdnn, Valid, moments

BANDS = 80
DILATIONS = (2, 3, 4)


class Res2(torch.nn.Module):
    """Dilated convolutions of groups of channels, each hearing the one before it (section 3.2)."""

    def __init__(self, channels: int, scale: int, dilation: int) -> None:
        super().__init__()
        width = channels // scale
        self.scale = scale
        self.blocks = torch.nn.ModuleList(Tdnn(width, width, 3, dilation) for _ in range(scale - 1))

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        first, *groups = values.chunk(self.scale, dim=1)
        done = [first]
        for block, group in zip(self.blocks, groups, strict=True):
            done.append(block(group if len(done) == 1 else group + done[-1], valid))
        return torch.cat(done, dim=1)


class Squeeze(torch.nn.Module):
    """Channels weighed by what the whole recording holds (squeeze and excitation)."""

    def __init__(self, channels: int, squeeze: int) -> None:
        super().__init__()
        self.conv1 = Conv(channels, squeeze)
        self.conv2 = Conv(squeeze, channels)

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        squeezed = torch.relu(self.conv1(valid.mean(values)))
        return values * torch.sigmoid(self.conv2(squeezed))


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
        return values + self.se_block(inner, valid)


class AttentivePooling(torch.nn.Module):
    """Mean and deviation under weights of each channel's own (section 3.1, with the context)."""

    def __init__(self, channels: int, attention: int) -> None:
        super().__init__()
        self.channels = channels
        self.tdnn = Tdnn(3 * channels, attention)
        self.conv = Conv(attention, channels)

    def forward(self, values: torch.Tensor, valid: Valid) -> torch.Tensor:
        """``[batch, channel, frame]`` to ``[batch, 2 channel, 1]``."""
        # Mean and deviation are alike in all frames, so their share of the convolution is
        # computed once instead of once a frame.
        conv = self.tdnn.conv.conv
        context = torch.cat(moments(values, valid.weights), dim=1)
        own, shared = conv.weight.split([self.channels, 2 * self.channels], dim=1)
        heard = torch.nn.functional.conv1d(values, own, conv.bias)
        heard = heard + torch.nn.functional.conv1d(context, shared)
        scores = self.conv(torch.tanh(self.tdnn.norm(torch.relu(heard))))
        if valid.past is not None:
            scores = scores.masked_fill(valid.past, -torch.inf)
        return torch.cat(moments(values, scores.softmax(2)), dim=1)


class Ecapa(Encoder):
    """ECAPA-TDNN.

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
        values = features.transpose(1, 2)
        valid = Valid(lengths, values)
        values = self.blocks[0](values - valid.mean(values), valid)
        layers = []
        for block in self.blocks[1:]:
            values = block(values, valid)
            layers.append(values)
        pooled = self.asp(self.mfa(torch.cat(layers, dim=1)), valid)
        return self.fc(self.asp_bn(pooled)).squeeze(2)
