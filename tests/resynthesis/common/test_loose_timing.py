"""Loose timing: bounded displacement, time that runs forward, and a tempo that the key draws."""

import numpy as np
import torch

from voicenym.dsp.phrases import Phrases
from voicenym.resynthesis.common.loose_timing import FARTHEST, SPACING, LooseTiming, displaced

SECONDS = torch.arange(0, 600, 0.01)
SEEDS = torch.arange(20)


def test_nothing_moves_far_and_time_runs_forward():
    moved = displaced(SEEDS, SECONDS)
    moves = moved - SECONDS
    assert float(moves.abs().max()) <= FARTHEST
    assert float(moves.std()) > 0.3 * FARTHEST
    assert abs(float(moves.mean())) < 0.1 * FARTHEST
    tempo = moved.diff(dim=1) / 0.01
    least = 1.0 - 2.0 * FARTHEST / SPACING
    assert float(tempo.min()) >= least - 1e-6
    assert float(tempo.max()) <= 2.0 - least + 1e-6
    assert 0.1 < float(tempo.std()) < 0.3


def test_a_time_depends_on_the_seed_and_nothing_else():
    whole = displaced(SEEDS, SECONDS)
    torch.testing.assert_close(
        displaced(SEEDS[3:4], SECONDS[12_345:13_000]), whole[3:4, 12_345:13_000]
    )
    correlation = torch.corrcoef(whole - SECONDS) - torch.eye(len(SEEDS))
    assert float(correlation.abs().max()) < 0.4
    assert displaced(SEEDS, SECONDS[:0]).shape == (20, 0)


def test_phrases_begin_near_where_they_did_and_their_rates_are_drawn():
    starts = np.arange(1.0, 590.0, 4.0)
    phrases = Phrases(np.stack([starts, starts + 2.0], axis=1), 600.0)
    timing = LooseTiming(SEEDS, [phrases] * len(SEEDS))
    found = timing.source_times(SECONDS.double())
    assert bool((found.diff(dim=1) >= 0.0).all())
    for row in found.numpy():
        begin, end = (np.interp(phrases.spans[:, side], row, SECONDS) for side in (0, 1))
        assert np.abs(begin - starts).max() <= FARTHEST + 0.01
        assert 0.05 < np.log((end - begin) / 2.0).std() < 0.4
    part = timing.source_times(SECONDS[40_000:41_000].double())
    torch.testing.assert_close(part, found[:, 40_000:41_000])
