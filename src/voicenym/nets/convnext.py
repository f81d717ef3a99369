"""ConvNeXt blocks over time (Liu et al., CVPR 2022), as in Vocos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from voicenym.nets.streaming import FEW_STEPS, Memory, extend


def lower(module: torch.nn.Module) -> None:
    """Puts the weights of all blocks' pointwise layers into bfloat16; they compute in it."""
    for block in module.modules():
        if isinstance(block, Block):
            block.widen.bfloat16()
            block.narrow.bfloat16()


class Block(torch.nn.Module):
    """ConvNeXt block: depthwise convolution, then two pointwise layers.

    Args:
        width: channels.
        inner: channels between the two layers.
        kernel: in frames.
        speaker: elements of a vector that scales and shifts the normalisation; 0 for none.
        ahead: look-ahead in frames; None for a centred kernel.
        scale: initial scale of the block's output.
    """

    def __init__(
        self, width: int, inner: int, kernel: int, speaker: int, ahead: int | None, scale: float
    ) -> None:
        super().__init__()
        self.ahead = (kernel - 1) // 2 if ahead is None else ahead
        self.behind = kernel - 1 - self.ahead
        self.depthwise = torch.nn.Conv1d(width, width, kernel, groups=width)
        self.norm = torch.nn.LayerNorm(width, eps=1e-6, elementwise_affine=not speaker)
        self.adapt = torch.nn.Linear(speaker, 2 * width) if speaker else None
        self.widen = torch.nn.Linear(width, inner)
        self.narrow = torch.nn.Linear(inner, width)
        self.scale = torch.nn.Parameter(torch.full((width,), scale))

    def forward(
        self,
        x: torch.Tensor,
        speaker: torch.Tensor,
        memory: Memory | None = None,
        few: bool = False,
    ) -> torch.Tensor:
        """``[batch, frame, width]`` and ``[batch, 1, speaker]`` to ``[batch, frame, width]``.

        Args:
            x: frames; without a memory, zeros are around them.
            speaker: of the rows.
            memory: of a stream.
            few: whether a few frames may be computed in another order of sums, as in a stream.
        """
        window = extend(x, self.behind, self.ahead, memory, self, dim=1)
        ready = window.shape[1] - self.behind - self.ahead
        if ready <= 0:
            return x[:, :0]
        y = self._convolved(window, ready, few or memory is not None)
        y = self.norm(y)
        if self.adapt is not None:
            gain, shift = self._adapted(speaker, memory)
            y = torch.addcmul(shift, y, gain)
        y = y.to(self.widen.weight.dtype)
        y = self.narrow(torch.nn.functional.gelu(self.widen(y))).to(x)
        return torch.addcmul(window.narrow(1, self.behind, ready), y, self.scale)

    def _convolved(self, window: torch.Tensor, ready: int, few: bool) -> torch.Tensor:
        """Depthwise convolution ``[batch, frame, width]`` of a window ``[batch, behind + frame +
        ahead, width]``.

        A few frames of a stream are multiplied and summed: torch's convolution takes ten times as
        long for them.
        """
        layer = self.depthwise
        if not few or len(window) * ready > FEW_STEPS or window.device.type != "cpu":
            return layer(window.transpose(1, 2)).transpose(1, 2)
        assert layer.bias is not None
        frames = window.unfold(1, layer.kernel_size[0], 1)
        return (frames * layer.weight[:, 0]).sum(-1) + layer.bias

    def _adapted(
        self, speaker: torch.Tensor, memory: Memory | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gain and shift of the speaker, ``[batch, 1, width]`` each; a stream computes them anew
        only for another speaker.
        """
        assert self.adapt is not None
        if memory is None:
            gain, shift = self.adapt(speaker).chunk(2, dim=2)
            return 1.0 + gain, shift
        kept = memory.kept
        known = kept.get((self, "speaker"))
        if known is None or known.shape != speaker.shape or not torch.equal(known, speaker):
            gain, shift = self.adapt(speaker).chunk(2, dim=2)
            kept[(self, "speaker")] = speaker.clone()
            kept[(self, "gain")], kept[(self, "shift")] = 1.0 + gain, shift
        return kept[(self, "gain")], kept[(self, "shift")]


def reaches(layers: Sequence[Any]) -> list[tuple[int, int]]:
    """Frames behind and ahead that the input of each of some layers reaches, as seen from the
    output of the last; at the end that output, which is as it is.

    Args:
        layers: with attributes ``behind`` and ``ahead``, in their order.
    """
    return [
        (sum(one.behind for one in layers[at:]), sum(one.ahead for one in layers[at:]))
        for at in range(len(layers) + 1)
    ]


def in_frames(
    blocks: Iterable[torch.nn.Module], x: torch.Tensor, speaker: torch.Tensor, wanted: slice
) -> torch.Tensor:
    """Output ``[batch, wanted, width]`` of blocks in some frames, up to rounding; each computes no
    more than these depend on.

    Args:
        blocks: of :class:`Block`, in their order.
        x: ``[batch, frame, width]``; zeros are around it.
        speaker: as of :meth:`Block.forward`.
        wanted: frames of ``x``.
    """
    layers: list[Any] = list(blocks)
    first, end, _ = wanted.indices(x.shape[1])
    start, count = 0, x.shape[1]
    for block, (behind, ahead) in zip(layers, reaches(layers), strict=False):
        begin = max(0, first - behind)
        x = x[:, begin - start : min(count, end + ahead) - start]
        x, start = block(x, speaker, few=True), begin
    return x[:, first - start : end - start]
