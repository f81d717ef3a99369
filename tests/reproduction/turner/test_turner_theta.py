"""Forced dissimilarity: rows and claims of figures 7 and 8, with measurements that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.metrics.intervals.bootstrap_draws import share
from voicenym.reproduction.outcome import Figure
from voicenym.reproduction.turner import turner_theta

PEOPLE = [f"s{i:02d}" for i in range(40)]


@pytest.fixture
def swept(bench, monkeypatch):
    """A sweep of two values on which min C_llr is what a test says."""

    def of(falls):
        monkeypatch.setattr(
            turner_theta, "_fall", lambda b, free, least, attacker, sex: falls[attacker, sex]
        )
        monkeypatch.setattr(turner_theta, "attacked", lambda *given: Figure(0.5, 0.4, 0.6))
        return turner_theta.forced(bench)

    return of


def test_verdicts_of_both_scenes_need_both_sexes(swept):
    down, up, open_ = Figure(0.2, 0.1, 0.3), Figure(-0.2, -0.3, -0.1), Figure(0.0, -0.1, 0.1)
    scenes = [attacker for _, attacker in turner_theta.SCENES]

    def verdicts(*four):
        keys = [(attacker, sex) for attacker in scenes for sex in ("f", "m")]
        return [f.holds for f in swept(dict(zip(keys, four, strict=True))).findings]

    assert verdicts(up, up, down, down) == [True, True]
    assert verdicts(up, down, down, up) == [False, False]  # one sex is enough against a claim
    assert verdicts(up, open_, down, open_) == [None, None]


def test_the_sweep_begins_without_a_constraint_and_ends_at_the_least_theta(swept):
    ours = swept(dict.fromkeys(
        [(a, s) for _, a in turner_theta.SCENES for s in ("f", "m")], Figure(0.0, -0.1, 0.1)
    ))  # fmt: skip
    labels = [row.label for row in ours.panels[0].rows]
    assert labels == ["theta none", "theta 0.5", "baseline (selection)"]
    assert "theta 0.5" in ours.findings[0].evidence
    assert ours.drawings[0][1].startswith("<svg")


def test_words_rise_where_they_do_on_every_speaker(bench, monkeypatch):
    base = np.linspace(0.1, 0.8, 40)
    lost = {"ssl-gmm": base, "ssl-gmm:theta=0.5": base + 0.05}
    monkeypatch.setattr(
        turner_theta, "said", lambda b, system: share(lost[system], np.ones(40), PEOPLE)
    )
    monkeypatch.setattr(turner_theta, "useful", lambda *given: Figure(30.0, 20.0, 40.0))
    monkeypatch.setattr(turner_theta, "original", lambda *given: Figure(20.0, 10.0, 30.0))
    ours = turner_theta.forced_words(bench)
    assert ours.findings[0].holds is True
    assert "difference 5.0 (5.0 to 5.0)" in ours.findings[0].evidence
    lost["ssl-gmm:theta=0.5"] = base
    assert turner_theta.forced_words(bench).findings[0].holds is None
