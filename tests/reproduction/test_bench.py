"""Bench: choice of speakers, measurements, and reasons of those that are missing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproduction.conftest import TINY

from voicenym.errors import CorpusError, VoicenymError
from voicenym.reproduction.bench import IGNORANT, LAZY, SEMI, Bench, _chosen
from voicenym.reproduction.budgets import BUDGETS, budget
from voicenym.reproduction.counterparts import GIVEN
from voicenym.reproduction.deng import deng_verifiers
from voicenym.reproduction.miao import miao_drawings, miao_speech
from voicenym.reproduction.named_folders import named_folders
from voicenym.reproduction.outcome import Figure
from voicenym.reproduction.table_rows import attacked, original, useful, with_difference
from voicenym.reproduction.tomashenko import challenge_speech
from voicenym.reproduction.turner.turner_speech import numbers


def test_a_system_is_measured_once_and_its_figures_are_read(bench):
    found = bench.measured("mcadams")
    assert found is bench.measured("mcadams")
    assert {a.attacker for a in found.results.attacks} == {IGNORANT, LAZY, SEMI}
    for attacker in (IGNORANT, LAZY, SEMI):
        assert attacked(bench, "mcadams", attacker, "EER").known
    assert attacked(bench, "mcadams", "key search", "EER").missing == "key search: did not run"
    assert original(bench, "EER").known
    assert useful(bench, "mcadams", "G_VD").value is not None
    assert "no recogniser" in useful(bench, "mcadams", "WER").missing
    assert bench.data.startswith("speech, dev: 4 speakers, 8 trials of 2 enrolled recordings")


def test_a_second_bench_reads_the_cache_of_the_first(bench):
    first = attacked(bench, "mcadams", LAZY, "EER")
    lines = []
    again = Bench(TINY, bench.cache, bench.speech, verifiers=bench.verifiers, say=lines.append)
    assert attacked(again, "mcadams", LAZY, "EER") == first
    kept = [line for line in lines if line.endswith("from the run that was interrupted")]
    attackers = {line.partition(": ")[2].partition(",")[0] for line in kept}
    assert {"ignorant", "lazy-informed", "semi-informed (back end)", "unprotected"} <= attackers


def test_a_system_without_weights_is_missing_with_the_cure_and_without_a_path(bench):
    figure = attacked(bench, "b1a:weights=/nowhere", IGNORANT, "EER")
    assert figure.value is None
    assert "voicenym models assemble" in figure.missing
    assert figure.missing.startswith("no weights; put them together: voicenym")


def test_trials_are_counted(bench):
    """4 speakers, 2 of each sex, 2 trials each: each trial has one other of the same sex."""
    panel = numbers(bench).panels[0]
    rows = {row.label: [figure.value for figure in row.figures] for row in panel.rows}
    assert rows["ours target"] == [4.0, 4.0, 8.0]
    assert rows["ours non-target"] == [4.0, 4.0, 8.0]


def test_speakers_are_half_women_and_have_enough_recordings(corpus):
    people = _chosen(corpus, TINY)
    assert len(people) == len({recording.speaker for recording in corpus})
    four = Bench(BUDGETS["tiny"]).budget
    few = _chosen(corpus, type(four)(**{**vars(four), "speakers": 4}))
    sexes = sorted({(r.speaker, r.sex) for r in corpus if r.speaker in few})
    assert [sex for _, sex in sexes].count("f") == [sex for _, sex in sexes].count("m") == 2
    with pytest.raises(CorpusError, match="more than 99"):
        _chosen(corpus, type(four)(**{**vars(four), "enrolment": 99}))


def test_without_speech_there_is_nothing_to_measure(mute):
    with pytest.raises(CorpusError, match="--speech"):
        mute.measured("mcadams")
    assert mute.data == ""


def test_budgets_grow_and_an_unknown_one_is_refused():
    sizes = [BUDGETS[name].pool for name in ("tiny", "small", "medium", "full")]
    assert sizes == sorted(sizes)
    with pytest.raises(VoicenymError, match="tiny, small, medium, full"):
        budget("huge")


def test_differences_stand_in_brackets():
    assert with_difference(Figure(46.9), Figure(50.2)).text == "[-3.3]"
    assert with_difference(Figure(missing="x"), Figure(50.2)).missing == "x"


def test_pictures_are_drawn(bench, monkeypatch):
    for place in (miao_drawings, challenge_speech):
        monkeypatch.setattr(place, "SELECTION", "mcadams", raising=False)
        monkeypatch.setattr(place, "LOH", "mcadams-radius", raising=False)
    monkeypatch.setattr(challenge_speech, "DRAWN", {"B2": "mcadams"})
    monkeypatch.setattr(miao_drawings, "SYSTEMS", dict.fromkeys(miao_drawings.SYSTEMS, "mcadams"))
    found = [
        *(challenge_speech.drawing(number)(bench) for number in (3, 7, 8)),
        challenge_speech.det(bench),
        miao_drawings.embeddings(bench),
        miao_drawings.pair_scores(bench),
        miao_drawings.matrices(bench),
        miao_drawings.radar_chart(bench),
    ]
    assert all(ours.drawings for ours in found)
    assert all(svg.startswith("<svg") for ours in found for _, svg in ours.drawings)
    scores = {row.label: row.figures for row in found[5].panels[0].rows}
    assert [row.label for row in found[5].panels[0].rows].count("unprotected") == 1
    same, different = (scores["unprotected"][place].value for place in (1, 4))
    assert same > different


def test_the_challenges_systems_stand_in_the_papers_columns(bench, monkeypatch):
    systems = {"B1": "mcadams-radius", "B2": "mcadams"}
    monkeypatch.setattr(challenge_speech, "of_challenge", lambda names, given: systems)
    panel = challenge_speech.scores("table-7")(bench).panels[0]
    figures = dict(zip(panel.columns, panel.rows[0].figures, strict=True))
    assert panel.rows[0].label == "ours f"
    assert "budget test leaves it out" in figures["K2"].missing
    assert "tuned parameters" in figures["S2"].missing
    assert "--pipeline M1=FOLDER" in figures["M1"].missing
    (finding,) = challenge_speech.scores("table-10")(bench).findings
    assert finding.claim.startswith("On every system the semi-informed attacker")


def test_a_pipeline_of_ones_own_stands_for_a_system_without_bundled_weights(bench, monkeypatch):
    ((name, folder),) = named_folders(["M1=own/"], "--pipeline", GIVEN).items()
    assert challenge_speech.counterparts(replace(bench, pipelines={name: folder}))[0] == {
        **challenge_speech.counterparts(bench)[0], "M1": "b1b:weights=own"
    }  # fmt: skip
    monkeypatch.setattr(challenge_speech, "of_challenge", lambda names, given: {"M1": "mcadams"})
    ours = challenge_speech.scores("table-7")(replace(bench, pipelines={name: folder}))
    figures = dict(zip(ours.panels[0].columns, ours.panels[0].rows[0].figures, strict=True))
    assert figures["M1"].missing.endswith("not measured on so few trials"), "it was run"
    assert ours.notes == ("M1: b1b with a pipeline of one's own (--pipeline)",)


def test_networks_by_aam_stand_in_their_columns_and_in_no_others(bench):
    given = named_folders(["S-LOH=own/", "M1=other/"], "--pipeline", GIVEN)
    pipelines = replace(bench, pipelines=given)
    assert challenge_speech.given_notes(pipelines) == (
        "M1: b1b with a pipeline of one's own (--pipeline)",
    )
    assert "S-LOH" not in challenge_speech.counterparts(pipelines)[0]
    read = {}
    for column in ("LOH AAM+cos", "S-LOH AAM+cos", "LOH w-AAM+cos", "S-LOH*", "B1.a"):
        miao_speech._read(pipelines, column, lambda s, at=column: read.setdefault(at, s))
    own = "ssl-loh:weights=own"
    assert list(read.values()) == [own, own, "ssl-loh", "ssl-loh", "b1a"]
    missing = miao_speech._read(pipelines, "ROH AAM+cos", lambda system: Figure(0.0)).missing
    assert missing.endswith("--pipeline S-ROH=FOLDER")


@pytest.mark.parametrize("text", ["B1=own/", "M1", "M1="])
def test_a_pipeline_is_given_by_the_name_of_a_system_that_needs_one(text):
    with pytest.raises(VoicenymError, match="NAME being one of M1, M1c1, S-ROH, S-LOH"):
        named_folders([text], "--pipeline", GIVEN)


def test_a_verifier_is_given_and_voice_statistics_are_none(bench):
    panel = deng_verifiers.verifiers(bench).panels[0]
    labels = [row.label for row in panel.rows]
    assert labels[1:] == ["ours, XV", "ours, GMM", "ours, IV", "ours, IF"]
    assert panel.rows[0].figures[0].known
    assert panel.rows[-1].figures[0].missing.endswith("is a commercial service")


def test_a_retrained_recogniser_is_that_of_a_system_with_its_settings(bench, monkeypatch):
    """Of two settings of one system, each has the recogniser that was trained on its own output."""
    seen = {}

    def evaluate(plan, *_, **__):
        seen[repr(plan.systems)] = dict(plan.retrained)
        raise VoicenymError("enough")

    monkeypatch.setattr("voicenym.reproduction.bench.evaluate", evaluate)
    one, other = object(), object()
    known = replace(bench, retrained={"mcadams": one, "mcadams:low=0.8": other})
    for system in ("mcadams", "mcadams:low=0.80", "vtln"):
        known.measured(system)
    assert seen == {
        "(('mcadams', {}),)": {"mcadams": one},
        "(('mcadams', {'low': 0.8}),)": {"mcadams:low=0.8": other},
        "(('vtln', {}),)": {},
    }
