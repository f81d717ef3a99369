"""The claim meter says no more than figures support."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.evaluation.results import AttackFigures, Control, SystemResults, by_strength
from voicenym.metrics.metric import Measured
from voicenym.publication.claim_meter import (
    BETTER,
    INFERENCE,
    LINKABILITY,
    NO_BETTER,
    NO_EVIDENCE,
    SINGLING_OUT,
    UNKNOWN,
    claims,
    overall,
)


def attacked(*attacks: AttackFigures) -> SystemResults:
    return SystemResults("files", "title", {}, "speaker", attacks)


def attack(figures: dict[str, Measured], name: str = "one", **more) -> AttackFigures:
    return AttackFigures(name, "knows something", "ECAPA", figures, "A", 10, 20, **more)


def verdicts(one: AttackFigures) -> dict[str, str]:
    return {claim.test: claim.verdict for claim in claims(attacked(one))}


@given(st.floats(0, 100), st.floats(0, 20), st.floats(0, 20))
def test_linkability_remains_where_the_whole_interval_of_the_eer_lies_below_chance(eer, down, up):
    one = attack({"EER": Measured(eer, eer - down, eer + up, "%")})
    expected = BETTER if eer + up < 50 else NO_BETTER
    assert verdicts(one)[LINKABILITY] == expected


def test_each_test_is_decided_by_its_own_measure():
    one = attack(
        {
            "EER": Measured(50.0, 45.0, 55.0, "%"),
            "first of 1,000": Measured(20.0, 10.0, 30.0, "%"),
            "D_ECE": Measured(0.1, 0.0, 0.2, "bit"),
        }
    )
    assert verdicts(one) == {SINGLING_OUT: BETTER, LINKABILITY: NO_BETTER, INFERENCE: NO_BETTER}


@pytest.mark.parametrize(
    ("chances", "level"), [({}, 100.0 / 3.0), ({"rank-1": 45.0}, 45.0)], ids=["former", "today"]
)
def test_rank_one_is_held_against_the_number_of_candidates(chances, level):
    """A former report has the mean number alone: 10 of 30 trials are of the same speaker."""
    for low, expected in ((level + 0.5, BETTER), (level - 0.5, NO_BETTER)):
        figures = {"EER": Measured(50.0), "rank-1": Measured(90.0, low, 100.0, "%")}
        one = attack(figures, chances=chances)
        assert verdicts(one)[SINGLING_OUT] == expected
        assert verdicts(one)[INFERENCE] == UNKNOWN
        (claim,) = (c for c in claims(attacked(one)) if c.test == SINGLING_OUT)
        assert f"chance {level:.1f} %" in claim.figures["rank-1"]
        assert ("earlier release" in claim.sentence) == (not chances)


@pytest.mark.parametrize(
    ("name", "test"),
    [("D_ECE", INFERENCE), ("worst case", INFERENCE), ("found for sure", SINGLING_OUT)],
)
def test_what_luck_reaches_does_not_show_that_a_risk_remains(name, test):
    for value, expected in ((0.49, NO_BETTER), (0.51, BETTER)):
        figures = {"EER": Measured(50.0), name: Measured(value, 0.4, 0.6)}
        one = attack(figures, by_luck={name: 0.5})
        assert verdicts(one)[test] == expected
        (claim,) = (c for c in claims(attacked(one)) if c.test == test)
        assert ", by luck up to 0.50" in claim.figures[name]
        assert "chance 0" not in claim.figures[name]
        assert "earlier release" not in claim.sentence
        former = attack(figures)
        assert verdicts(former)[test] == BETTER, "never kinder without the level of luck"
        (claim,) = (c for c in claims(attacked(former)) if c.test == test)
        assert f"compares {name} with 0, which luck alone can exceed" in claim.sentence


def test_a_measure_that_shows_nothing_does_not_hide_one_that_does():
    one = attack(
        {
            "first of 1,000": Measured(15.0, 0.0, 100.0, "%"),
            "rank-1": Measured(89.0, 78.0, 100.0, "%"),
            "EER": Measured(48.0, 40.0, 56.0, "%"),
            "D_sys": Measured(0.6, 0.3, 0.9, ""),
        }
    )
    assert verdicts(one)[SINGLING_OUT] == BETTER
    assert verdicts(one)[LINKABILITY] == BETTER


def test_a_broken_attacker_is_no_evidence_of_protection():
    failed = Control("copied speech", Measured(50.0, 40.0, 60.0, "%"))
    one = attack({"EER": Measured(50.0, 45.0, 55.0, "%")}, controls=(failed,))
    assert set(verdicts(one).values()) == {NO_EVIDENCE}


def test_the_strongest_attacker_without_the_key_comes_first():
    failed = Control("copied speech", Measured(50.0, 40.0, 60.0, "%"))
    made = [
        attack({"EER": Measured(1.0)}, "key-holder", holds_key=True),
        attack({"EER": Measured(50.0)}, "broken", controls=(failed,)),
        attack({"EER": Measured(40.0)}, "weak"),
        attack({"EER": Measured(10.0)}, "strong"),
    ]
    names = [one.attacker for one in by_strength(attacked(*made).attacks)]
    assert names == ["strong", "weak", "broken", "key-holder"]


def test_no_attack_supports_no_claim():
    assert "Nothing is known" in overall([])


@pytest.mark.parametrize("eer", [1.0, 30.0, 50.0])
def test_no_result_supports_that_recordings_are_no_personal_data(eer):
    found = claims(attacked(attack({"EER": Measured(eer, eer - 1, eer + 1, "%")})))
    assert "none of these figures supports" in overall(found)
