"""ConvNeXt blocks over time (Liu et al., CVPR 2022), as in Vocos."""

from __future__ import annotations

import torch

from voicenym.nets.streaming import Memory, extend


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
        self, x: torch.Tensor, speaker: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """``[batch, frame, width]`` and ``[batch, 1, speaker]`` to ``[batch, frame, width]``."""
        window = extend(x, self.behind, self.ahead, memory, self, dim=1)
        ready = window.shape[1] - self.behind - self.ahead
        if ready <= 0:
            return x[:, :0]
        y = self.depthwise(window.transpose(1, 2)).transpose(1, 2)
        y = self.norm(y)
        if self.adapt is not None:
            gain, shift = self.adapt(speaker).chunk(2, dim=2)
            y = torch.addcmul(shift, y, 1.0 + gain)
        y = y.to(self.widen.weight.dtype)
        y = self.narrow(torch.nn.functional.gelu(self.widen(y))).to(x)
        return torch.addcmul(window.narrow(1, self.behind, ready), y, self.scale)
