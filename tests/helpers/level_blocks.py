"""Level control in blocks of any size, for the tests of level controls."""

from __future__ import annotations

import torch

from voicenym.resynthesis.common.output_level import Level


def noise(rows: int, length: int, seed: int) -> torch.Tensor:
    """White noise ``[row, time]`` with a standard deviation of 0.1."""
    return torch.randn(rows, length, generator=torch.Generator().manual_seed(seed)) * 0.1


def in_blocks(
    level: Level, source: torch.Tensor, made: torch.Tensor, size: int = 10**6, late: int = 0
) -> torch.Tensor:
    """Output for blocks of ``size`` samples, the synthetic signal ``late`` samples behind; checks
    the stated latency.
    """
    found, total = [], 0
    for start in range(0, source.shape[1] + late, size):
        stop = start + size
        found.append(
            level.push(source[:, start:stop], made[:, max(0, start - late) : max(0, stop - late)])
        )
        total += found[-1].shape[1]
        if late == 0 and stop <= source.shape[1]:
            assert total >= stop - level.latency
    return torch.cat([*found, level.flush()], dim=1)
