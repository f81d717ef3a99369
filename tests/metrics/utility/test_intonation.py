import numpy as np
import pytest

from voicenym.evaluation.reported_metrics import measure
from voicenym.metrics import pitch_correlation
from voicenym.metrics.metric_inputs import SpeechPairs
from voicenym.metrics.utility import intonation
from voicenym.metrics.utility.intonation import _fisher, tally

FRAMES = np.arange(300)
MELODY = 150 + 40 * np.sin(FRAMES / 17) + 10 * np.sin(FRAMES / 5)
VOICED = (FRAMES // 30) % 3 != 2
RNG = np.random.default_rng(0)


def smooth(seed):
    steps = np.random.default_rng(seed).standard_normal(330)
    return 150 + 2 * np.convolve(steps, np.ones(31), "valid")


def test_a_moved_register_and_range_keep_the_melody():
    track = np.where(VOICED, MELODY, 0)
    moved = np.where(VOICED, 1.7 * MELODY - 20, 0)
    assert pitch_correlation(track, moved).value == pytest.approx(1.0)
    upside_down = np.where(VOICED, 300 - MELODY, 0)
    assert pitch_correlation(track, upside_down, longest_lag=0).value == pytest.approx(-1.0)


@pytest.mark.parametrize("lag", [-15, 0, 7])
def test_a_delay_is_found(lag):
    track = np.where(VOICED, MELODY, 0)
    late = np.roll(track, lag)
    if lag > 0:
        late[:lag] = 0
    elif lag < 0:
        late[lag:] = 0
    found = pitch_correlation(track, late)
    assert found.lag == lag
    assert found.value == pytest.approx(1.0)


def test_a_delay_of_the_longest_lag_is_found_and_a_longer_one_is_not_searched():
    track = np.where(VOICED, MELODY, 0)
    for late, lag in ((np.r_[np.zeros(20), track], 20), (track[20:], -20)):
        found = pitch_correlation(track, late)
        assert (found.lag, found.value) == (lag, pytest.approx(1.0))
    assert abs(pitch_correlation(track, np.r_[np.zeros(21), track]).lag) <= 20


@pytest.mark.parametrize("missed", [1, 3, 8, 15, 40])
@pytest.mark.parametrize("end", ["first", "last"])
def test_frames_that_the_tracker_misses_at_an_end_are_no_delay(missed, end):
    """An unchanged melody keeps its correlation of 1, whichever frames of it are unvoiced."""
    melody = 150 + 30 * np.sin(np.arange(100) / 5)
    partly = melody.copy()
    partly[slice(None, missed) if end == "first" else slice(-missed, None)] = 0
    for found in (pitch_correlation(melody, partly), pitch_correlation(partly, melody)):
        assert (found.lag, found.frames) == (0, 100 - missed)
        assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(10))
def test_no_pattern_of_missed_frames_is_a_delay(seed):
    rng = np.random.default_rng(seed)
    track = np.where(VOICED, smooth(seed)[:300], 0)
    partly = track.copy()
    for start in rng.integers(0, 300, 8):
        partly[start : start + rng.integers(1, 15)] = 0
    found = pitch_correlation(track, partly)
    assert (found.lag, found.value) == (0, pytest.approx(1.0))


def test_one_rhythm_with_unrelated_melodies_fools_the_challenges_program_only():
    a, b = (np.where(VOICED, smooth(seed), 0) for seed in (1, 2))
    assert pitch_correlation(a, b, mode="compat").value > 0.9
    assert abs(pitch_correlation(a, b, longest_lag=0).value) < 0.5


def test_that_fault_in_numbers():
    """Contours of 15 s that share nothing but when they are voiced: 0.98 against about 0."""
    frames = np.arange(1500)
    voiced = (frames // 30) % 3 != 2
    found = []
    for seed in range(0, 40, 2):
        pair = [
            150
            + 2 * np.convolve(np.random.default_rng(s).standard_normal(1530), np.ones(31), "valid")
            for s in (seed, seed + 1)
        ]
        a, b = (np.where(voiced, track, 0) for track in pair)
        found.append([pitch_correlation(a, b, mode=mode).value for mode in ("compat", "voiced")])
    compat, plain = np.mean(found, axis=0)
    assert compat > 0.97
    assert abs(plain) < 0.2


def test_too_little_voice_says_nothing():
    assert np.isnan(pitch_correlation(np.zeros(50), MELODY[:50]).value)
    assert np.isnan(pitch_correlation(MELODY[:5], MELODY[:5]).value)
    assert pitch_correlation(np.zeros(50), MELODY[:50], mode="compat").value == 0.0
    assert np.isnan(pitch_correlation([], []).value)


def test_lengths_may_differ():
    assert pitch_correlation(MELODY, MELODY[:280]).value == pytest.approx(1.0)
    with pytest.raises(ValueError, match="voiced or compat"):
        pitch_correlation(MELODY, MELODY, mode="both")


def test_unrelated_melodies_do_not_correlate_whatever_lag_is_searched():
    found = [
        pitch_correlation(
            np.where(VOICED, smooth(2 * s), 0), np.where(VOICED, smooth(2 * s + 1), 0)
        )
        for s in range(60)
    ]
    assert abs(np.mean([f.value for f in found])) < 0.12


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("memory", [5, 25])
def test_intervals_know_that_neighbouring_frames_are_alike(correlation, memory):
    """Gaussian melodies of a known correlation, each frame alike to those within its memory."""
    rng = np.random.default_rng(memory)

    def melody():
        steps = rng.standard_normal(600 + memory - 1)
        return np.convolve(steps, np.full(memory, memory**-0.5), "valid")

    voiced = (np.arange(600) // 30) % 3 != 2
    inside, widths = 0, []
    for _ in range(60):
        x = melody()
        y = correlation * x + np.sqrt(1 - correlation**2) * melody()
        found = pitch_correlation(
            np.where(voiced, 150 + 15 * x, 0), np.where(voiced, 200 + 15 * y, 0)
        )
        low, high = found.interval
        assert low <= found.value <= high
        inside += low <= correlation <= high
        widths.append(high - low)
    assert inside >= 52, "nominally 57 of 60"
    if correlation == 0.0:  # 400 independent frames would give 0.2
        assert np.median(widths) > (0.3 if memory == 5 else 0.7)


def test_intervals_where_little_or_nothing_is_known():
    assert np.isnan(pitch_correlation(MELODY[:5], MELODY[:5]).interval).all()
    assert np.isnan(pitch_correlation(np.full(40, 100.0), MELODY[:40]).interval).all()
    assert _fisher(0.9, 2.5, 0.95) == (-1.0, 1.0), "worth three frames or fewer"
    assert np.isnan(pitch_correlation(MELODY, MELODY, mode="compat").interval).all()


def rho(before, after, monkeypatch):
    """Figures, notes and tally of recordings whose samples are their contours of F0."""
    monkeypatch.setattr(intonation, "pitch_contour", lambda x, rate: x)
    names = [str(i) for i in range(len(before))]
    texts = [f"text {i}" for i in range(len(before))]
    pairs = SpeechPairs(before, after, 100, names, list("abcde") * 2, texts, replicates=50)
    notes = []
    figures = measure(pairs, only=lambda metric: "rho_F0" in metric.name, notes=notes)
    return figures["rho_F0"], notes, tally(pairs)


def test_a_recording_that_a_system_silences_counts_0(monkeypatch):
    """Ten melodies, of which eight are lost: 0.2, and not 1.0 of the two that are left."""
    before = [np.where(VOICED, smooth(seed)[:300], 0) for seed in range(10)]
    kept, notes, _ = rho(before, before, monkeypatch)
    assert (kept.value, notes) == (pytest.approx(1.0), [])
    silent, constant = np.zeros(300), np.where(VOICED, 100.0, 0)
    for lost in (silent, constant):
        after = [x if i in (0, 5) else lost for i, x in enumerate(before)]
        found, notes, counts = rho(before, after, monkeypatch)
        assert found.value == pytest.approx(0.2)
        assert found.low <= found.value <= found.high < 1.0
        assert len(counts.names) == counts.below.sum() == 10
        assert notes[0].startswith("rho_F0 counts 8 of 10 recordings as 0")


def test_an_original_without_a_melody_is_left_out_and_reported(monkeypatch):
    before = [np.where(VOICED, smooth(seed)[:300], 0) for seed in range(10)]
    after = list(before)
    before[3], before[4] = np.zeros(300), np.where(VOICED, 100.0, 0)
    found, notes, counts = rho(before, after, monkeypatch)
    assert found.value == pytest.approx(1.0)
    assert counts.names == tuple("01256789")
    assert len(notes) == 1
    assert notes[0].startswith("rho_F0 was measured on 8 of 10 recordings")
