"""Speaker encoder of two branches: log-mel filterbanks, and layers of a frozen speech network.

The strongest published attackers on anonymized speech join an ECAPA-TDNN of filterbanks with the
layers of a self-supervised network or of Whisper's encoder, weighted by learned weights (the
weighted sum is that of Yang et al., "SUPERB", Interspeech 2021; the filterbank branch and the
attentive statistics pooling are those of Desplanques et al., "ECAPA-TDNN", Interspeech 2020).

:meth:`TwoBranch.begin_from` starts from an ECAPA-TDNN: the second branch then adds nothing to its
vectors, until training lets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from voicenym.dsp.features.fbank import Fbank
from voicenym.errors import VoicenymError
from voicenym.nets.speakers.ecapa import BANDS, DILATIONS, AttentivePooling, Block, Ecapa
from voicenym.nets.speakers.frozen_layers import FrozenLayers, frozen_layers
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.tdnn_layers import Conv, Norm, Tdnn, Valid

EVERY = 2
"""Frames of filterbanks for a state of the frozen network."""
SECOND_DILATIONS = (2, 3)


class WeightedLayers(torch.nn.Module):
    """Sum of a frozen network's layers, with learned weights that sum to one.

    Args:
        count: of layers.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(torch.zeros(count))

    @property
    def weights(self) -> torch.Tensor:
        """``[layer]``, positive, with sum one."""
        return self.scores.softmax(0)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """``[batch, layer, state, width]`` to ``[batch, state, width]``."""
        return torch.einsum("l,blsw->bsw", self.weights.to(states.dtype), states)


class TwoBranch(Encoder):
    """The two-branch network.

    Args:
        frozen: kind of the frozen network, one of
            :data:`voicenym.nets.speakers.frozen_layers.SOURCES`.
        place: of its weights: a name of the catalogue, or a folder.
        layers: of the frozen network that are used; 0 is what enters its first layer.
        width: numbers in its states.
        digest: of its weights; empty where they are not known yet.
        channels, size, scale, attention, squeeze: as of
            :class:`~voicenym.nets.speakers.ecapa.Ecapa`.
        second: channels of the second branch.

    Raises:
        ValueError: channels that the scale does not divide, or no layer.
    """

    kind = "two-branch"
    most_samples = 30 * Encoder.RATE

    def __init__(
        self,
        frozen: str = "whisper",
        place: str = "whisper-tiny.en",
        layers: Sequence[int] = (0, 1, 2, 3, 4),
        width: int = 384,
        digest: str = "",
        channels: int = 512,
        size: int = 192,
        scale: int = 8,
        attention: int = 128,
        squeeze: int = 128,
        second: int = 256,
    ) -> None:
        super().__init__()
        if channels % scale or second % scale:
            raise ValueError(f"{channels} and {second} channels: multiples of the scale {scale}")
        if not layers:
            raise ValueError("name one layer at least")
        self.size, self.frozen, self.place, self.width = size, frozen, place, width
        self.layers, self.digest = tuple(int(layer) for layer in layers), digest
        self._config = {
            "channels": channels,
            "size": size,
            "scale": scale,
            "attention": attention,
            "squeeze": squeeze,
            "second": second,
        }
        self.fbank = Fbank(BANDS)
        blocks = [Block(channels, scale, squeeze, dilation) for dilation in DILATIONS]
        self.blocks = torch.nn.ModuleList([Tdnn(BANDS, channels, 5), *blocks])
        self.first = len(DILATIONS) * channels
        self.mfa = Tdnn(self.first, self.first)
        self.weighted = WeightedLayers(len(self.layers))
        blocks = [Block(second, scale, squeeze, dilation) for dilation in SECOND_DILATIONS]
        self.second_blocks = torch.nn.ModuleList([Tdnn(width, second, 3), *blocks])
        self.second = len(SECOND_DILATIONS) * second
        self.second_mfa = Tdnn(self.second, self.second)
        joined = self.first + self.second
        self.asp = AttentivePooling(joined, attention)
        self.asp_bn = Norm(2 * joined)
        self.fc = Conv(2 * joined, size)

    def config(self) -> dict[str, Any]:
        return {
            "frozen": self.frozen,
            "place": self.place,
            "layers": list(self.layers),
            "width": self.width,
            "digest": self.digest,
            **self._config,
        }

    def source(self) -> FrozenLayers:
        """The frozen network, whose weights are read when they are first needed.

        Raises:
            DependencyError, VoicenymError: as
                :func:`voicenym.nets.speakers.frozen_layers.frozen_layers`, and where its states
                have another width, or its weights another digest, than those trained with.
        """
        found = frozen_layers(self.frozen, self.place)
        if found.width != self.width:
            raise VoicenymError(
                f"{self.place}: states of {found.width} numbers, not {self.width}; give width, or "
                "another frozen network"
            )
        if self.digest and found.digest != self.digest:
            raise VoicenymError(
                f"{self.place}: other weights than those that this verifier was trained with "
                f"({found.digest}, not {self.digest}); give those, or train it anew"
            )
        self.digest = found.digest
        return found

    def streams(self, waveforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs of both branches, of waveforms ``[batch, time]`` of one length at 16 kHz.

        Returns:
            Filterbanks ``[batch, frame, 80]`` in dB, ``1 + time / 160`` frames; and frozen states
            ``[batch, layer, ceil(frame / 2), width]``.
        """
        fbank = self.fbank(waveforms)
        states = self.source()(waveforms, self.layers)
        short = -(-fbank.shape[1] // EVERY) - states.shape[2]
        if short > 0:  # the frame centred on the end
            states = torch.cat([states, states[:, :, -1:].expand(-1, -1, short, -1)], dim=2)
        return fbank, states

    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Both inputs ``[batch, frame, 80 + layer * width]``; each state stands for two frames."""
        rows = [waveforms] if lengths is None else []
        if lengths is not None:  # padding would change what attention finds
            rows = [row[None, : int(n)] for row, n in zip(waveforms, lengths, strict=True)]
        found = []
        for some in rows:
            fbank, states = self.streams(some)
            states = states.permute(0, 2, 1, 3).flatten(2).repeat_interleave(EVERY, dim=1)
            found.append(torch.cat([fbank, states[:, : fbank.shape[1]]], dim=2))
        if lengths is None:
            return found[0]
        return torch.nn.utils.rnn.pad_sequence([one[0] for one in found], batch_first=True)

    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        fbank, states = features.split([BANDS, len(self.layers) * self.width], dim=2)
        states = states[:, ::EVERY].unflatten(2, (len(self.layers), self.width))
        return self.join(fbank, states.transpose(1, 2), lengths)

    def join(
        self, fbank: torch.Tensor, states: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Vectors ``[batch, size]`` of both inputs.

        Args:
            fbank: ``[batch, frame, 80]``.
            states: ``[batch, layer, ceil(frame / 2), width]``.
            lengths: ``[batch]`` in frames of the filterbanks; None where all are whole.
        """
        valid = Valid(lengths, fbank)
        first = self.mfa(_through(self.blocks, fbank - valid.mean(fbank), valid))
        mixed = self.weighted(states)
        halved = None if lengths is None else (lengths + EVERY - 1) // EVERY
        sparse = Valid(halved, mixed)
        second = self.second_mfa(_through(self.second_blocks, mixed - sparse.mean(mixed), sparse))
        second = second.repeat_interleave(EVERY, dim=1)[:, : first.shape[1]]
        pooled = self.asp(torch.cat([first, second], dim=2), valid)
        return self.fc(self.asp_bn(pooled)).squeeze(1)

    @torch.no_grad()
    def begin_from(self, ecapa: Ecapa) -> None:
        """Take the weights of an ECAPA-TDNN of the same sizes.

        The vectors are then those of the ECAPA-TDNN: no weight leads from the second branch to
        them. Those weights are zero and not frozen, so that training finds them.

        Raises:
            VoicenymError: other sizes.
        """
        own, other = self.state_dict(), ecapa.state_dict()
        shared = {n: v for n, v in other.items() if n.startswith(("blocks.", "mfa."))}
        sizes = ecapa.config()
        if any(self._config[name] != value for name, value in sizes.items()):
            raise VoicenymError(f"an ECAPA-TDNN of other sizes, {sizes}; give options like these")
        own.update(shared)
        first, second = self.first, self.second
        attention = other["asp.tdnn.conv.conv.weight"]
        nothing = attention.new_zeros(len(attention), second, 1)
        parts = [torch.cat([part, nothing], dim=1) for part in attention.split(first, dim=1)]
        own["asp.tdnn.conv.conv.weight"] = torch.cat(parts, dim=1)
        for name in ("asp.tdnn.conv.conv.bias", "fc.conv.bias"):
            own[name] = other[name]
        own.update({n: v for n, v in other.items() if n.startswith("asp.tdnn.norm.")})
        for name in ("asp.conv.conv.weight", "asp.conv.conv.bias"):
            own[name] = torch.cat([other[name], own[name][first:]])
        for name in ("weight", "bias", "running_mean", "running_var"):
            full = f"asp_bn.norm.{name}"
            pieces = zip(other[full].split(first), _halves(own[full], first, second), strict=True)
            own[full] = torch.cat([torch.cat(pair) for pair in pieces])
        own["asp_bn.norm.num_batches_tracked"] = other["asp_bn.norm.num_batches_tracked"]
        weight = other["fc.conv.weight"]
        nothing = weight.new_zeros(len(weight), second, 1)
        parts = [torch.cat([part, nothing], dim=1) for part in weight.split(first, dim=1)]
        own["fc.conv.weight"] = torch.cat(parts, dim=1)
        self.load_state_dict(own)


def _through(blocks: torch.nn.ModuleList, values: torch.Tensor, valid: Valid) -> torch.Tensor:
    """Outputs of all blocks but the first, side by side."""
    values = blocks[0](values, valid)
    layers = []
    for block in blocks[1:]:
        values = block(values, valid)
        layers.append(values)
    return torch.cat(layers, dim=2)


def _halves(values: torch.Tensor, first: int, second: int) -> list[torch.Tensor]:
    """The second part of the means and that of the deviations, of ``[2 * (first + second)]``."""
    return [part[first:] for part in values.split(first + second)]
