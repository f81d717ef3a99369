"""Rule on ungraded systems, and the pages that follow it."""

import pytest

pytest.importorskip("scipy")

from voicenym.attack.controls import ORIGINAL
from voicenym.evaluation.comparisons.comparison import compare
from voicenym.evaluation.grades import (
    BROKEN,
    NOT_ATTACKED,
    UNCHECKED,
    UNINFORMED,
    grade,
    ungraded,
)
from voicenym.evaluation.reports import text_summary
from voicenym.evaluation.reports.run_ending import ending
from voicenym.evaluation.reports.verdict import in_a_sentence, verdict
from voicenym.evaluation.results import (
    AttackFigures,
    Control,
    Evaluation,
    Measured,
    SystemResults,
)


def attack(name, eer, *, informed=True, holds_key=False, broken=False, works=False):
    controls = (Control(ORIGINAL, Measured(49.0, 45.0, 55.0, "%")),) if broken else ()
    if works:
        controls = (Control(ORIGINAL, Measured(4.0, 2.0, 6.0, "%")),)
    figures = {"EER": Measured(eer, eer - 4.0, eer + 4.0, "%")}
    return AttackFigures(
        name, "", "v", figures, "A", 9, 90, holds_key, informed=informed, controls=controls
    )


def system(*attacks):
    return SystemResults("bent", "Bent", {}, "speaker", attacks, {"WER": Measured(12.0)})


NOBODY = system(attack("key-holder", 2.0, holds_key=True))
WEAK = system(attack("ignorant", 48.0, informed=False))
DEAF = system(attack("semi-informed", 48.0, broken=True))
WEAK_AND_DEAF = system(*WEAK.attacks, *DEAF.attacks)
UNVERIFIED = system(attack("lazy-informed", 48.0), attack("ignorant", 48.0, informed=False))
FOUND = system(*DEAF.attacks, attack("timing", 30.0))


@pytest.mark.parametrize(
    ("attacked", "why"),
    [
        (NOBODY, NOT_ATTACKED),
        (WEAK, UNINFORMED),
        (DEAF, BROKEN),
        (WEAK_AND_DEAF, UNINFORMED),
        (UNVERIFIED, UNCHECKED),
    ],
)
def test_no_protection_is_claimed_anywhere(attacked, why, tmp_path):
    evaluation = Evaluation("1", "2026-01-01", "data", 3, 6, (), (attacked,))
    assert ungraded(attacked) == why
    end = "\n".join(ending(evaluation, tmp_path))
    for page in (end, text_summary.summary(evaluation), compare([("a", evaluation)])):
        assert why in page
    if attacked is not NOBODY:
        assert grade(attacked)[0] == "ungraded"
        for page in (in_a_sentence(attacked, None, "WER"), verdict(attacked, [])):
            assert "no protection shown" in page or why in page
            assert "resists" not in page


def test_an_attacker_that_finds_people_on_controls_alone_shows_that_the_system_resists():
    resisting = system(attack("lazy-informed", 48.0, works=True))
    assert grade(resisting) == ("resists", "resists the attackers tried here")


def test_a_system_is_graded_by_an_informed_attacker_who_finds_people(tmp_path):
    assert ungraded(FOUND) == ""
    assert grade(FOUND) == ("partly", "partly protected")
    evaluation = Evaluation("1", "2026-01-01", "data", 3, 6, (), (FOUND,))
    assert "30.0" in compare([("a", evaluation)])
    assert "unknown" not in "\n".join(ending(evaluation, tmp_path))
