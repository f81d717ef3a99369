import numpy as np
import pytest

from voicenym.metrics import real_time_coefficient, signal_to_noise


@pytest.mark.parametrize("gain", [0.5, 0.9, 1.01, 3.0])
def test_noise_of_a_known_gain(gain):
    signal = np.sin(np.arange(1000))
    found = signal_to_noise(signal, gain * signal)
    expected = -20 * np.log10(abs(1 - gain))
    assert (found.value, *found.interval) == pytest.approx((expected,) * 3), "the same throughout"
    assert (found.unit, found.recordings) == ("dB", 1)


def test_noise_of_a_known_power():
    rng = np.random.default_rng(0)
    signal, noise = rng.standard_normal((2, 200_000))
    found = signal_to_noise(signal, signal + 0.1 * noise)
    assert found.value == pytest.approx(20.0, abs=0.05)
    assert found.interval[0] <= found.value <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.2


def test_a_recording_that_is_noisy_in_part_has_a_wide_interval():
    rng = np.random.default_rng(0)
    signal, noise = rng.standard_normal((2, 20_000))
    late = np.where(np.arange(20_000) < 15_000, 0.01, 1.0) * noise
    low, high = signal_to_noise(signal, signal + late).interval
    assert high - low > 3.0


def test_the_level_of_both_does_not_matter():
    x, y = np.random.default_rng(1).standard_normal((2, 50))
    assert signal_to_noise(7 * x, 7 * y).value == pytest.approx(signal_to_noise(x, y).value)


def test_nothing_changed_and_nothing_there():
    assert signal_to_noise(np.ones(3), np.ones(3)).value == np.inf
    assert signal_to_noise(np.zeros(3), np.zeros(3)).value == np.inf
    assert signal_to_noise(np.zeros(3), np.ones(3)).value == -np.inf


def test_of_several_recordings_it_is_the_mean_and_speakers_are_drawn():
    x = np.sin(np.arange(400))
    before = [x[:300], x] * 6
    made = [y * (1.1 if len(y) == 300 else 1.01) for y in before]
    first = signal_to_noise(before, made, list("abcdef") * 2)
    assert first.value == pytest.approx(30.0)
    assert first.interval[0] < 26.0, "half of the speakers have 20 dB, the others 40"
    assert first.interval[1] > 34.0
    assert first.recordings == 12
    mixed = signal_to_noise(before, made, np.repeat(list("abcdef"), 2))
    assert mixed.interval == pytest.approx((30.0, 30.0))
    few = signal_to_noise(before[:8], made[:8], list("abcd") * 2)
    assert np.isnan(few.interval).all()
    assert np.isnan(signal_to_noise([x, x], [2 * x, 3 * x], ["a", "a"]).interval).all()


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="3 and 4 samples"):
        signal_to_noise(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="2 originals but 1"):
        signal_to_noise([np.zeros(3)] * 2, [np.zeros(3)])
    with pytest.raises(ValueError, match="2 recordings but 1 speaker"):
        signal_to_noise([np.ones(3)] * 2, [np.zeros(3)] * 2, ["a"])


def test_the_real_time_coefficient_is_of_all_recordings_together():
    one = real_time_coefficient(3.0, 60.0)
    assert (one.value, one.unit) == (0.05, "of real time")
    assert np.isnan(one.interval).all()
    several = real_time_coefficient([1.0, 3.0, 2.0] * 2, [10.0] * 6)
    assert several.value == pytest.approx(0.2), "of all together"
    assert 0.1 <= several.interval[0] < 0.2 < several.interval[1] <= 0.3
    assert np.isnan(real_time_coefficient([1.0, 3.0], [9.0, 9.0], ["a", "a"]).interval).all()
    with pytest.raises(ValueError, match="positive"):
        real_time_coefficient(1.0, 0.0)
    with pytest.raises(ValueError, match="2 times of processing but 1 duration"):
        real_time_coefficient([1.0, 2.0], 3.0)
    with pytest.raises(ValueError, match="1 recording but 2 speakers"):
        real_time_coefficient([1.0], [3.0], ["a", "b"])
