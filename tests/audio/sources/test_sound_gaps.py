"""Gaps in the time stamps of sound become silence, and nothing else is taken for one."""

from fractions import Fraction
from types import SimpleNamespace

import av
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from voicenym.audio import Audio, open_reader, read, write
from voicenym.audio.sources.sound_gaps import MOST, SoundGaps
from voicenym.errors import AudioError

RATE = 48_000


def without(source, target, muxer, start, end):
    """Copies a recording without the packets of sound from ``start`` to ``end`` seconds."""
    with av.open(str(source)) as given, av.open(str(target), "w", format=muxer) as made:
        track = given.streams.audio[0]
        copy = made.add_stream_from_template(track)
        for packet in given.demux(track):
            if packet.dts is None or start <= packet.pts * packet.time_base < end:
                continue
            packet.stream = copy
            made.mux(packet)


@pytest.mark.parametrize(
    ("name", "muxer"),
    [("a.webm", "webm"), ("a.mkv", "matroska"), ("a.m4a", "mp4"), ("a.mov", "mov"),
     ("a.opus", "ogg")],
)  # fmt: skip
def test_sound_after_a_gap_stays_at_its_time(name, muxer, tmp_path):
    noise = 0.1 * torch.randn(6 * RATE, generator=torch.Generator().manual_seed(0))
    write(tmp_path / f"whole-{name}", Audio(noise, RATE))
    without(tmp_path / f"whole-{name}", tmp_path / name, muxer, 2, 4)
    whole, gap = read(tmp_path / f"whole-{name}").samples, read(tmp_path / name).samples
    assert abs(len(gap) - len(whole)) <= 2048
    late = slice(round(4.2 * RATE), round(5.8 * RATE))
    rounding = 2 * RATE // 1000  # Matroska has stamps of milliseconds
    shifts = range(-rounding, rounding + 1)
    parts = (gap[late.start + shift : late.stop + shift] for shift in shifts)
    assert max(float(np.corrcoef(whole[late], part)[0, 1]) for part in parts) > 0.9
    assert not gap[round(2.1 * RATE) : round(3.9 * RATE)].any()
    with open_reader(tmp_path / name) as reader:
        assert reader.warnings == ()
        list(reader.blocks(RATE))
        (said,) = reader.warnings
    assert said.startswith(f"{tmp_path / name}: its sound has a gap of ")
    with open_reader(tmp_path / f"whole-{name}") as reader:
        list(reader.blocks(RATE))
        assert reader.warnings == ()


def frames(stamps, samples=960):
    for stamp in stamps:
        yield SimpleNamespace(pts=stamp, time_base=Fraction(1, 1000), samples=samples)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=200), st.integers(0, 10_000_000))
def test_inexact_stamps_are_no_gaps(jitter, start):
    gaps = SoundGaps(RATE, "a")
    stamps = [start + 20 * i + shift for i, shift in enumerate(jitter)]
    assert sum(map(gaps.before, frames(stamps))) == 0
    assert gaps.warnings == ()


def test_drift_and_bursts_are_no_gaps_and_a_gap_after_them_has_its_length():
    drift = [round(20.1 * i) for i in range(4000)]  # 0.4 s in 80 s
    assert sum(map(SoundGaps(RATE, "a").before, frames(drift))) == 0
    bursts = [240 * (i // 12) + 240 for i in range(600)]
    assert sum(map(SoundGaps(RATE, "a").before, frames(bursts))) == 0
    paused = [*drift, *(stamp + drift[-1] + 1520 for stamp in drift)]
    gaps = SoundGaps(RATE, "a")
    assert sum(map(gaps.before, frames(paused))) == 1.5 * RATE
    assert gaps.warnings == (
        "a: its sound has a gap of 1.5 s by its time stamps, at 80.0 s; silence was put there",
    )


def test_stamps_that_go_back_or_state_hours_or_are_missing():
    assert sum(map(SoundGaps(RATE, "a").before, frames([0, 20, 0, 20, 5000]))) == 4920 * 48
    assert sum(map(SoundGaps(RATE, "a").before, frames([None, None, 9000, 9020]))) == 0
    with pytest.raises(AudioError, match="a: has 7200 s without sound by its time stamps"):
        list(map(SoundGaps(RATE, "a").before, frames([0, 2 * round(MOST) * 1000 + 20])))
