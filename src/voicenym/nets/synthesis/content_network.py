"""ConvNeXt network over content frames: the common part of predictors from content."""

from __future__ import annotations

from typing import Any

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.convnext import Block, in_frames
from voicenym.nets.masked_batch import valid


class ContentNetwork(Network):
    """Numbers for each content frame, from the frames around it.

    Args:
        content: elements of a content frame.
        outputs: numbers for each frame.
        width, inner, blocks, kernel: of the ConvNeXt blocks, at the rate of content.
        settings: further options of the subclass, for :meth:`config`.

    Raises:
        ValueError: sizes below 1, or an even kernel.
    """

    def __init__(
        self,
        content: int,
        outputs: int,
        width: int,
        inner: int,
        blocks: int,
        kernel: int,
        **settings: int,
    ) -> None:
        super().__init__()
        sizes = {"width": width, "inner": inner, "blocks": blocks, "kernel": kernel}
        self._config = {"content": content, **settings, **sizes}
        if min(outputs, *self._config.values()) < 1 or kernel % 2 == 0:
            raise ValueError("sizes are 1 at least, and the kernel is odd")
        self.content = content
        self.enter = torch.nn.Linear(content, width)
        self.blocks = torch.nn.ModuleList(
            Block(width, inner, kernel, 0, None, 1.0 / blocks) for _ in range(blocks)
        )
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, outputs)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def some_numbers(self, content: torch.Tensor, wanted: slice) -> torch.Tensor:
        """Outputs ``[batch, wanted, output]`` float32 of some frames, up to rounding, at the cost
        of what these depend on.

        Args:
            content: ``[batch, frame, element]``.
            wanted: frames of it.
        """
        x = self.enter(content)
        x = in_frames(self.blocks, x, x.new_zeros(len(x), 1, 0), wanted)
        found: torch.Tensor = self.head(self.norm(x)).float()
        return found

    def numbers(self, content: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """Outputs of each frame, ``[batch, frame, output]`` float32.

        Args:
            content: ``[batch, frame, element]``.
            lengths: ``[batch]``, frames of each row; None where all are whole. A row does not
                depend on what follows its end.
        """
        inside = None if lengths is None else valid(lengths, content.shape[1])[:, :, None]
        x = self.enter(content)
        for block in self.blocks:
            x = x if inside is None else x * inside
            x = block(x, x.new_zeros(len(x), 1, 0))
        found: torch.Tensor = self.head(self.norm(x)).float()
        return found
