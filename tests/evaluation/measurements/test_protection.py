"""Figures of drawn scores: metrics and thresholds."""

import numpy as np
import pytest

from voicenym.attack.attackers import Ignorant, LazyInformed, SemiInformedBackEnd, Unprotected
from voicenym.attack.normalised_scores import Normalised
from voicenym.attack.searches.key_search import KeySearch, UnprotectedPerTrial
from voicenym.errors import ScoreError
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.reported_metrics import metrics
from voicenym.metrics import eer
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE


@pytest.fixture
def test(found):
    return found[1].trials


def scores(test, distance, seed=0):
    noise = np.random.default_rng(seed).standard_normal(test.tested.shape)
    return noise + distance * test.target


def test_every_figure_has_an_interval(test):
    figures = protection.measured(Ignorant(), scores(test, 2.0), test, "v", 50, 1.0).figures.figures
    assert {"EER", "ROCCH-EER", "min C_llr", "D_ECE", "worst case", "D_sys"} <= set(figures)
    assert {"MMR", "WMR", "EER f", "EER m"} <= set(figures)
    shares = {m.name for m in metrics() if m.interval == BOOTSTRAP_OF_SHARE}
    for name, m in figures.items():
        if m.low is None:
            assert name.endswith((" f", " m")), "of four speakers each"
            assert name[:-2] not in shares
            continue
        assert m.low <= m.high, name
        if name != "worst case":
            assert m.low <= m.value <= m.high, name


def test_rates_are_those_at_the_threshold_of_originals(test):
    bare = protection.measured(Unprotected(), scores(test, 3.0), test, "v", 20)
    assert "MMR" not in bare.figures.figures
    s = scores(test, 3.0)
    assert bare.threshold == eer(s[test.target], s[test.nontarget]).threshold
    hidden = scores(test, 0.5, seed=1)
    figures = protection.measured(Ignorant(), hidden, test, "v", 20, bare.threshold).figures.figures
    missed = np.mean(hidden[test.target] < bare.threshold)
    wrong = np.mean(hidden[test.nontarget] >= bare.threshold)
    assert figures["MMR"].value == pytest.approx(100 * missed)
    assert figures["WMR"].value == pytest.approx(100 * wrong)
    assert figures["MMR"].value > 50 > figures["WMR"].value


def test_each_attacker_keeps_the_threshold_of_its_own_scale():
    assert Ignorant().reference == LazyInformed().reference == Unprotected().name
    assert KeySearch().reference == UnprotectedPerTrial().name
    assert Normalised(Ignorant()).reference == Normalised(Unprotected()).name
    assert SemiInformedBackEnd().reference == Normalised(SemiInformedBackEnd()).reference == ""


def test_a_score_that_is_no_number_names_the_trial(test):
    broken = scores(test, 1.0)
    model, trial = np.argwhere(test.nontarget)[3]
    broken[model, trial] = np.nan
    names = f"{test.models[model].name} and {test.recordings[trial].name} is NaN"
    with pytest.raises(ScoreError, match=names):
        protection.measured(Ignorant(), broken, test, "v", 20)
    untested = np.where(test.tested, scores(test, 1.0), np.nan)
    assert protection.measured(Ignorant(), untested, test, "v", 20).figures.eer.value < 50
