"""Comparison of systems in a terminal: differences and their tests."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.evaluation.comparisons.comparison import Compared, compare, differences, holm
from voicenym.evaluation.comparisons.saved_scores import load, save
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.metrics.metric_inputs import Tally
from voicenym.metrics.verification.eer import EQUAL_ERROR_RATE


def system(name, value, half=2.0, utility=None):
    def attack(attacker, eer, **more):
        figures = {"EER": Measured(eer, eer - half, eer + half, "%")}
        return AttackFigures(attacker, "knows", "verifier", figures, "A", 9, 99, **more)

    attacks = (
        attack("ignorant", value + 5.0),
        attack("key search", value),
        attack("key-holder", 1.0, holds_key=True),
    )
    return SystemResults(name, "title", {}, "speaker", attacks, utility or {})


def evaluation(*systems, data="drawn"):
    return Evaluation("0.1", "2026-11-21", data, 9, 99, (), systems)


def test_systems_of_all_reports_stand_in_one_table():
    utility = {"WER": Measured(12.0, 11.0, 13.0, "%"), "G_VD": Measured(float("-inf"))}
    printed = compare(
        [
            ("a", evaluation(system("bent", 10.0, utility=utility))),
            ("b", evaluation(system("sturdy", 30.0))),
        ]
    )
    head, rule, first, second = printed.splitlines()[:4]
    assert set(rule) == {"-"}
    assert first.startswith("a: bent")
    assert second.startswith("b: sturdy")
    assert "10.0 [8.0, 12.0]" in first
    assert "12.0 [11.0, 13.0]" in first
    assert "-inf" in first
    assert "not measured" in second
    for column in ("EER %", "strongest attacker", "WER %", "DNSMOS"):
        assert head.index(column) == first.index(first[head.index(column) :])
    assert first.index("key search") == head.index("strongest attacker")


def test_the_headline_is_the_strongest_without_the_key():
    printed = compare([("a", evaluation(system("bent", 10.0)))])
    assert "key search" in printed
    assert "key-holder" not in printed
    assert "ignorant" not in printed


def test_differences_are_named_and_what_they_rest_on():
    printed = compare([("a", evaluation(system("x", 10.0), system("y", 11.0), system("z", 30.0)))])
    assert "a: y against a: x" in printed
    near, far, _ = [line for line in printed.splitlines() if " against " in line]
    assert "+1.0" in near
    assert near.endswith("unpaired  no significant difference")
    assert "+20.0  [+17.2, +22.8]" in far
    assert "p < 0.001" in far
    assert far.endswith("unpaired  different")
    assert "Holm's correction for 3 pairs" in printed
    assert "as if they were independent" in printed
    assert "drawn for both at once" not in printed


@pytest.fixture
def kept(found, tmp_path):
    """What was kept of the small evaluation, with word errors of five speakers."""
    evaluation, evidence = found
    words = dict.fromkeys(
        (s.name for s in evaluation.systems),
        Tally(
            np.array([2.0, 3.0, 1.0, 0.0, 4.0]),
            np.full(5, 10.0),
            tuple("abcde"),
            tuple(f"s{i}" for i in range(5)),
        ),
    )
    evidence = dataclasses.replace(evidence, words=words)
    save(evaluation, evidence, tmp_path)
    return load(tmp_path)


def test_who_was_tried_on_the_same_people_is_tested_pair_by_pair(found, kept):
    evaluation, _ = found
    printed = compare([("a", evaluation, kept), ("b", evaluation, kept)], 100)
    lines = [line for line in printed.splitlines() if " against " in line]
    assert len(lines) == 6 + 1, "of four systems, and of the words of one in each report"
    assert all("  paired  " in line for line in lines)
    same = next(line for line in lines if "b: sturdy against a: sturdy" in line)
    assert "+0.0 [+0.0, +0.0] p = 1.000 paired" in " ".join(same.split())
    assert "drawn for both at once" in printed
    assert "independent" not in printed


def test_without_scores_of_one_report_its_pairs_are_not_paired(found, kept):
    evaluation, _ = found
    printed = compare([("a", evaluation, kept), ("b", evaluation, None)], 50)
    rows = [line for line in printed.splitlines() if " against " in line][:6]
    assert sum("  paired  " in row for row in rows) == 1
    assert next(row for row in rows if "a: sturdy against a: bent" in row).count("  paired") == 1
    assert "drawn for both at once" in printed
    assert "has no scores" in printed


def test_other_people_are_not_paired(found, kept):
    evaluation, _ = found
    others = dataclasses.replace(kept, pairs=np.char.add(kept.pairs, "x"))
    name = evaluation.systems[0].name
    top = evaluation.systems[0].strongest.eer
    pair = [
        Compared("a", top, kept.drawn(EQUAL_ERROR_RATE, name)),
        Compared("b", top, others.drawn(EQUAL_ERROR_RATE, name)),
    ]
    assert [d.paired for d in differences(pair, 20)] == [False]
    assert [d.paired for d in differences([pair[0], pair[0]], 20)] == [True]


def test_a_single_system_has_no_differences():
    assert "Differences" not in compare([("a", evaluation(system("x", 10.0)))])
    assert "system" in compare([])


def test_other_data_are_pointed_out():
    both = [
        ("a", evaluation(system("x", 10.0), data="VCTK")),
        ("b", evaluation(system("x", 10.0), data="LibriSpeech")),
    ]
    assert "Different data (LibriSpeech; VCTK)" in compare(both)
    assert "Different data" not in compare(both[:1])


def attacked(name, value, *attackers, learned=0):
    made = system(name, value)
    attacks = [
        dataclasses.replace(made.attacks[1], attacker=one, learned_from=learned)
        for one in attackers
    ]
    return dataclasses.replace(made, attacks=(*attacks, made.attacks[2]))


def test_a_report_with_fewer_attackers_is_no_fair_match():
    """A system that was hardly attacked is not better for that."""
    printed = compare(
        [
            ("full", evaluation(attacked("x", 10.0, "ignorant", "key search"))),
            ("half", evaluation(attacked("y", 30.0, "ignorant"))),
        ]
    )
    assert "different, by other attackers" in printed
    assert "half was attacked without key search: its EERs may be too kind" in printed
    assert "full was attacked" not in printed


def test_attackers_who_learned_from_less_are_told():
    both = [
        ("a", evaluation(attacked("x", 10.0, "trained", learned=2400))),
        ("b", evaluation(attacked("y", 30.0, "trained", learned=300))),
    ]
    printed = compare(both)
    assert "b was attacked with 300 recordings to learn from, elsewhere 2,400" in printed
    assert "different, by other attackers" in printed


def test_the_same_attackers_are_a_fair_match():
    """Also where one of two systems of a report cannot be attacked by one of them, or where some
    recordings of the others were left out."""
    systems = (
        attacked("x", 10.0, "ignorant", "key search", learned=300),
        attacked("y", 30.0, "ignorant", learned=300),
    )
    again = attacked("z", 20.0, "ignorant", "key search", learned=297)
    printed = compare([("a", evaluation(*systems)), ("b", evaluation(again))])
    assert "by other attackers" not in printed
    assert "was attacked" not in printed


def test_files_in_the_report_of_systems_were_attacked_by_fewer():
    """Attackers cannot run what made the files, which is no merit of them."""
    files = dataclasses.replace(attacked("files", 30.0, "ignorant"), files=("0" * 64,))
    both = evaluation(attacked("x", 10.0, "ignorant", "key search"), files)
    printed = compare([("a", both)])
    assert "different, by other attackers" in printed
    assert "a: files was attacked without key search: its EERs may be too kind" in printed
    assert "a was attacked" not in printed
    alone = evaluation(dataclasses.replace(files, name="theirs"))
    printed = compare([("a", evaluation(files)), ("b", alone)])
    assert "attacked without" not in printed


def test_names_cannot_steer_the_terminal():
    printed = compare([("a\x1b[31m", evaluation(system("x\ny\r", 10.0)))])
    assert "\x1b" not in printed
    assert "\r" not in printed
    assert "a?[31m: x?y?" in printed


def test_differences_by_hand():
    """Half widths of 2 and 2: the gap of 10 is 10 / sqrt(2 (2 / 1.96)^2) = 6.93 deviations."""
    pairs = differences(
        [Compared("x", Measured(20.0, 18.0, 22.0)), Compared("y", Measured(30.0, 28.0, 32.0))]
    )
    assert len(pairs) == 1
    assert pairs[0].points == pytest.approx(10.0)
    assert pairs[0].p == pytest.approx(4.2e-12, rel=0.1)
    three = differences(
        [Compared("x", Measured(20.0, 15.0, 25.0)), Compared("y", Measured(26.0, 21.0, 31.0)),
         Compared("z", Measured(20.0, 15.0, 25.0))]
    )  # fmt: skip
    raw = 2 * 0.0481  # 6 / (sqrt(2) * 5 / 1.96) = 1.663 deviations
    assert sorted(d.p for d in three) == pytest.approx([3 * raw, 3 * raw, 1.0], abs=0.01)


def test_holm_by_hand():
    assert holm([]) == []
    assert holm([0.04, 0.03, 0.01]) == pytest.approx([0.06, 0.06, 0.03])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    """Raw p of 0.0067 (x, z), 0.0524 (x, y) and 0.4418 (y, z): by 3, by 2, by 1."""
    found = {
        d.first + d.second: d.p
        for d in differences(
            [
                Compared("x", Measured(10.0, 8.0, 12.0)),
                Compared("y", Measured(12.8, 10.8, 14.8)),
                Compared("z", Measured(13.91, 11.91, 15.91)),
            ]
        )
    }
    assert found["xz"] == pytest.approx(3 * 0.0067, abs=0.001)
    assert found["xy"] == pytest.approx(2 * 0.0524, abs=0.001)
    assert found["yz"] == pytest.approx(0.4418, abs=0.001)


@pytest.mark.parametrize(
    "figure",
    [
        Measured(20.0),
        Measured(20.0, float("-inf"), 22.0),
        Measured(float("nan"), 1.0, 2.0),
    ],
)
def test_figures_without_an_interval_get_no_statement(figure):
    assert differences([Compared("x", figure), Compared("y", Measured(30.0, 28.0, 32.0))]) == []


def test_figures_without_spread():
    same = Measured(20.0, 20.0, 20.0)
    other = dataclasses.replace(same, value=21.0, low=21.0, high=21.0)
    assert differences([Compared("x", same), Compared("y", same)])[0].p == 1.0
    assert differences([Compared("x", same), Compared("y", other)])[0].p == 0.0
