"""Layers of time-delay networks: masked statistics, and convolutions with per-row reflection
padding.

Shorter rows of a batch are padded; the convolutions reflect every row at its own end, so that its
frames do not depend on the batch. The layout is ``[batch, frame, channel]``, because most of the
work is in kernels of one frame, which are matrix products in that order. Names of parameters are
those of SpeechBrain's checkpoints (``conv.weight``, ``norm.running_mean``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch

SLOPE = 0.01
"""Slope of the leaky rectifier below zero."""
LEAST_VARIANCE = 1e-12
FRAMES_AT_ONCE = 1_000
"""About so many are computed at once: enough for large matrix products, and few enough that
activations are reused in memory."""


class Valid:
    """Mask of the valid frames of a batch.

    Args:
        lengths: ``[batch]`` in frames; None where all are whole.
        like: ``[batch, frame, channel]``, for the shape, type and place.

    Attributes:
        weights: ``[batch, frame, 1]``, equal over the valid frames, with sum one.
        past: ``[batch, frame, 1]``, true for padding; None without padding.
    """

    def __init__(self, lengths: torch.Tensor | None, like: torch.Tensor) -> None:
        batch, frames = like.shape[:2]
        self.lengths = lengths
        self.past: torch.Tensor | None = None
        self.shortest = 0
        if lengths is None:
            self.weights = like.new_full((batch, frames, 1), 1.0 / frames)
        else:
            self.past = (torch.arange(frames, device=like.device) >= lengths[:, None])[:, :, None]
            if lengths.device.type == "cpu":  # elsewhere, to ask would be to wait
                self.shortest = int(lengths.min())
            self.weights = (~self.past).to(like.dtype) / lengths[:, None, None].to(like.dtype)

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """Mean over valid frames, ``[batch, frame, channel]`` to ``[batch, 1, channel]``."""
        return weighted_mean(values, self.weights)

    def without_past(self, scores: torch.Tensor) -> torch.Tensor:
        """Sets padding of ``[batch, frame, channel]`` to minus infinity, in place."""
        if self.past is not None:
            scores[:, self.shortest :].masked_fill_(self.past[:, self.shortest :], -torch.inf)
        return scores

    def reflected(self, values: torch.Tensor, width: int) -> torch.Tensor:
        """Reflection padding of ``width`` frames at the start and at every row's own end.

        Args:
            values: ``[batch, frame, channel]``.
            width: less than the frames of the shortest row.
        """
        head = values[:, 1 : width + 1].flip(1)
        tail = values[:, -width - 1 : -1].flip(1)
        padded = torch.cat([head, values, tail], dim=1)
        if self.lengths is not None:
            rows = torch.arange(len(values), device=values.device)[:, None]
            steps = torch.arange(width, device=values.device)
            last = self.lengths[:, None] - 1
            padded[rows, last + 1 + width + steps] = values[rows, last - 1 - steps]
        return padded


def fused(values: torch.Tensor) -> bool:
    """Whether oneDNN's fused matrix product with a rectifier can be used.

    It has no gradient and is faster than a plain product followed by a rectifier.
    """
    return (
        not torch.is_grad_enabled()
        and values.device.type == "cpu"
        and values.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def linear(
    values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, after: str = "none"
) -> torch.Tensor:
    """Linear layer ``[..., inputs]`` to ``[..., outputs]``, then ``none``, ``relu`` or
    ``leaky_relu``.
    """
    if fused(values):
        slope = [SLOPE] if after == "leaky_relu" else []
        return torch.ops.mkldnn._linear_pointwise(values, weight, bias, after, slope, "")
    return rectified(torch.nn.functional.linear(values, weight, bias), after)


def rectified(values: torch.Tensor, after: str) -> torch.Tensor:
    """Activation ``none``, ``relu`` or ``leaky_relu`` of ``values``."""
    if after == "relu":
        return torch.relu(values)
    if after == "leaky_relu":
        return torch.nn.functional.leaky_relu(values, SLOPE)
    return values


class Conv(torch.nn.Module):
    """Convolution over time with reflection padding, which keeps the number of frames.

    Args:
        inputs, outputs: channels.
        kernel: odd, in frames.
        dilation: in frames.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.dilation = dilation
        self.width = dilation * (kernel - 1) // 2
        self.conv = torch.nn.Conv1d(inputs, outputs, kernel, dilation=dilation)

    def forward(
        self, values: torch.Tensor, valid: Valid | None = None, after: str = "none"
    ) -> torch.Tensor:
        """``[batch, frame, inputs]`` to ``[batch, frame, outputs]``.

        Args:
            valid: needed where the kernel is greater than one.
            after: ``none``, ``relu`` or ``leaky_relu``.
        """
        weight, bias = self.conv.weight, self.conv.bias
        if self.width:
            assert valid is not None
            # One row of an image with channels last: the order in memory stays.
            image = valid.reflected(values, self.width)[:, None].permute(0, 3, 1, 2)
            found = torch.nn.functional.conv2d(
                image, weight[:, :, None], bias, dilation=(1, self.dilation)
            )
            values = found.permute(0, 2, 3, 1)[:, 0]
        else:
            stored = _LAID_OUT.get().get(self) if fused(values) else None
            return linear(values, weight[:, :, 0] if stored is None else stored, bias, after)
        return rectified(values, after)


# Of the calling thread: another one that embeds with the same network begins and ends by itself.
_LAID_OUT: ContextVar[Mapping[Conv, torch.Tensor]] = ContextVar(
    "weights laid out", default=MappingProxyType({})
)


class _LaidOut(NamedTuple):
    """Weights in the layout of the matrix product, and those that they were made of."""

    weight: torch.Tensor
    version: int
    found: torch.Tensor


_KEPT: WeakKeyDictionary[Conv, _LaidOut] = WeakKeyDictionary()


def _of(conv: Conv) -> torch.Tensor:
    """Weights of a one-frame kernel in the layout of the matrix product, made anew only after they
    changed: that takes a fifth to two fifths of the time of a recording of 3 s.
    """
    weight = conv.conv.weight
    if weight.is_inference():  # whose changes are not counted
        return torch.ops.mkldnn._reorder_linear_weight(weight[:, :, 0], FRAMES_AT_ONCE)
    kept = _KEPT.get(conv)
    if kept is None or (kept.weight.data_ptr(), kept.version) != (
        weight.data_ptr(),
        weight._version,
    ):
        version = weight._version
        found = torch.ops.mkldnn._reorder_linear_weight(weight[:, :, 0], FRAMES_AT_ONCE)
        kept = _KEPT[conv] = _LaidOut(weight.detach(), version, found)
    return kept.found


@contextmanager
def laid_out(network: torch.nn.Module) -> Iterator[None]:
    """Context manager that stores weights of one-frame kernels in the layout of the matrix product.

    Otherwise every product converts them, and sums in another order. Do not change weights within.
    """
    stored = {
        conv: _of(conv)
        for conv in network.modules()
        if isinstance(conv, Conv) and not conv.width and fused(conv.conv.weight)
    }
    before = _LAID_OUT.set(stored)
    try:
        yield
    finally:
        _LAID_OUT.reset(before)


class Norm(torch.nn.Module):
    """Batch normalisation of channels.

    In training, statistics are over all frames of the batch, padding included: train on crops of
    one length. Without gradients it works in place.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        norm, mean, variance = self.norm, self.norm.running_mean, self.norm.running_var
        assert mean is not None
        assert variance is not None
        scale = norm.weight * (variance + norm.eps).rsqrt()
        if self.training or torch.is_grad_enabled() or values.dtype != scale.dtype:
            return norm(values.flatten(0, 1)).view_as(values)
        return torch.addcmul(norm.bias - mean * scale, values, scale, out=values)


class Tdnn(torch.nn.Module):
    """Convolution, rectifier, batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv = Conv(inputs, outputs, kernel, dilation)
        self.norm = Norm(outputs)

    def forward(self, values: torch.Tensor, valid: Valid | None = None) -> torch.Tensor:
        return self.norm(self.conv(values, valid, "relu"))


def moments(values: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted mean and standard deviation over frames.

    Args:
        values: ``[batch, frame, channel]``.
        weights: ``[batch, frame, channel or 1]`` with sum one over frames.

    Returns:
        Each ``[batch, 1, channel]``.
    """
    mean = weighted_mean(values, weights)
    variance = weighted_mean((values - mean).square(), weights)
    return mean, variance.clamp_min(LEAST_VARIANCE).sqrt()


def weighted_mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted sum over frames, ``[batch, 1, channel]``; arguments as of :func:`moments`."""
    if weights.shape[2] == 1:
        return weights.transpose(1, 2) @ values
    return (weights * values).sum(1, keepdim=True)
