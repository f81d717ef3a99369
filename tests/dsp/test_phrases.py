"""Phrases between pauses: known places, noise, clicks, quiet passages, and no pause at all."""

import numpy as np
import pytest
import torch

from voicenym.dsp.phrases import LEAST_PAUSE, FrameLevels, phrases


def levels(*parts, seed=0):
    """Mean squares of parts of (seconds, dB), with the spread of speech and noise."""
    rng = np.random.default_rng(seed)
    made = [rng.normal(db, 1.0, round(100 * seconds)) for seconds, db in parts]
    return 10.0 ** (np.concatenate(made) / 10.0)


def test_phrases_lie_where_speech_was_put():
    found = phrases(levels((0.5, -60), (1.5, -20), (0.6, -60), (2.0, -25), (0.4, -60)))
    assert found.seconds == pytest.approx(5.0)
    assert found.spans == pytest.approx(np.array([[0.45, 2.05], [2.55, 4.65]]), abs=0.04)


def test_a_gap_within_a_phrase_and_a_click_in_a_pause_do_not_count():
    gap = phrases(levels((0.5, -60), (1.0, -20), (LEAST_PAUSE, -60), (1.0, -20), (0.5, -60)))
    assert len(gap.spans) == 1
    click = phrases(levels((0.5, -60), (1.0, -20), (0.6, -60), (0.05, -20), (0.6, -60), (1, -20)))
    assert len(click.spans) == 2


def test_a_quiet_talker_after_a_loud_one_is_speech():
    found = phrases(levels((1, -70), (4, -15), (4, -70), (4, -45), (1, -70)))
    assert found.spans == pytest.approx(np.array([[0.95, 5.05], [8.95, 13.05]]), abs=0.05)


def test_a_recording_without_pauses_is_one_phrase():
    for whole in (levels((6, -20)), levels((3, -20), (3, -24))):
        assert phrases(whole).spans.tolist() == [[0.0, 6.0]]


def test_silence_and_nothing_have_no_phrase():
    for empty in (np.zeros(300), np.zeros(0)):
        found = phrases(empty)
        assert found.spans.shape == (0, 2)
        assert found.seconds == len(empty) / 100


@pytest.mark.parametrize("size", [1, 159, 160, 999, 5000])
def test_levels_do_not_depend_on_the_blocks(size):
    signal = torch.randn(2, 5000, generator=torch.Generator().manual_seed(0))
    frames = FrameLevels(2, 16_000)
    for block in signal.split(size, dim=1):
        frames.push(block)
    whole = signal[:, :4960].unflatten(1, (31, 160)).square().mean(2)
    torch.testing.assert_close(torch.from_numpy(frames.result()), whole)


@pytest.mark.parametrize(("noise", "found"), [(-40, 2), (-34, 2), (-28, 1)])
def test_pauses_are_found_in_noise_that_is_quieter_than_speech(noise, found):
    """Speech between -22 and -34 dB: in loud noise its quiet sounds are no pauses."""
    generator = np.random.default_rng(1)
    spoken = generator.uniform(-34.0, -20.0, 40).repeat(10)  # sounds of 0.1 s
    quiet = np.full(80, -90.0)
    decibels = np.concatenate([quiet, spoken[:200], quiet, spoken[200:], quiet])
    loud = 10.0 ** (decibels / 10.0) + 10.0 ** ((noise + generator.normal(0, 0.5, 640)) / 10.0)
    spans = phrases(loud).spans
    assert len(spans) == found
    if found == 2:
        assert spans == pytest.approx(np.array([[0.75, 2.85], [3.55, 5.65]]), abs=0.25)
