"""Pauses at equal levels: level map, noise floor, and output."""

import math

import pytest
import torch

from voicenym.nets.content.bottleneck import RATE
from voicenym.pseudonym import Key
from voicenym.resynthesis.common import pauses
from voicenym.systems.base import Base


@pytest.mark.parametrize("lowest", [-15.0, -9.0, -6.0, -3.5, -2.0, 0.0])
def test_speech_stays_and_levels_keep_their_order(lowest):
    level = torch.linspace(-20.0, 3.0, 400)[None]
    moved = pauses.quieted(level, torch.tensor([[lowest]]))
    loud = level > max(lowest + pauses.MARGIN, pauses.FLOOR)
    loud |= level > pauses.FAINTEST_SPEECH
    assert torch.equal(moved[loud], level[loud])
    assert (moved.diff() > 0).all()
    assert (moved <= level).all()


@pytest.mark.parametrize("lowest", [-9.5, -8.0, -7.0, -6.5])
def test_floors_come_together(lowest):
    moved = pauses.quieted(torch.tensor([[lowest]]), torch.tensor([[lowest]]))
    assert moved.item() == pytest.approx(pauses.FLOOR, abs=1e-5)


@pytest.mark.parametrize("lowest", [-10.0, -13.0, -23.0])
def test_quiet_recordings_stay_as_they_are(lowest):
    level = torch.linspace(-23.0, 2.0, 100)[None]
    torch.testing.assert_close(pauses.quieted(level, torch.tensor([[lowest]])), level)


@pytest.mark.parametrize("lowest", [-2.9, -1.0, 0.5])
def test_where_nothing_is_quiet_nothing_is_moved_abruptly(lowest):
    level = torch.linspace(-20.0, 3.0, 2000)[None]
    moved = pauses.quieted(level, torch.tensor([[lowest]]))
    assert moved.diff().max() <= pauses.STEEPEST * level.diff().max() + 1e-4


def test_the_floor_is_what_few_frames_lie_below():
    generator = torch.Generator().manual_seed(1)
    power = -14.0 + 8.0 * torch.rand(3, 20_000, generator=generator, dtype=torch.float64)
    counts = pauses.counted(power).sum(1)
    expected = torch.quantile(power, pauses.SHARE, dim=1)
    torch.testing.assert_close(pauses.floor(counts), expected, atol=0.02, rtol=0)
    # of nothing no pause is known: nothing is moved
    nothing = pauses.floor(torch.zeros(1, pauses.BINS, dtype=torch.float64))
    level = torch.linspace(-20.0, 3.0, 50)[None].double()
    torch.testing.assert_close(pauses.quieted(level, nothing[:, None] + 6.0), level)


def rms(signal: torch.Tensor) -> float:
    return 10.0 * math.log10(float(signal.square().mean()) + 1e-12)


@pytest.mark.parametrize("live", [False, True], ids=["file", "live"])
def test_rooms_of_unlike_noise_leave_pauses_alike(live):
    time = torch.arange(8 * RATE) / RATE
    talking = (time % 1.0) < 0.6
    buzz = sum(torch.cos(2 * torch.pi * 120 * k * time) for k in range(1, 20)) / 40
    noise = torch.randn(len(time), generator=torch.Generator().manual_seed(2))
    rows = torch.stack([buzz * talking + 10.0 ** (db / 20.0) * noise for db in (-60.0, -53.0)])
    system = Base()
    profile = None
    if not live:
        profiler = system.profiler(2, RATE, None)
        profiler.push(rows)
        profile = profiler.result()
    who = [Key(bytes(32)).pseudonym("a")] * 2
    core = system.core(who, RATE, profile)
    out = torch.cat([core.push(rows), core.flush()], dim=1)
    assert out.shape == rows.shape
    # the middle of pauses and of bursts, in the last seconds
    place = time % 1.0
    late = time > 4.0
    silent = late & (place > 0.75) & (place < 0.9)
    loud = late & (place > 0.1) & (place < 0.5)
    before = [rms(row[silent]) for row in rows]
    after = [rms(row[silent]) for row in out]
    assert abs(before[0] - before[1]) > 5.0
    assert abs(after[0] - after[1]) < 2.0
    assert all(b > a for b, a in zip(before, after, strict=True))
    for was, now in zip(rows, out, strict=True):
        assert rms(now[loud]) == pytest.approx(rms(was[loud]), abs=1.0)
