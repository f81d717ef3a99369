"""Joint bootstrap over systems and verifiers, on outcomes whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from voicenym.metrics import Speakers
from voicenym.metrics.intervals.binomial import wilson
from voicenym.metrics.intervals.bootstrap_draws import replicate, share
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.verification.eer import eer, equal_error
from voicenym.recognition import Recogniser
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import IGNORANT
from voicenym.reproduction.outcome import above

PEOPLE = [f"s{i:02d}" for i in range(40)]


def of(values):
    """A share of one trial a speaker."""
    return share(values, np.ones(len(values)), PEOPLE[: len(values)])


def test_a_mean_over_verifiers_that_agree_has_the_interval_of_one():
    rng = np.random.default_rng(0)
    one = of((rng.random(40) < 0.3).astype(float))
    both = joint_figures.combined([one, one])
    assert joint_figures.percent(both, 300) == joint_figures.percent(one, 300)


def test_equal_error_rates_with_few_errors_have_the_interval_of_the_evaluation():
    """20 speakers, three trials each: draws of no error have no width, those of one too little."""
    same = np.repeat(np.arange(20), 3)
    who = Speakers(np.stack([same, same], axis=1), np.stack([same, (same + 1) % 20], axis=1))
    scores = np.linspace(1.0, 2.0, 60), np.linspace(-1.0, 0.0, 60)
    figure = joint_figures.percent(equal_error(*scores, who), 300)
    assert (figure.value, figure.low) == (0.0, 0.0)
    assert figure.high == pytest.approx(100.0 * wilson(0, 20, 0.95)[1])
    assert figure.high == pytest.approx(100.0 * eer(*scores, who, replicates=300).interval[1])
    scores[0][0], scores[1][-1] = -0.5, 1.5
    one = equal_error(*scores, who)
    figure, found = joint_figures.percent(one, 300), eer(*scores, who, replicates=300)
    assert figure.value == pytest.approx(100.0 * found.value)
    assert figure.high == pytest.approx(100.0 * found.interval[1], abs=2.0)
    assert figure.high > 100.0 * percentiles(replicate([one], 300, 0)[0])[1]
    assert joint_figures.percent(joint_figures.combined([one, one]), 300) == figure


def test_a_mean_over_verifiers_that_disagree_on_every_speaker_has_no_width():
    """One errs on exactly those speakers on whom the other does not: the mean is always a half."""
    hits = (np.arange(40) % 3 == 0).astype(float)
    mean = joint_figures.combined([of(hits), of(1.0 - hits)])
    figure = joint_figures.percent(mean, 300)
    assert figure.value == pytest.approx(50.0)
    assert (figure.low, figure.high) == pytest.approx((50.0, 50.0))


def test_the_least_of_two_verifiers_is_never_above_either():
    rng = np.random.default_rng(1)
    a, b = (of((rng.random(40) < p).astype(float)) for p in (0.3, 0.5))
    least = joint_figures.combined([a, b], np.min)
    assert least.value == min(a.value, b.value)
    times = rng.integers(0, 3, (50, 40)).astype(float)
    assert (least.all(times) <= np.minimum(a.all(times), b.all(times)) + 1e-12).all()


def test_systems_that_differ_by_the_same_on_each_speaker_differ_though_their_intervals_overlap():
    """Speakers differ much, systems by a tenth on each: the paired difference has no width."""
    base = np.linspace(0.1, 0.8, 40)
    first, second = of(base + 0.1), of(base)
    assert joint_figures.percent(first, 300).low < joint_figures.percent(second, 300).high
    gap = joint_figures.difference(first, second, 300)
    assert gap.value == pytest.approx(10.0)
    assert (gap.low, gap.high) == pytest.approx((10.0, 10.0))
    assert above(gap, 0.0) is True
    assert above(joint_figures.difference(second, first, 300), 0.0) is False


def test_equal_systems_are_undecided():
    one = of((np.arange(40) % 2).astype(float))
    assert above(joint_figures.difference(one, one, 300), 0.0) is None


def test_shares_of_all_or_none_have_wilsons_width():
    every = joint_figures.percent_of_trials(of(np.ones(24)), 50)
    low, high = wilson(24, 24, 0.95)
    assert (every.value, every.low, every.high) == (100.0, 100.0 * low, 100.0 * high)
    none = joint_figures.percent_of_trials(of(np.zeros(24)), 50)
    assert (none.low, none.high) == pytest.approx((0.0, 100.0 * (1.0 - low)))


def test_all_against_nearly_all_of_few_speakers_is_undecided():
    """8 of 8 and 7 of 8: Newcombe's interval of the difference holds zero."""
    gap = joint_figures.difference(of(np.ones(8)), of(np.arange(8) > 0), 300)
    assert gap.value == pytest.approx(12.5)
    assert gap.low < 0.0 < gap.high
    against_none = joint_figures.difference(of(np.ones(8)), of(np.zeros(8)), 300)
    low, _ = wilson(8, 8, 0.95)
    assert against_none.low == pytest.approx(100.0 * (1.0 - np.sqrt(2.0) * (1.0 - low)))


def test_what_was_not_measured_is_missing():
    assert joint_figures.percent(None, 10, "no weights").missing == "no weights"
    assert joint_figures.difference(None, of(np.ones(4)), 10).missing


def test_rates_of_a_measurement_are_those_of_its_report(bench):
    found = bench.measured("mcadams")
    name = found.results.attacks[0].verifier
    for sex in ("f", "m"):
        drawn = joint_figures.attack(found, "EER", IGNORANT, name, sex)
        trials, scores = found.evidence.trials, found.evidence.scores[found.name]
        own = [recording.sex == sex for recording in trials.recordings]
        target, nontarget = ((scores[f"{IGNORANT}, {name}"])[mask & own]
                             for mask in (trials.target, trials.nontarget))  # fmt: skip
        assert drawn.value == eer(target, nontarget, interval=None).value
    cost = joint_figures.attack(found, "min C_llr", IGNORANT, name)
    assert cost.value == pytest.approx(found.figure(IGNORANT, "min C_llr").value)
    for metric in ("EER", "MMR"):
        drawn = joint_figures.attack(found, metric, IGNORANT, name)
        assert 100.0 * drawn.value == pytest.approx(found.figure(IGNORANT, metric).value)
    assert joint_figures.attack(found, "EER", "nobody", name) is None
    assert joint_figures.words(found) is None
    with pytest.raises(ValueError, match="not D_sys"):
        joint_figures.attack(found, "D_sys", IGNORANT, name)
    clean = joint_figures.original(found, name)
    rate = found.evaluation.unprotected[0].figures["EER"].value
    assert 100.0 * clean.value == pytest.approx(rate)


class Scripted(Recogniser):
    """Hears every recording as the same words."""

    name = "scripted"

    def transcribe(self, recordings):
        return ["one two three five" for _ in recordings]

    def close(self):
        pass


def test_words_of_originals_are_kept_for_differences(bench):
    """Every fourth word is another one, before and after."""
    spoken = [replace(recording, text="one two three four") for recording in bench.recordings]
    bench.__dict__["recordings"] = spoken
    bench.recogniser = Scripted()
    found = bench.measured("mcadams")
    before, after = joint_figures.words(found, "original"), joint_figures.words(found)
    assert before.value == after.value == 0.25
    gap = joint_figures.difference(after, before, 20)
    assert (gap.value, gap.low, gap.high) == (0.0, None, None), "of four speakers"
