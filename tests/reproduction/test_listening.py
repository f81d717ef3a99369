"""Answers of listeners whose scores are known: means, ranks, tests and verification."""

from __future__ import annotations

import os

import pytest
from tests.reproduction.conftest import TINY

from voicenym.errors import VoicenymError
from voicenym.reproduction import listening
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.paper_list import run, tables
from voicenym.reproduction.tomashenko import listener_curves

HEAD = "listener\titem\tsystem\tquestion\tkind\tscore"


def rows():
    """Three listeners with scales of their own; ``good`` is better than ``bad``, ``twin`` equal."""
    found = []
    for listener, (low, middle, high) in {"a": (1, 3, 5), "b": (1, 2, 3), "c": (3, 4, 5)}.items():
        for item in range(6):
            scores = {"original": high, "good": middle, "twin": middle, "bad": low}
            for system, score in scores.items():
                found.append(f"{listener}\t{item}\t{system}\tMOS\t\t{score}")
        for kind, clear in (("same", 9), ("different", 2)):
            for item in range(4):
                found.append(f"{listener}\t{item}\toriginal\tsimilarity\t{kind}\t{clear}")
                blurred = 5 + (item % 2)
                found.append(f"{listener}\t{item}\tbad\tsimilarity\t{kind}\t{blurred}")
    return found


@pytest.fixture
def answered(tmp_path):
    file = tmp_path / "answers.tsv"
    file.write_text("\n".join([HEAD, *rows()]) + "\n")
    return Bench(TINY, answers=file)


def by_label(panel):
    return {row.label: [figure.value for figure in row.figures] for row in panel.rows}


def test_mean_opinion_scores(answered):
    (table,) = tables("turner-2022", "table-6")
    found = by_label(run(table, answered).panels[0])
    assert found["ours original"][:2] == [18.0, pytest.approx(13 / 3)]
    assert found["ours bad"][:2] == [18.0, pytest.approx(5 / 3)]


def test_tests_of_pairs_of_systems(answered):
    (table,) = tables("turner-2022", "table-b7")
    found = by_label(run(table, answered).panels[0])
    assert found["original, bad"][0] == 18 * 18
    assert found["original, bad"][1] < 1e-4
    assert found["good, twin"] == [pytest.approx(162.0), pytest.approx(1.0)]


def test_normalised_ranks_remove_the_listeners_scales(answered):
    found = by_label(listening.normalised_means(answered, [("MOS", "")]))
    # a listener has 6 equal answers a system: ranks 1 to 6, 7 to 18, 19 to 24
    assert found["MOS, bad"][0] == pytest.approx((3.5 - 1) / 24)
    assert found["MOS, good"][0] == pytest.approx((12.5 - 1) / 24)
    assert found["MOS, original"][0] == pytest.approx((21.5 - 1) / 24)


def test_listeners_verify_speakers(answered):
    found = by_label(listener_curves.pooled(answered).panels[1])
    assert found["listeners, original"] == [0.0, 0.0, pytest.approx(0.0, abs=1e-9)]
    assert found["listeners, bad"][0] == pytest.approx(50.0)
    assert found["listeners, bad"][2] == pytest.approx(1.0)


def test_without_answers_the_reason_is_printed(mute):
    panel = listening.opinions(mute, "MOS", ("a", "b", "c"), "MOS")
    assert panel.rows[0].figures[0].missing == "needs listeners' answers: --answers FILE"
    assert "answers" in listening.verification(mute).rows[0].figures[0].missing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who\twhat\n1\t2\n", "tab-separated columns listener, item"),
        (f"{HEAD}\na\t1\tx\tMOS\t\tgood\n", "line 2: the score 'good' is no number"),
        (f"{HEAD}\na\t1\tx\tMOS\t\tnan\n", "line 2"),
    ],
)
def test_files_that_are_no_answers_are_refused(tmp_path, text, message):
    file = tmp_path / "answers.tsv"
    file.write_text(text)
    with pytest.raises(VoicenymError, match=message):
        listening.answers(file)


def test_a_file_that_changes_is_read_anew(tmp_path):
    """Also one of the same size, with the time of change of the one before."""
    file = tmp_path / "answers.tsv"
    for score in (1.0, 5.0):
        file.write_text(f"{HEAD}\na\t1\tgood\tMOS\t\t{score}\n")
        os.utime(file, (1, 1))
        assert [one.score for one in listening.answers(file)] == [score]
        assert [one.score for one in listening.asked(Bench(TINY, answers=file), "MOS")] == [score]
    assert listening.answers(file) is listening.answers(file), "read once while it is the same"


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(VoicenymError, match="cannot be read"):
        listening.answers(tmp_path / "none.tsv")


def test_v_cloak_is_preferred_where_every_listener_does(tmp_path):
    """Deng et al., figure 9: twelve listeners; similarity is clear, acceptability is equal."""
    lines = [HEAD]
    for listener in range(12):
        for item in range(5):
            for system in ("V-Cloak", "McAdams", "HFGAN"):
                mine = 9 if system == "V-Cloak" else 3 + item % 2
                lines.append(f"l{listener}\t{item}\t{system}\tsimilarity\t\t{mine}")
                lines.append(f"l{listener}\t{item}\t{system}\tacceptability\t\t{5 + item % 3}")
    file = tmp_path / "users.tsv"
    file.write_text("\n".join(lines) + "\n")
    (table,) = tables("deng-2023", "figure-9")
    outcome = run(table, Bench(TINY, answers=file))
    alike, accepted = outcome.findings
    assert alike.holds is True
    assert accepted.holds is None
    assert outcome.drawings["boxes.svg"].startswith("<svg")


def test_figure_24_is_drawn_of_answers(answered, mute):
    (table,) = tables("tomashenko-2022", "figure-24")
    assert list(run(table, answered).drawings) == ["boxes.svg"]
    assert run(table, mute).drawings == {}
