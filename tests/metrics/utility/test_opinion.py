import sys
import types

import numpy as np
import pytest

from voicenym.errors import DependencyError, UnmeasurableError
from voicenym.evaluation.reported_metrics import measure
from voicenym.metrics import mean_opinion
from voicenym.metrics.metric_inputs import SpeechPairs
from voicenym.metrics.utility.opinion import RATE, WINDOW


@pytest.fixture
def prepared(monkeypatch):
    """A model whose overall opinion is a recording's first sample, times ten; what it was given."""
    given = []

    def run(samples, sr):
        assert sr == RATE
        given.append(samples)
        overall = 10 * float(samples[0])
        return {"ovrl_mos": overall, "sig_mos": 2.0, "bak_mos": 3.0, "p808_mos": 4.0}

    package = types.ModuleType("speechmos")
    package.dnsmos = types.SimpleNamespace(run=run)
    monkeypatch.setitem(sys.modules, "speechmos", package)
    return given


def recording(opinion, seconds=10.0):
    return np.full(int(seconds * RATE), opinion / 10)


def test_means_over_recordings(prepared):
    found = mean_opinion([recording(1), recording(2), recording(3)])
    assert found.value == pytest.approx(2.0)
    assert (found.signal, found.background, found.p808) == (2.0, 3.0, 4.0)
    assert (found.recordings, found.unit) == (3, "of 5")


def test_short_recordings_are_repeated_to_one_window(prepared):
    ramp = np.linspace(0.1, 0.2, RATE)
    mean_opinion([ramp, recording(3, 12)])
    assert len(prepared[0]) == WINDOW
    np.testing.assert_array_equal(prepared[0][RATE : 2 * RATE], ramp)
    assert len(prepared[1]) == 12 * RATE


def test_what_cannot_be_rated_is_left_out(prepared):
    found = mean_opinion([recording(2), recording(5, 0.4), np.zeros(RATE)])
    assert (found.value, found.recordings) == (pytest.approx(2.0), 1)
    with pytest.raises(ValueError, match="no recording"):
        mean_opinion([np.zeros(RATE)])


def test_the_report_says_on_how_many_recordings_opinion_was_predicted(prepared):
    """Silence and short recordings are not rated; a note says so, for originals too."""
    speech = [recording(2), recording(3), recording(4)]
    silent = [recording(2), np.zeros(RATE), recording(4, 0.4)]
    for changed, rated in ((speech, 3), (silent, 1)):
        names = [str(i) for i in range(3)]
        pairs = SpeechPairs(speech, changed, RATE, names, names, names, replicates=10)
        notes = []
        measure(pairs, only=lambda metric: metric.name == "DNSMOS", notes=notes)
        assert len(notes) == (rated < 3)
        assert all(f"DNSMOS was measured on {rated} of 3 recordings" in note for note in notes)
        notes = []
        measure(pairs, originals=True, notes=notes)
        assert all(note.startswith("original speech: DNSMOS") for note in notes)


def test_samples_beyond_full_scale_are_clipped(prepared):
    mean_opinion([np.array([0.3, 2.0, -2.0] * RATE)])
    assert np.abs(prepared[0]).max() == 1.0


def test_speakers_are_what_is_drawn(prepared):
    """Six speakers who differ, rated often: the interval does not narrow with more recordings."""
    recordings = [recording(1)] * 15 + [recording(3)] * 15
    people = [name for name in "abcdef" for _ in range(5)]
    low, high = mean_opinion(recordings, people).interval
    assert low < 1.4
    assert high > 2.6
    low, high = mean_opinion(recordings).interval
    assert 1.5 < low < 2.0 < high < 2.5


def test_a_seed_gives_one_interval(prepared):
    recordings = [recording(x) for x in (1.0, 2.5, 3.0, 4.5, 2.0)]
    assert mean_opinion(recordings) == mean_opinion(recordings)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "speechmos", None)
    with pytest.raises(DependencyError, match=r"pip install 'voicenym\[evaluate\]'"):
        mean_opinion([recording(1)])


def test_the_model_prefers_a_clean_tone_complex_to_noise():
    pytest.importorskip("speechmos")
    pytest.importorskip("librosa")
    time = np.arange(WINDOW) / RATE
    voice = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
    voice *= 0.1 * (1 + np.sin(2 * np.pi * 4 * time))
    noise = 0.3 * np.random.default_rng(0).standard_normal(WINDOW)
    clean, noisy = mean_opinion([voice]), mean_opinion([voice + noise])
    for found in (clean, noisy):
        assert all(1 <= v <= 5 for v in (found.value, found.signal, found.background, found.p808))
    assert clean.background > noisy.background


@pytest.mark.parametrize(
    "recordings",
    [[np.full(2 * WINDOW, 900, np.int16)], [recording(1) * np.nan], recording(1)[:3],
     [np.stack([recording(1), recording(2)])]],
    ids=["integers", "nan", "one alone", "channels"],
)  # fmt: skip
def test_what_is_no_recording_is_not_rated(recordings, prepared):
    """Integers would be cut off at full scale, and their noise rated."""
    with pytest.raises(UnmeasurableError, match=r"a list of recordings \[time\] of finite floats"):
        mean_opinion(recordings)
    assert not prepared
