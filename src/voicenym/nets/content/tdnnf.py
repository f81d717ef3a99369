"""TDNN-F encoder with a bottleneck layer, the content encoder of baseline B1.

Povey et al., "Semi-orthogonal low-rank matrix factorization for deep neural networks", Interspeech
2018: every convolution is factorised into two: the first maps to a few channels by a matrix that is
kept semi-orthogonal (section 2), the second maps back, with rectifier and batch normalisation, and
is added to 0.66 times the input of the layer (``bypass-scale`` in Kaldi's recipes). Sizes are those
of Kaldi's recipe for LibriSpeech, whose linear layer of 256 before the output is what B1.a and B1.b
synthesise from (Fang et al., SSW 2019; VoicePrivacy 2020).

Deviations: the input is log mel bands with batch normalisation (Kaldi's cepstra are a rotation of
them), without an i-vector, which would carry the speaker; and the network is trained by CTC
(:mod:`voicenym.nets.words.ctc_networks.tdnnf_ctc`) with one layer between bottleneck and output,
instead of lattice-free MMI over triphones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.nn.functional import pad

from voicenym.dsp.features.mel import filterbank
from voicenym.nets.content.content_encoder import RATE, Content
from voicenym.nets.masked_batch import MaskedBatchNorm, valid

WINDOW, HOP = 400, 160
"""25 ms every 10 ms; frames lie in the middle of their windows."""
FLOOR = 1e-7
"""Power added before the logarithm, about the noise of 16-bit samples."""
BYPASS = 0.66
"""Scale of the skip connection, ``bypass-scale`` in Kaldi's recipes."""
STRIDES = (1, 1, 1, 0, *(3,) * 12)
"""Context in frames, back and ahead, of the layers after the first: Kaldi's recipe for LibriSpeech.
"""


@dataclass(frozen=True)
class TdnnFConfig:
    """Sizes of a TDNN-F.

    Args:
        size: of the bottleneck.
        bands: of the mel spectrum.
        width: channels of layers.
        narrow: channels between the two halves of a layer.
        strides: frames that each layer looks back, and ahead.
        every: frames of 10 ms for one of the bottleneck: from the first layer without context on,
            layers see every so many-th frame, and their strides count those. Kaldi's recipe does
            this by 3 (``frame-subsampling-factor``) while it trains.
        dropout: share of channels that is left out of whole recordings while training.
        language: of the speech that it learns from, as a code such as ``en``; empty if unknown.
    """

    size: int = 256
    bands: int = 40
    width: int = 1536
    narrow: int = 160
    strides: Sequence[int] = STRIDES
    dropout: float = 0.1
    every: int = 1
    language: str = ""

    def __post_init__(self) -> None:
        if self.every < 1 or (self.every > 1 and 0 not in self.strides):
            raise ValueError("every is 1 at least; above 1, one of the strides is 0")
        if min(self.strides, default=0) < 0 or self.narrow > self.width:
            raise ValueError("strides must not be negative, and narrow not exceed width")
        object.__setattr__(self, "strides", tuple(self.strides))


class SemiOrthogonal(torch.nn.Conv1d):
    """Convolution without bias, initialised and kept semi-orthogonal.

    Its matrix has a row for every output channel and a column for every tap of every input channel.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, dilation=dilation, bias=False)

    @torch.no_grad()
    def constrain(self) -> None:
        """Update toward a scaled semi-orthogonal matrix.

        Section 2.3, with 4 nu / alpha^2 = 1 / (2 alpha^2), as Kaldi takes it after every fourth
        step of training: ``M <- M - (P - alpha^2 I) M / (2 alpha^2)``, where ``P = M M'`` and
        ``alpha^2 = tr(P P') / tr(P)``. A matrix with more rows than columns is transposed.
        """
        matrix = self.weight.flatten(1).float()
        tall = matrix.shape[0] > matrix.shape[1]
        if tall:
            matrix = matrix.T
        product = matrix @ matrix.T
        square = product.square().sum() / product.trace()
        if not bool(square > 0.0):
            return
        error = product - square * torch.eye(len(product), device=product.device)
        matrix = matrix - (error @ matrix) / (2.0 * square)
        self.weight.copy_((matrix.T if tall else matrix).reshape(self.weight.shape))

    def error(self) -> float:
        """Distance from semi-orthogonality: the norm of ``P / alpha^2 - I``, by row; 0 if
        orthogonal.
        """
        matrix = self.weight.detach().flatten(1).double()
        if matrix.shape[0] > matrix.shape[1]:
            matrix = matrix.T
        product = matrix @ matrix.T
        square = product.square().sum() / product.trace()
        eye = torch.eye(len(product), dtype=product.dtype, device=product.device)
        return float((product / square - eye).norm() / len(product) ** 0.5)


class Factorised(torch.nn.Module):
    """TDNN-F layer: factorised convolution, back to few channels, ahead to all channels.

    Args:
        config: sizes.
        stride: in frames; 0 for a layer without context.
    """

    def __init__(self, config: TdnnFConfig, stride: int) -> None:
        super().__init__()
        kernel = 2 if stride else 1
        self.stride = stride
        self.narrow = SemiOrthogonal(config.width, config.narrow, kernel, max(1, stride))
        self.widen = torch.nn.Conv1d(config.narrow, config.width, kernel, dilation=max(1, stride))
        self.norm = MaskedBatchNorm(config.width, affine=False)
        self.dropout = config.dropout

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, width]`` to the same shape; padding is zeros."""
        y = self.narrow(pad(x.transpose(1, 2), (self.stride, 0)))
        y = y * mask[:, None]
        y = torch.relu(self.widen(pad(y, (0, self.stride)))).transpose(1, 2)
        y = self.norm(y, mask)
        return BYPASS * x + self._dropped(y)

    def _dropped(self, y: torch.Tensor) -> torch.Tensor:
        """Continuous dropout, factors 1 - 2p to 1 + 2p, one draw for a recording
        (``dropout-per-dim-continuous`` in Kaldi's recipes).
        """
        if not self.training or self.dropout == 0.0:
            return y
        draws = torch.rand(y.shape[0], 1, y.shape[2], device=y.device, dtype=y.dtype)
        return y * (1.0 + self.dropout * (4.0 * draws - 2.0))


class TdnnF(Content):
    """TDNN-F encoder: waveforms to bottleneck features, a frame every 10 ms or a multiple; streams.

    Args:
        options: of :class:`TdnnFConfig`.

    Raises:
        TypeError, ValueError: unknown or inconsistent options.
    """

    kind = "tdnnf"
    hop = HOP
    bank: torch.Tensor
    window: torch.Tensor

    def __init__(self, **options: Any) -> None:
        super().__init__()
        config = TdnnFConfig(**options)
        self.size, self.language = config.size, config.language
        self.sizes = config
        self.hop = HOP * config.every
        self._sparse_from = config.strides.index(0) if config.every > 1 else len(config.strides)
        early, late = config.strides[: self._sparse_from], config.strides[self._sparse_from :]
        reach = 1 + sum(early) + config.every * sum(late)
        self.reach = HOP * reach + (WINDOW - HOP) // 2
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        bank = filterbank(RATE, WINDOW, config.bands, 20.0, RATE / 2 - 400.0)
        self.register_buffer("bank", bank, persistent=False)
        self.input_norm = MaskedBatchNorm(config.bands, affine=False)
        self.first = torch.nn.Conv1d(config.bands, config.width, 3)
        self.first_norm = MaskedBatchNorm(config.width, affine=False)
        self.layers = torch.nn.ModuleList(Factorised(config, s) for s in config.strides)
        self.bottleneck = SemiOrthogonal(config.width, config.size)
        for part in self.constrained():
            torch.nn.init.orthogonal_(part.weight)

    def config(self) -> dict[str, Any]:
        found = {**asdict(self.sizes), "strides": list(self.sizes.strides)}
        return found if self.language else {k: v for k, v in found.items() if k != "language"}

    def constrained(self) -> list[SemiOrthogonal]:
        """Layers whose :meth:`SemiOrthogonal.constrain` the training calls."""
        return [part for part in self.modules() if isinstance(part, SemiOrthogonal)]

    def features(self, waveforms: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Normalised log mel bands ``[batch, frame, band]`` of ``[batch, frame * 160]``.

        Args:
            waveforms: zeros after the end of a shorter one.
            frames: ``[batch]``, number of valid frames; the others are zeros.
        """
        with torch.autocast(waveforms.device.type, enabled=False):
            beside = (WINDOW - HOP) // 2
            pieces = pad(waveforms.float(), (beside, beside)).unfold(1, WINDOW, HOP)
            power = torch.fft.rfft(pieces * self.window).abs().square()
            logs = torch.log(power @ self.bank.T + FLOOR)
            return self.input_norm(logs, valid(frames, logs.shape[1]))

    def through(self, features: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Bottleneck features ``[batch, frame / every, size]`` of input features ``[batch, frame,
        band]``, zeros in the padding; ``frames`` ``[batch]`` are the valid lengths, multiples of
        ``every``, as the number of frames is.
        """
        every = self.sizes.every
        mask = valid(frames, features.shape[1])
        x = pad(features.transpose(1, 2), (1, 1))
        x = self.first_norm(torch.relu(self.first(x)).transpose(1, 2), mask)
        for number, layer in enumerate(self.layers):
            if every > 1 and number == self._sparse_from:
                x = x[:, every // 2 :: every]
                mask = valid(frames // every, x.shape[1])
            x = layer(x, mask)
        return self.bottleneck(x.transpose(1, 2)).transpose(1, 2)

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is None:
            lengths = torch.full((len(waveforms),), waveforms.shape[1], device=waveforms.device)
        frames = lengths.div(HOP, rounding_mode="floor")
        return self.through(self.features(waveforms, frames), frames)
