from __future__ import annotations

import pytest
import torch

from voicenym.dsp import overlap_add
from voicenym.dsp.overlap_add import OverlapAdd, root_hann, synthesis_window


def windowed(calls: list[int]):
    """Windows twice and counts frames of each call, so that the signal comes back."""
    window = root_hann(32)

    def process(frames: torch.Tensor) -> torch.Tensor:
        calls.append(frames.shape[0] * frames.shape[1])
        return frames * window * window

    return process


def noise(rows: int, length: int) -> torch.Tensor:
    return torch.randn(rows, length, generator=torch.Generator().manual_seed(length))


@pytest.mark.parametrize("length", [0, 1, 15, 16, 33, 1000])
def test_finish_gives_what_push_and_flush_give(length):
    signal = noise(2, length)
    one, other = (OverlapAdd(2, 32, 16, windowed([])) for _ in range(2))
    at_once = one.finish(signal)
    torch.testing.assert_close(at_once, torch.cat([other.push(signal), other.flush()], dim=1))
    torch.testing.assert_close(at_once, signal, atol=1e-5, rtol=0)


def test_a_recording_is_processed_in_one_call():
    calls: list[int] = []
    OverlapAdd(1, 32, 16, windowed(calls)).finish(noise(1, 1600))
    assert calls == [102]


@pytest.mark.parametrize("rows", [1, 3])
def test_long_blocks_are_processed_in_equal_parts(rows, monkeypatch):
    monkeypatch.setattr(overlap_add, "MAX_FRAMES", 300)
    calls: list[int] = []
    signal = noise(rows, 16 * 620)
    out = OverlapAdd(rows, 32, 16, windowed(calls)).finish(signal)
    torch.testing.assert_close(out, signal, atol=1e-5, rtol=0)
    assert sum(calls) == 622 * rows
    assert max(calls) <= 300
    assert len(calls) == -(-622 * rows // 300)
    assert min(calls) > 0.9 * max(calls)


@pytest.mark.parametrize("unused", [0, 1, 2, 3])
def test_what_frames_do_not_use_at_their_beginning_is_not_waited_for(unused):
    """Frames of 32 at a hop of 8 whose last samples are added up: as many are held back less."""
    used = 32 - 8 * unused

    def process(frames: torch.Tensor) -> torch.Tensor:
        return frames[..., -used:] * (8 / used)

    signal = noise(2, 1000)
    stream = OverlapAdd(2, 32, 8, process, unused=unused)
    out = stream.push(signal)
    assert out.shape[1] == 1000 - (used - 8)
    assert stream.latency == used - 1
    whole = torch.cat([out, stream.flush()], dim=1)
    torch.testing.assert_close(whole, signal, atol=1e-5, rtol=0)


def test_a_part_of_a_frame_must_be_used():
    with pytest.raises(ValueError, match="4 of 4 hops"):
        OverlapAdd(1, 32, 8, lambda frames: frames, unused=4)


@pytest.mark.parametrize(("length", "begin", "hop"), [(32, 8, 8), (40, 16, 8), (40, 0, 8)])
def test_analysis_and_synthesis_windows_add_up_to_one(length, begin, hop):
    first = root_hann(length)
    second = synthesis_window(first, begin, hop)
    assert not second[:begin].any()
    assert second[begin + 1 :].min() > 0
    total = (first * second).reshape(-1, hop).sum(0)
    torch.testing.assert_close(total, torch.ones(hop), atol=1e-6, rtol=0)
