"""List of metrics: their properties; reports of earlier releases stay readable."""

import dataclasses
import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from voicenym.errors import DependencyError, ScoreError, VoicenymError
from voicenym.evaluation import card_figures, reported_metrics, results_file
from voicenym.evaluation.comparisons import saved_scores
from voicenym.evaluation.comparisons.comparison import compare
from voicenym.evaluation.reported_metrics import METRICS, headline, measure, metrics, named, of
from voicenym.evaluation.reports import report
from voicenym.evaluation.reports.text_summary import summary
from voicenym.metrics import Speakers
from voicenym.metrics.metric import BOOTSTRAP_OF_SHARE, Display, Estimate, Measured, Metric
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.registry import Entry
from voicenym.registry import names as registry_names
from voicenym.registry.entry_points import EntryPoint

OLD = Path(__file__).with_name("old_report")
"""Written by the release before metrics were objects, from drawn scores of four speakers."""


def spread(scores):
    """A made-up metric of trial scores."""
    return Estimate(float(np.std(scores.target)), (0.5, 1.5))


SPREAD = Metric(
    name="spread",
    unit="bit",
    better="lower",
    chance=1.0,
    interval="made up",
    definition="Deviation of the target scores",
    data=TrialScores,
    measure=spread,
    display=Display(table="attackers", digits=3, compared=True, card=True),
)


@pytest.fixture
def one_more(monkeypatch):
    """The list with a metric that is registered and named nowhere else."""
    monkeypatch.setitem(METRICS.own, "spread", Entry(SPREAD))
    metrics.cache_clear()
    yield SPREAD
    monkeypatch.undo()
    metrics.cache_clear()


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    who = Speakers(np.repeat(np.arange(6), 2)[:, None] * [1, 1], rng.integers(0, 6, (30, 2)))
    return TrialScores(rng.normal(1, 1, 12), rng.normal(0, 1, 30), who, 0.5, replicates=20)


def test_every_metric_states_what_a_reader_must_know():
    names = [metric.name for metric in metrics()]
    assert names == list(reported_metrics.PLACES)
    for metric in metrics():
        assert metric.better in ("higher", "lower", "neither")
        assert metric.definition
        assert not metric.definition.endswith(".")
        assert metric.interval in metric.explanation or metric.interval == "none"
        assert METRICS.describe(metric.name).summary == metric.definition
    assert headline().name == "EER"
    assert "Higher is better. Chance level: 50 %. Interval: percentiles" in headline().explanation
    with pytest.raises(VoicenymError, match=r"no metric 'ERR' \(did you mean .*EER"):
        METRICS.get("ERR")


def test_chance_levels_are_what_equal_scores_give(trials):
    many = np.random.default_rng(0).integers(0, 6, (2000, 2))
    who = Speakers(trials.speakers.target, many)
    equal = dataclasses.replace(trials, target=np.zeros(12), nontarget=np.zeros(2000), speakers=who)
    for metric in of(TrialScores):
        # Laplace's rule leaves a likelihood ratio where the classes differ in size
        if metric.chance is not None and metric.name != "worst case":
            assert metric(equal).value == pytest.approx(metric.chance, abs=1e-9), metric.name


def test_figures_are_scaled_to_their_unit_and_limits_that_are_nan_are_none():
    eer = headline()
    assert eer.figure(0.25, (0.2, 0.3)) == Measured(25.0, 20.0, 30.0, "%")
    assert eer.figure(0.25, (math.nan, math.nan)) == Measured(25.0, unit="%")
    assert eer.figure(0.25) == Measured(25.0, unit="%")


def test_metrics_of_one_computation_share_it(trials):
    calls = []

    def counted(*arguments, **options):
        calls.append(options)
        return Estimate(1.0)

    assert trials.estimate(counted) is trials.estimate(counted)
    assert calls == [{"replicates": 20, "seed": 0}]
    assert trials.once(lambda scores: scores.threshold) == 0.5


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("EER f", "EER"), ("weighted EER", "EER"), ("EER VCTK f", "EER"), ("C", None),
        ("rho_F0 by chance", "rho_F0 by chance"), ("WER retrained", "WER"),
        ("weighted rho_F0", "rho_F0"), ("WER substitutions", "WER substitutions"),
    ],
)  # fmt: skip
def test_keys_of_subgroups_and_means_belong_to_their_metric(key, name):
    metric = named(key)
    assert (metric and metric.name) == name


def test_what_cannot_be_measured_is_a_note_or_an_error(trials, monkeypatch):
    rate = headline()

    def fails(error):
        def failing(scores):
            raise error

        broken = dataclasses.replace(
            SPREAD, measure=failing, display=Display("sound", subject="spread of scores")
        )
        monkeypatch.setattr(reported_metrics, "metrics", lambda: (broken, rate))

    for error in (DependencyError("pip install it"), ValueError("too short")):
        fails(error)
        notes = []
        assert set(measure(trials, notes=notes)) == {"EER"}
        assert notes == [f"spread of scores was not measured: {error}"]
        with pytest.raises(type(error)):
            measure(trials)
    fails(ScoreError("NaN"))
    with pytest.raises(ScoreError):
        measure(trials, notes=[])


def test_a_registered_metric_is_in_results_tables_report_comparison_and_output(
    one_more, trials, found, tmp_path
):
    """One object and one line of the registry are all that a new metric needs."""
    figure = measure(trials)["spread"]
    assert figure == Measured(float(np.std(trials.target)), 0.5, 1.5, "bit")
    evaluation, _ = found
    system = dataclasses.replace(evaluation.systems[0], name="mcadams", utility={"spread": figure})
    top = dataclasses.replace(
        system.strongest, figures={**system.strongest.figures, "spread": figure}
    )
    system = dataclasses.replace(system, attacks=(top,))
    changed = dataclasses.replace(evaluation, systems=(system,))
    results_file.save(changed, tmp_path)
    assert results_file.load(tmp_path).systems[0].strongest.figures["spread"] == figure
    assert f"spread,{figure.value},0.5,1.5,bit" in (tmp_path / "results.csv").read_text()
    page = report.html(changed, None)
    shown = f"{figure.value:.3f}"
    assert '<th scope="col">spread</th>' in page
    assert f'{shown} <span class="range">(0.500 to 1.500)' in page
    assert "Deviation of the target scores. Lower is better. Chance level: 1 bit." in page
    printed = " ".join(summary(changed).split())
    assert f"spread {shown} bit (0.500 to 1.500), chance 1 bit" in printed
    table = compare([("a", changed)])
    assert "spread bit" in table
    assert f"{shown} [0.500, 1.500]" in table
    card_figures.write(changed, tmp_path / "figures.json")
    rows = json.loads((tmp_path / "figures.json").read_text())["mcadams"]
    assert rows[-1]["metric"] == "spread"


def test_what_another_package_declares_must_be_a_metric(monkeypatch):
    monkeypatch.setitem(METRICS.own, "spread", Entry(lambda data: None))
    metrics.cache_clear()
    with pytest.raises(VoicenymError, match="metric 'spread' of voicenym is no voicenym"):
        metrics()
    monkeypatch.undo()
    metrics.cache_clear()


def test_a_report_of_an_earlier_release_is_compared_as_that_release_did():
    old = results_file.load(OLD)
    lines = compare([("a", old, saved_scores.load(OLD))], 200).splitlines()
    then = (OLD / "compare.txt").read_text().splitlines()
    figures = [line for line in lines if line.startswith("a: ") and " against " not in line]
    assert figures == [line for line in then if line.startswith("a: ") and " against " not in line]
    tests = [line for line in lines if " against " in line]
    assert len(tests) == 2
    assert all("  unpaired  " in line for line in tests), "of four speakers, by the intervals"
    assert lines[0] == then[0], "the same columns"


def test_cards_from_a_report_of_an_earlier_release_have_the_same_bytes(tmp_path):
    card_figures.write(results_file.load(OLD), tmp_path / "figures.json")
    assert (tmp_path / "figures.json").read_bytes() == (OLD / "figures.json").read_bytes()


def test_a_page_is_written_from_an_earlier_report_with_figures_of_no_listed_metric(tmp_path):
    shutil.copy(OLD / "results.json", tmp_path)
    text = (tmp_path / "results.json").read_text().replace('"D_sys"', '"D_former"')
    (tmp_path / "results.json").write_text(text)
    page = report.html(results_file.load(tmp_path), None)
    assert '<th scope="col">D_former</th>' in page
    assert "Global linkability" not in page


def test_figures_of_the_same_scores_are_those_of_the_earlier_release():
    """Values of all attackers' metrics, from the scores that were saved then; and intervals of
    shares of trials, which are wider now. Other figures of four speakers have none any longer.
    """
    old, saved = results_file.load(OLD), saved_scores.load(OLD)
    same = saved.pairs[:, 0] == saved.pairs[:, 1]
    _, index = np.unique(saved.pairs, return_inverse=True)
    pairs = index.reshape(saved.pairs.shape)
    for system in old.systems:
        scores = saved.scores[system.name]
        data = TrialScores(
            scores[same], scores[~same], Speakers(pairs[same], pairs[~same]), replicates=30
        )
        found = measure(data)
        then = system.strongest.figures
        for name, figure in then.items():
            if name not in found:
                continue
            now = found[name]
            assert now.value == pytest.approx(figure.value, nan_ok=True), name
            metric = named(name)
            if metric is not None and metric.interval == BOOTSTRAP_OF_SHARE:
                assert now.low <= figure.low, name
                assert now.high >= figure.high, name
            elif name == "ROCCH-EER":
                assert now.low <= now.value <= now.high, name
            elif name not in ("first of 1,000", "worst speaker", "found for sure"):
                assert now.low is now.high is None, name
        assert set(then) - set(found) <= {"EER f", "EER m"}


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        (lambda scores: 3.0, "AttributeError"),
        (lambda scores: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda scores: sys.exit(0), "SystemExit: 0"),
    ],
)
def test_a_defect_of_another_packages_metric_is_an_error_that_names_both(
    trials, monkeypatch, measured, message
):
    """It was a traceback, and an exit ended the evaluation with status 0 and no report."""
    theirs = dataclasses.replace(SPREAD, measure=measured)
    point = EntryPoint("spread", "theirs:SPREAD", "their-metrics")
    monkeypatch.setattr(registry_names, "entry_points", lambda group: (point,))
    monkeypatch.setattr(reported_metrics, "metrics", lambda: (theirs,))
    with pytest.raises(VoicenymError, match=f"'spread' of the package their-metrics .*{message}"):
        measure(trials, notes=[])


def test_the_heading_of_a_narrow_column_has_its_unit_once():
    columns = {metric.name: metric.column for metric in metrics()}
    assert columns["EER"] == "EER %"
    assert columns["TMR at FMR 1 %"] == "TMR at FMR 1 %"
