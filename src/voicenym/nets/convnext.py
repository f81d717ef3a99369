"""ConvNeXt blocks over time (Liu et al., CVPR 2022), as in Vocos."""

from __future__ import annotations

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
        self, x: torch.Tensor, speaker: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """``[batch, frame, width]`` and ``[batch, 1, speaker]`` to ``[batch, frame, width]``."""
        window = extend(x, self.behind, self.ahead, memory, self, dim=1)
        ready = window.shape[1] - self.behind - self.ahead
        if ready <= 0:
            return x[:, :0]
        y = self._convolved(window, ready, memory)
        y = self.norm(y)
        if self.adapt is not None:
            gain, shift = self._adapted(speaker, memory)
            y = torch.addcmul(shift, y, gain)
        y = y.to(self.widen.weight.dtype)
        y = self.narrow(torch.nn.functional.gelu(self.widen(y))).to(x)
        return torch.addcmul(window.narrow(1, self.behind, ready), y, self.scale)

    def _convolved(self, window: torch.Tensor, ready: int, memory: Memory | None) -> torch.Tensor:
        """Depthwise convolution ``[batch, frame, width]`` of a window ``[batch, behind + frame +
        ahead, width]``.

        A few frames of a stream are multiplied and summed: torch's convolution takes ten times as
        long for them.
        """
        layer = self.depthwise
        if memory is None or len(window) * ready > FEW_STEPS or window.device.type != "cpu":
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
