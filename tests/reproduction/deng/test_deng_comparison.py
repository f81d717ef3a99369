"""Claims on V-Cloak against other systems and de-noisers, on outcomes that decide them."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.metrics.intervals.bootstrap_draws import share
from voicenym.reproduction.deng import deng_comparison, deng_denoisers, deng_speech, deng_verifiers
from voicenym.reproduction.deng.deng_comparison import higher
from voicenym.reproduction.deng.deng_denoisers import MP3, NONE, best_after, little, strongest
from voicenym.reproduction.deng.deng_systems import OURS, SYSTEMS, kind_of

PEOPLE = [f"s{i:02d}" for i in range(40)]
BASE = np.linspace(0.2, 0.6, 40)


def of(shift):
    """A rate that differs by speaker, and between systems by the same for each speaker."""
    return share(BASE + shift, np.ones(40), PEOPLE)


def test_v_cloak_is_highest_only_above_every_other_system():
    others = {label: of(0.0) for label in SYSTEMS}
    assert higher("c", {OURS: of(0.1), **others}, 200).holds is True
    assert higher("c", {OURS: of(-0.1), **others}, 200).holds is False
    assert higher("c", {OURS: of(0.1), **others, "NSF": of(0.2)}, 200).holds is False
    assert higher("c", {OURS: of(0.0), **others}, 200).holds is None


def test_a_system_that_was_not_measured_leaves_the_claim_undecided():
    some = {label: of(0.0) for label in SYSTEMS if label != "NSF"}
    assert higher("c", {OURS: of(0.1), **some}, 200).holds is None
    assert higher("c", {OURS: of(-0.1), **some}, 200).holds is False
    assert higher("c", {OURS: of(0.1)}, 200).holds is None


def test_mp3_is_strongest_where_it_lowers_v_cloak_most_on_every_speaker():
    found = {NONE: of(0.2), "mean": of(0.1), "median": of(0.1), MP3: of(0.0)}
    finding = strongest("EER", found, 200)
    assert finding.holds is True
    assert finding.evidence.startswith("after mp3 40.0 %; mean less mp3 10.0 (10.0 to 10.0)")
    assert strongest("EER", {**found, "mean": of(-0.1)}, 200).holds is False
    assert strongest("EER", {**found, "mean": of(0.0)}, 200).holds is None


def test_a_loss_is_little_where_it_is_below_the_papers_largest():
    assert little("EER", {NONE: of(0.05), MP3: of(0.0)}, 200).holds is True  # 5 of 9.26 points
    assert little("EER", {NONE: of(0.10), MP3: of(0.0)}, 200).holds is False
    assert little("MMR", {NONE: of(0.05), MP3: of(0.0)}, 200).holds is False  # 5 of 3.27 points


def test_v_cloak_leads_after_every_de_noiser_or_not():
    worst = {label: {NONE: of(0.0), "mean": of(0.0), MP3: of(0.0)} for label in SYSTEMS}
    ahead = {NONE: of(0.1), "mean": of(0.2), MP3: of(0.1)}
    finding = best_after({OURS: ahead, **worst}, 200)
    assert finding.holds is True
    assert "V-Cloak less NSF after mp3 10.0" in finding.evidence
    assert best_after({OURS: {**ahead, MP3: of(-0.1)}, **worst}, 200).holds is False
    del worst["NSF"]
    assert best_after({OURS: ahead, **worst}, 200).holds is None


def test_verifiers_stand_beside_the_papers_of_their_kind():
    names = ("ECAPA-TDNN small", "xvector", "x-vectors", "GMM-UBM", "i-vector", "Resemblyzer")
    assert [kind_of(name) for name in names] == ["EP", "XV", "XV", "GMM", "IV", ""]


@pytest.fixture
def short(bench, monkeypatch):
    """Two systems without weights, two de-noisers."""
    for place in (deng_comparison, deng_denoisers, deng_verifiers):
        monkeypatch.setattr(place, "SYSTEMS", {"McAdams": "mcadams", "NSF": "b1a:weights=/none"})
        monkeypatch.setattr(place, "CLOAK", "mcadams-radius")
    monkeypatch.setattr(deng_verifiers, "UNTARGETED", "mcadams")
    monkeypatch.setattr(deng_denoisers, "denoisers", lambda: {"mean": None, "mp3": None})
    return bench


def test_figure_6_has_means_verifiers_and_claims(short):
    ours = deng_comparison.comparison(short)
    means, more = ours.panels
    rows = {row.label: row for row in means.rows}
    assert list(rows) == ["ours B0", "ours McAdams", "ours NSF", "ours V-CLOAK"]
    assert rows["ours V-CLOAK"].beside == "V-CLOAK, epsilon 0.1"
    assert rows["ours McAdams"].figures[1].low is not None
    assert rows["ours McAdams"].figures[2].missing.startswith("no recogniser")
    assert "assemble" in rows["ours NSF"].figures[0].missing
    one = {row.label: row.figures for row in more.rows}["ours V-CLOAK"]
    assert one == rows["ours V-CLOAK"].figures[:2]  # of one verifier
    assert len(ours.findings) == 7
    assert ours.findings[3].holds is None  # words were not measured
    assert all(svg.startswith("<svg") for _, svg in ours.drawings)
    assert any("iFlytek" in note for note in ours.notes)


def test_figure_7_has_a_row_for_each_de_noiser(short):
    ours = deng_denoisers.cleaned(short)
    labels = [row.label for row in ours.panels[0].rows]
    assert labels[:3] == ["ours V-CLOAK", "ours V-CLOAK, mean", "ours V-CLOAK, mp3"]
    assert labels[-1] == "ours NSF"
    assert ours.panels[0].rows[2].beside == "V-CLOAK, MP3"
    assert len(ours.findings) == 5
    assert all(svg.startswith("<svg") for _, svg in ours.drawings)


def test_table_5_averages_over_the_verifiers_given(short):
    (panel,) = deng_verifiers.separate(short).panels
    rows = {row.label: row for row in panel.rows}
    place = panel.columns.index("McAdams EER")
    one = panel.rows[0]
    assert rows["ours, AVG"].figures[place].value == pytest.approx(one.figures[place].value)
    assert rows["ours, WCS"].beside == "WCS"


def test_table_4_compares_targets_with_other_systems(short):
    ours = deng_verifiers.unlinkability(short)
    claims = [finding.claim for finding in ours.findings]
    assert claims[1].startswith("A3 without the key")
    assert ours.findings[1].holds in (None, False)  # one system has no weights
    (panel,) = ours.panels
    for row in panel.rows[:1]:  # whoever has the key cloaks the enrolment towards each target
        assert row.figures[panel.columns.index(deng_verifiers.KEYED)].value is not None


def test_levels_of_epsilon_have_a_curve_and_differences(bench):
    """The bundled cloak on synthetic speech."""
    ours = deng_speech.levels(bench)
    first, second = (row.figures[0].value for row in ours.panels[0].rows)
    assert first > second
    assert [finding.claim for finding in ours.findings[1:]] == [
        "A larger epsilon has a higher MMR",
        "A larger epsilon has a higher EER",
    ]
    assert all("difference" in finding.evidence for finding in ours.findings[1:])
    assert [name for name, _ in ours.drawings] == ["snr.svg", "mmr.svg"]
    assert all("epsilon" in drawing for _, drawing in ours.drawings)


def test_speed_states_the_load(bench, monkeypatch):
    monkeypatch.setattr(deng_speech, "SYSTEMS", {"McAdams": "mcadams"})
    monkeypatch.setattr(deng_speech, "CLOAK", "mcadams-radius")
    ours = deng_speech.speed(bench)
    assert "processor time" in ours.notes[0]
    assert "cores" in ours.notes[0] or "unknown" in ours.notes[0]
    rows = {row.label: row for row in ours.panels[0].rows}
    assert rows["ours mcadams"].beside == "McAdams"
    assert rows["ours mcadams"].figures[-2].value > 0.0
