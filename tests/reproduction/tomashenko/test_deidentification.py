"""Figures 12 and 23 of Tomashenko et al.: printed numbers, and points that decide the claims."""

from __future__ import annotations

import pytest

from voicenym.reproduction.paper_list import run, tables
from voicenym.reproduction.tomashenko import challenge_speech, deidentification, retrained_matrices
from voicenym.reproduction.tomashenko.deidentification import (
    DERIVED,
    SIGNAL,
    figure,
    stated,
    theirs,
)

(TABLE,) = tables("tomashenko-2022", "figure-23")
IDEAL = {
    **{name: {"a": (-8.0, 99.0), "b": (-9.0, 98.0)} for name in DERIVED},
    **{name: {"a": (-1.0, 40.0), "b": (-2.0, 50.0)} for name in SIGNAL},
    "K2": {"a": (-1.0, 95.0), "b": (-2.0, 96.0)},
}


def test_points_are_of_both_parts_and_every_data_set():
    found = theirs("G_VD")
    assert len(found["B1"]) == 9  # three of the twelve are illegible
    assert found["B1"]["LibriSpeech f dev"][1] == 99.6
    assert len(theirs("EER")["B1"]) == 11


def test_claims_hold_of_points_that_are_as_the_paper_says():
    assert [finding.holds for finding in stated(IDEAL)] == [True, True, True]
    assert all(finding.arithmetic for finding in stated(IDEAL))


def test_one_data_set_is_enough_against_a_claim():
    low = {**IDEAL, "O1": {"a": (-8.0, 99.0), "b": (-9.0, 89.0)}}
    assert [finding.holds for finding in stated(low)] == [False, True, True]
    assert "O1, 89.0 %" in stated(low)[0].evidence
    loud = {**IDEAL, "B1": {"a": (-0.5, 99.0), "b": (-9.0, 98.0)}}
    assert stated(loud)[1].holds is False
    assert "so in 1 of 2 sets" in stated(loud)[1].evidence
    poor = {**IDEAL, "K2": {"a": (-1.0, 95.0), "b": (-2.0, 80.0)}}
    assert stated(poor)[2].holds is False


def test_without_speech_the_printed_numbers_are_drawn(mute):
    outcome = run(TABLE, mute)
    assert list(outcome.drawings) == ["theirs.svg"]
    rows = {row.label: row.figures for row in outcome.panels[0].rows}
    assert rows["DeID, EER"][1].value == 206.0  # 18 systems, 12 sets, but for 10
    assert rows["DeID, EER"][0].value > 0.5
    assert all(finding.arithmetic for finding in outcome.findings)


def test_with_speech_our_systems_are_points_too(bench, monkeypatch):
    """Points on a line that falls, by system; DeID is a share in our results."""
    systems = {"B1": "mcadams-radius", "B2": "mcadams"}
    monkeypatch.setattr(challenge_speech, "of_challenge", lambda names, given: systems)
    line = {"B1": [(-8.0, 0.99), (-6.0, 0.79)], "B2": [(-2.0, 0.39)]}
    monkeypatch.setattr(deidentification, "of_bench", lambda *given: line)
    ours = figure(bench)
    assert len(ours.drawings) == 2
    for row in ours.panels[0].rows:
        assert row.figures[2].value == pytest.approx(-1.0)
        assert row.figures[3].value == 3.0
    assert [f.claim.startswith("Here") for f in ours.findings] == [False] * 3 + [True] * 2


def test_matrices_of_one_verifier_ask_for_a_second(bench, monkeypatch):
    monkeypatch.setattr(retrained_matrices, "SELECTION", "mcadams")
    ours = retrained_matrices.retrained(bench)
    first, second = ours.panels[0].rows
    assert first.figures[0].known
    assert "voicenym train verifier --system" in second.figures[0].missing
    assert len(ours.drawings) == 1
