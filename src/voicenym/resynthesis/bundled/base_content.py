"""Content features of ``base`` for other trainings: clustering into units, or distillation into a
codec.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.nets.content.bottleneck import EVERY, HOP, Bottleneck
from voicenym.nets.content.content_encoder import Content
from voicenym.resynthesis.common.averages import Sums


class NarrowContent(Content):
    """Bottleneck features without noise: 50 frames a second, each element within -1 and 1.

    Output of :class:`~voicenym.nets.content.bottleneck.Bottleneck` without its noise, for mel bands
    less their average over the recording, in which louder frames weigh more.

    Args:
        bottleneck: such as that of ``base``.
    """

    kind = "narrow"
    hop = EVERY * HOP

    def __init__(self, bottleneck: Bottleneck) -> None:
        super().__init__()
        self.bottleneck = bottleneck
        self.size = bottleneck.size
        self.eval()

    def config(self) -> dict[str, Any]:
        return self.bottleneck.config()

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is not None and not bool((lengths == waveforms.shape[1]).all()):
            # averages and ends are those of each alone
            rows = [
                self.encode(row[None, :n])[0] for row, n in zip(waveforms, lengths, strict=True)
            ]
            return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        acoustic = self.bottleneck.front_end(waveforms)
        sums = Sums(len(waveforms), acoustic.bands.shape[2], str(waveforms.device))
        sums.add_frames(acoustic, torch.ones_like(acoustic.power))
        return self.bottleneck.encode(acoustic.bands - sums.averages().bands[:, None])
