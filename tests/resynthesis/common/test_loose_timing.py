"""Loose timing: bounded displacement, time that runs forward, and a tempo that the key draws."""

import torch

from voicenym.resynthesis.common.loose_timing import FARTHEST, SPACING, source_times

SECONDS = torch.arange(0, 600, 0.01)
SEEDS = torch.arange(20)


def test_nothing_moves_far_and_time_runs_forward():
    moved = source_times(SEEDS, SECONDS)
    displaced = moved - SECONDS
    assert float(displaced.abs().max()) <= FARTHEST
    assert float(displaced.std()) > 0.3 * FARTHEST
    assert abs(float(displaced.mean())) < 0.1 * FARTHEST
    tempo = moved.diff(dim=1) / 0.01
    least = 1.0 - 2.0 * FARTHEST / SPACING
    assert float(tempo.min()) >= least - 1e-6
    assert float(tempo.max()) <= 2.0 - least + 1e-6
    assert 0.1 < float(tempo.std()) < 0.3


def test_a_time_depends_on_the_seed_and_nothing_else():
    whole = source_times(SEEDS, SECONDS)
    torch.testing.assert_close(
        source_times(SEEDS[3:4], SECONDS[12_345:13_000]), whole[3:4, 12_345:13_000]
    )
    displaced = whole - SECONDS
    correlation = torch.corrcoef(displaced) - torch.eye(len(SEEDS))
    assert float(correlation.abs().max()) < 0.4
    assert source_times(SEEDS, SECONDS[:0]).shape == (20, 0)
