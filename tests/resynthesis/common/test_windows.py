"""Windows over signals and over frames."""

import pytest
import torch

from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.resynthesis.common.windows import WindowedSynthesis, Windows


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 25, 26, 57])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_windows_lie_where_the_signal_says_whatever_blocks_it_comes_in(length, size):
    signal = torch.arange(2.0 * length).reshape(2, length)
    windows = Windows(2, 10, 6)
    found = [w for block in signal.split(size, dim=1) for w in windows.push(block)]
    found += windows.flush()
    kept = [w.samples[:, w.before : w.before + w.kept] for w in found]
    assert torch.cat([signal[:, :0], *kept], dim=1).equal(signal)
    for k, window in enumerate(found):
        assert window.start == max(0, 10 * k - 6)
        assert window.samples.equal(signal[:, window.start : 10 * (k + 1) + 6])


def test_windows_hold_little_of_a_long_signal():
    windows = Windows(1, 10, 6)
    for _ in range(200):
        windows.push(torch.zeros(1, 7))
        assert windows._held.shape[1] <= 10 + 2 * 6 + 7


class Sine(Synthesizer):
    """Speaks its pitch, its phase counted from the window's beginning; content is added."""

    kind, rate, hop, streams = "sine", 16_000, 160, False

    def config(self):
        return {"content": 1, "speaker": 1}

    def synthesize(self, content, f0, speaker, seed, memory):
        assert memory is None
        pitch = f0.repeat_interleave(self.hop, 1)
        tone = torch.sin(2 * torch.pi * (pitch / self.rate).cumsum(1)) * (pitch > 0)
        return tone + content[..., 0].repeat_interleave(self.hop, 1)


def through(content, f0, size, **options):
    stream = WindowedSynthesis(Sine(), torch.zeros(1, 1), torch.zeros(1).long(), **options)
    parts = [
        stream.push(content[:, i : i + size], f0[:, i : i + size])
        for i in range(0, f0.shape[1], size)
    ]
    return torch.cat([*parts, stream.flush()], dim=1)


def test_what_a_frame_decides_alone_is_that_of_the_whole():
    content = torch.rand(1, 333, 1, generator=torch.Generator().manual_seed(0))
    f0 = torch.zeros(1, 333)
    found = through(content, f0, 10, step=50, context=5, slack=10)
    torch.testing.assert_close(found, Sine()(content, f0, torch.zeros(1, 1)))


@pytest.mark.parametrize("frames", [0, 1, 49, 50, 51, 64, 65, 300])
def test_frames_in_parts_of_any_size_give_the_same(frames):
    generator = torch.Generator().manual_seed(frames)
    content = torch.rand(1, frames, 1, generator=generator)
    f0 = torch.full((1, frames), 200.0) * (torch.rand(1, frames, generator=generator) < 0.9)
    options = {"step": 50, "context": 5, "slack": 10}
    whole = through(content, f0, 10**6, **options)
    assert whole.shape == (1, frames * 160)
    for size in (1, 7, 64):
        assert through(content, f0, size, **options).equal(whole)


def test_windows_meet_where_nothing_is_voiced_and_vowels_stay_whole():
    f0 = torch.full((1, 200), 200.0)
    f0[:, ::20] = 0.0  # one unvoiced frame in twenty
    found = through(torch.zeros(1, 200, 1), f0, 30, step=57, context=20, slack=15)
    vowels = found.reshape(-1, 160)[f0[0] > 0]
    steps = vowels.diff(dim=1).abs().max()
    assert float(steps) < 2 * torch.pi * 200 / 16_000 * 1.05


def test_windows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one row"):
        WindowedSynthesis(Sine(), torch.zeros(2, 1), torch.zeros(2).long())
    with pytest.raises(ValueError, match="slack"):
        WindowedSynthesis(Sine(), torch.zeros(1, 1), torch.zeros(1).long(), step=10, slack=10)
    with pytest.raises(ValueError, match="windows"):
        Windows(1, 0, 5)


def test_windows_of_a_live_stream_look_less_far_ahead_than_back():
    windows = Windows(1, 4, 6, ahead=2)
    signal = torch.arange(15.0)[None]
    found = [*windows.push(signal[:, :6]), *windows.push(signal[:, 6:])]
    assert [window.start for window in found] == [0, 0, 2]
    assert [window.samples.shape[1] for window in found] == [6, 10, 12]
    (last,) = windows.flush()
    assert last.before == 6
    assert last.kept == 3
    assert torch.equal(last.samples, signal[:, 6:])
