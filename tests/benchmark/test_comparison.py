"""Systems side by side, in a terminal: who differs from whom, and by how much."""

import dataclasses

import pytest

pytest.importorskip("scipy")

from voicenym.benchmark.comparison import compare, differences
from voicenym.benchmark.results import AttackFigures, Evaluation, Measured, SystemResults


def system(name, value, half=2.0, utility=None):
    def attack(attacker, eer, **more):
        figures = {"EER": Measured(eer, eer - half, eer + half, "%")}
        return AttackFigures(attacker, "knows", "ears", figures, "A", 9, 99, **more)

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
    said = compare(
        [
            ("a", evaluation(system("bent", 10.0, utility=utility))),
            ("b", evaluation(system("sturdy", 30.0))),
        ]
    )
    head, rule, first, second = said.splitlines()[:4]
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
    said = compare([("a", evaluation(system("bent", 10.0)))])
    assert "key search" in said
    assert "key-holder" not in said
    assert "ignorant" not in said


def test_differences_are_named_and_what_they_rest_on():
    said = compare([("a", evaluation(system("x", 10.0), system("y", 11.0), system("z", 30.0)))])
    assert "a: y against a: x" in said
    near, far, _ = [line for line in said.splitlines() if " against " in line]
    assert "+1.0" in near
    assert near.endswith("no difference shown")
    assert "+20.0" in far
    assert "p < 0.001" in far
    assert far.endswith("differ")
    assert "Holm's correction for 3 pairs" in said
    assert "paired test would be possible" in said


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


def test_names_cannot_steer_the_terminal():
    said = compare([("a\x1b[31m", evaluation(system("x\ny\r", 10.0)))])
    assert "\x1b" not in said
    assert "\r" not in said
    assert "a?[31m: x?y?" in said


def test_differences_by_hand():
    """Half widths of 2 and 2: the gap of 10 is 10 / sqrt(2 (2 / 1.96)^2) = 6.93 deviations."""
    pairs = differences([("x", Measured(20.0, 18.0, 22.0)), ("y", Measured(30.0, 28.0, 32.0))])
    assert len(pairs) == 1
    assert pairs[0].points == pytest.approx(10.0)
    assert pairs[0].p == pytest.approx(4.2e-12, rel=0.1)
    three = differences(
        [("x", Measured(20.0, 15.0, 25.0)), ("y", Measured(26.0, 21.0, 31.0)),
         ("z", Measured(20.0, 15.0, 25.0))]
    )  # fmt: skip
    raw = 2 * 0.0481  # 6 / (sqrt(2) * 5 / 1.96) = 1.663 deviations
    assert sorted(d.p for d in three) == pytest.approx([3 * raw, 3 * raw, 1.0], abs=0.01)


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    """Raw p of 0.0067 (x, z), 0.0524 (x, y) and 0.4418 (y, z): by 3, by 2, by 1."""
    found = {
        d.first + d.second: d.p
        for d in differences(
            [
                ("x", Measured(10.0, 8.0, 12.0)),
                ("y", Measured(12.8, 10.8, 14.8)),
                ("z", Measured(13.91, 11.91, 15.91)),
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
def test_nothing_is_said_of_figures_without_an_interval(figure):
    assert differences([("x", figure), ("y", Measured(30.0, 28.0, 32.0))]) == []


def test_figures_without_spread():
    same = Measured(20.0, 20.0, 20.0)
    other = dataclasses.replace(same, value=21.0, low=21.0, high=21.0)
    assert differences([("x", same), ("y", same)])[0].p == 1.0
    assert differences([("x", same), ("y", other)])[0].p == 0.0
