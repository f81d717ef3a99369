"""Speaker classifier on content, the adversary of a content encoder."""

from __future__ import annotations

import torch


class SpeakerClassifier(torch.nn.Module):
    """Speaker scores ``[batch, speaker]`` from content ``[batch, frame, size]``."""

    def __init__(self, size: int, speakers: int, width: int = 128) -> None:
        super().__init__()
        self.first = torch.nn.Conv1d(size, width, 5, padding=2)
        self.second = torch.nn.Conv1d(width, width, 5, padding=2)
        self.last = torch.nn.Linear(2 * width, speakers)

    def forward(self, content: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(content.transpose(1, 2)))
        x = torch.relu(self.second(x))
        return self.last(torch.cat([x.mean(2), x.std(2)], dim=1))
