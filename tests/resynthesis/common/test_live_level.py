"""Live level: pauses by the last seconds, speech at the fixed level, silence between phrases."""

import numpy as np
import pytest
import torch

from voicenym.dsp.phrases import phrases
from voicenym.resynthesis.common import live_level
from voicenym.resynthesis.common.fixed_level import USUAL
from voicenym.resynthesis.common.live_level import FADE, LiveLevel, RunningPhrases

HOP = 160


def levels():
    """Speech of 2 s, a pause of 1 s, speech of 2 s; noise 50 dB below."""
    found = np.full(500, 1e-2)
    found[200:300] = 1e-7
    return found


def steps(values, kept=16, ahead=32):
    """Presence of all frames, step by step."""
    running, found = RunningPhrases(), []
    for start in range(0, len(values), kept):
        own = values[start : start + kept]
        found.append(running.push(values[start : start + kept + ahead], len(own)))
    return np.concatenate(found)


def test_pauses_are_those_of_the_whole_once_noise_and_speech_are_known():
    values = levels()
    whole = np.zeros(len(values), bool)
    for start, end in phrases(values).spans:
        whole[round(100 * start) : round(100 * end)] = True
    found = steps(values)
    assert not whole[210:290].any()
    assert np.mean(found == whole) > 0.97


def test_digital_silence_is_no_phrase():
    assert not steps(np.zeros(100)).any()


def test_memory_is_bounded():
    running = RunningPhrases()
    for _ in range(400):
        running.push(np.full(48, 1e-3), 16)
    assert len(running._levels) == 100 * live_level.REMEMBERED


def sound(frames, power, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return power**0.5 * torch.randn(frames * HOP, generator=generator)


@pytest.mark.parametrize("power", [1e-3, 1e-2, 1e-1])
def test_speech_reaches_the_fixed_level_whatever_the_synthesizer_s(power):
    level = LiveLevel()
    out = level.push(np.ones(1_000, bool), sound(1_000, power))
    assert float(out[-200 * HOP :].square().mean().sqrt()) == pytest.approx(USUAL, rel=0.1)


def test_between_phrases_there_is_silence_after_a_fade():
    there = np.ones(100, bool)
    there[50:] = False
    out = LiveLevel().push(there, sound(100, 1e-2))
    assert out[: 50 * HOP].any()
    assert not out[(50 + FADE) * HOP :].any()


def test_what_is_late_waits_and_any_parts_give_the_same():
    there, made = levels() > 1e-3, sound(500, 1e-2)
    whole = LiveLevel().push(there, made)
    level, found, start = LiveLevel(), [], 0
    found.append(level.push(there[:200], made[:0]))
    for size in (1, 70, 16_000, 320, 10**6):
        found.append(level.push(there[:0] if start else there[200:], made[start : start + size]))
        start += size
    assert len(found[0]) == 0
    torch.testing.assert_close(torch.cat(found), whole)
