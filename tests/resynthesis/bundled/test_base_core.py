"""Streaming core of ``base``, with untrained parts."""

import pytest
import torch

from voicenym.dsp.pitch.f0_statistics import TYPICAL_LOG_F0
from voicenym.nets.content.bottleneck import HOP, RATE
from voicenym.resynthesis.bundled.analysis import AveragesReader
from voicenym.resynthesis.bundled.base_core import (
    STEP,
    ResynthesisCore,
    Voice,
    _gains,
    _gains_at_ends,
    _lines,
    _lines_between_ends,
)
from voicenym.resynthesis.bundled.model_parts import Parts

CONTENT = {"width": 16, "inner": 24, "blocks": 2, "size": 4}
OPTIONS = {"content": 5, "speaker": 8, "width": 16, "inner": 24, "blocks": 2, "lookahead": 3}


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "normalised"])
def parts(request):
    torch.manual_seed(3)
    made = Parts(CONTENT, "istft-vocoder", OPTIONS, rank=4, normalised=request.param)
    if request.param:
        made.everybody.mean.copy_(torch.tensor([0.2, -0.1, 0.0, 0.3]))
        made.everybody.covariance.copy_(0.04 * torch.eye(4) + 0.01)
    made.usual[0] = -6.0
    made.usual[1:] = -8.0
    return made


def voice(rows=1):
    return Voice(
        torch.ones(rows, 8),
        torch.full((rows,), TYPICAL_LOG_F0),
        torch.full((rows,), 0.2),
        torch.arange(rows),
    )


def speech(seconds=1.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    time = torch.arange(round(seconds * RATE)) / RATE
    buzz = sum(torch.cos(2 * torch.pi * 140 * k * time + k) for k in range(1, 20)) / 20
    return (0.3 * buzz + 0.01 * torch.randn(len(time), generator=generator))[None]


def averages(parts, signal, lengths=None):
    reader = AveragesReader(parts, len(signal), lengths)
    for block in signal.split(1234, dim=1):
        reader.push(block)
    return reader.result()


@pytest.mark.parametrize("known", [True, False], ids=["file", "live"])
def test_blocks_of_any_size_give_the_whole_in_exact_length(parts, known):
    signal = speech()
    found = averages(parts, signal) if known else None

    def through(size):
        core = ResynthesisCore(parts, voice(), found)
        given, done = [], 0
        for block in signal.split(size, dim=1):
            given.append(core.push(block))
            done += block.shape[1]
            assert sum(g.shape[1] for g in given) >= done - core.latency
        return torch.cat([*given, core.flush()], dim=1)

    whole = through(10**6)
    assert whole.shape == signal.shape
    for size in (97, 1600, 5000):
        torch.testing.assert_close(through(size), whole, atol=1e-4, rtol=0)


@pytest.mark.parametrize("known", [True, False], ids=["file", "live"])
def test_power_follows_the_input_and_silence_stays(parts, known):
    signal = torch.cat([speech(1.0), torch.zeros(1, RATE), 0.1 * speech(1.0)], dim=1)
    core = ResynthesisCore(parts, voice(), averages(parts, signal) if known else None)
    out = torch.cat([core.push(signal), core.flush()], dim=1)
    for first in (0.2, 2.2):
        span = slice(round(first * RATE), round((first + 0.6) * RATE))
        ratio = out[:, span].square().mean() / signal[:, span].square().mean()
        assert abs(10 * ratio.log10()) < 1.0
    assert out[:, RATE + 800 : 2 * RATE - 800].abs().max() == 0.0


def test_averages_do_not_hear_the_padding_of_a_batch(parts):
    long, short = speech(1.2), speech(0.8, seed=1)
    padded = torch.nn.functional.pad(short, (0, long.shape[1] - short.shape[1]))
    both = averages(parts, torch.cat([long, padded]), [long.shape[1], short.shape[1]])
    alone = averages(parts, short)
    for name in ("bands", "power", "log_f0", "log_f0_std"):
        torch.testing.assert_close(
            getattr(both, name)[1:], getattr(alone, name), atol=0.05, rtol=0.02
        )


def test_loudness_does_not_change_the_content(parts):
    signal = speech()
    faint = 0.05 * signal
    found = []
    for x in (signal, faint):
        core = ResynthesisCore(parts, voice(), averages(parts, x))
        found.append(torch.cat([core.push(x), core.flush()], dim=1))
    torch.testing.assert_close(0.05 * found[0], found[1], atol=2e-3, rtol=0)


def test_gains_are_amplitudes_on_lines():
    source, sounding = torch.full((1, 6), 4.0), torch.ones(1, 6)
    gains = _gains(source, sounding)
    assert torch.allclose(gains, torch.full((1, 4), 2.0))
    assert torch.allclose(_lines(gains), torch.full((1, 2 * HOP), 2.0))
    ramp = torch.arange(5.0)[None]
    line = _lines(ramp)[0]
    assert torch.allclose(line.diff(), torch.full((3 * HOP - 1,), 1.0 / HOP), atol=1e-5)
    assert abs(line[HOP // 2 - 1 : HOP // 2 + 1].mean() - 1.0) < 1e-5


def test_live_gains_stand_at_the_ends_of_frames():
    source, sounding = torch.full((1, 6), 4.0), torch.ones(1, 6)
    assert torch.allclose(_gains_at_ends(source, sounding), torch.full((1, 5), 2.0))
    source[0, 3:] = 16.0  # the end of frame 2 lies between both levels
    assert torch.allclose(_gains_at_ends(source, sounding)[0, 2], torch.tensor(10.0).sqrt())
    line = _lines_between_ends(torch.tensor([[1.0, 3.0, 2.0]]))[0]
    assert line[[0, HOP - 1, 2 * HOP - 1]].tolist() == pytest.approx([1 + 2 / HOP, 3.0, 2.0])


def test_live_speech_lags_less(parts):
    """By a frame of the gain, a frame of F0, and what whole frames of content wait for."""
    signal = speech(0.5)
    live = ResynthesisCore(parts, voice(), None)
    file = ResynthesisCore(parts, voice(), averages(parts, signal))
    assert file.latency - 2 * HOP - STEP <= live.latency <= file.latency - 2 * HOP


@pytest.mark.parametrize("frames", [1, 2])
def test_live_speech_comes_with_the_block_that_completes_it(frames):
    """The encoder looks eight frames ahead, and so does F0; the vocoder five, and the gain one."""
    parts = Parts(CONTENT | {"blocks": 4}, "istft-vocoder", OPTIONS, rank=4)
    assert (parts.content.latency, parts.synthesizer.latency) == (8 * HOP, 5 * HOP)
    core, block, given = ResynthesisCore(parts, voice(), None), frames * HOP, 0
    signal = speech(0.8)
    blocks = signal.split(block, dim=1)
    waiting = []
    for number, part in enumerate(blocks, 1):
        given += core.push(part).shape[1]
        waiting.append(number * block - given)
    late = min(waiting[len(waiting) // 2 :])
    assert late == (8 + 5 + 1) * HOP
