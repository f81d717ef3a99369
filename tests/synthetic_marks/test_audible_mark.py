"""The audible mark: where it is, how loud, and that the rest stays."""

from itertools import pairwise

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from voicenym.errors import VoicenymError
from voicenym.synthetic_marks.audible_mark import AMPLITUDE, TONES, added, mark, write_marked


@given(
    rate=st.sampled_from([8000, 16_000, 44_100]),
    cuts=st.lists(st.integers(0, 20_000), max_size=6),
    every=st.floats(1.0, 3.0),
)
def test_blocks_of_any_size_give_the_same(rate, cuts, every):
    sound = np.zeros((2, 20_000), np.float32)
    whole = added(sound, 0, rate, every)
    borders = [0, *sorted(cuts), 20_000]
    parts = [added(sound[:, a:b], a, rate, every) for a, b in pairwise(borders)]
    assert np.array_equal(np.concatenate(parts, 1), whole)


def test_the_mark_is_two_soft_tones_without_clicks():
    tone = mark(16_000)
    assert np.abs(tone).max() <= AMPLITUDE
    assert max(abs(tone[0]), abs(tone[-1])) < 1e-3
    for half, frequency in zip(np.split(tone, 2), TONES, strict=True):
        spectrum = np.abs(np.fft.rfft(half, 16_000))
        assert abs(int(spectrum.argmax()) - frequency) <= 2


def test_a_file_has_marks_at_intervals_and_is_else_unchanged(tmp_path):
    rate = 16_000
    noise = 0.1 * np.random.default_rng(0).standard_normal((5 * rate, 2))
    soundfile.write(tmp_path / "talk.wav", noise, rate, "FLOAT")
    write_marked(tmp_path / "talk.wav", tmp_path / "out.wav", 2.0)
    before, _ = soundfile.read(tmp_path / "talk.wav", dtype="float32")
    after, same = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert (after.shape, same) == (before.shape, rate)
    change = after - before
    tone = mark(rate)
    for start in (0, 2 * rate, 4 * rate):
        np.testing.assert_allclose(
            change[start : start + len(tone)], np.stack([tone, tone], 1), atol=1e-6
        )
        change[start : start + len(tone)] = 0.0
    assert not change.any()


def test_full_scale_stays_within_full_scale():
    loud = np.ones((1, 8000), np.float32)
    assert np.abs(added(loud, 0, 16_000)).max() <= 1.0


def test_too_short_an_interval(tmp_path):
    with pytest.raises(VoicenymError, match="1 s or more"):
        write_marked(tmp_path / "a.wav", tmp_path / "b.wav", 0.1)
