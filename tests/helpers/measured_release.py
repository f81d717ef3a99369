"""An evaluation with invented figures, for tests of releases."""

from __future__ import annotations

from voicenym.evaluation.results import AttackFigures, Control, Evaluation, Measured, SystemResults
from voicenym.evaluation.trial_plans.conditions import ConditionSize


def attack(
    name: str, eer: float, low: float, high: float, *, first: float = 0.0, **more
) -> AttackFigures:
    figures = {
        "EER": Measured(eer, low, high, "%"),
        "EER f": Measured(eer - 1, low - 1, high, "%"),
        "first of 1,000": Measured(first, first / 2, first * 2, "%"),
        "D_ECE": Measured(0.3, 0.2, 0.4, "bit"),
    }
    return AttackFigures(name, f"knows {name}", "ECAPA", figures, "A", 120, 900, **more)


def evaluation(name: str = "files", files: tuple[str, ...] = ()) -> Evaluation:
    """An attacker who finds people, one who does not, one who is broken, and one with the key."""
    control = Control("copied speech", Measured(50.0, 40.0, 60.0, "%"))
    attacks = (
        attack("ignorant", 49.0, 44.0, 56.0),
        attack("semi-informed", 12.0, 9.0, 15.0, first=30.0),
        attack("confused", 50.0, 45.0, 55.0, controls=(control,)),
        attack("key-holder", 2.0, 1.0, 3.0, first=90.0, holds_key=True),
    )
    system = SystemResults(
        name, "title", {}, "speaker", attacks, {"WER": Measured(20.0, 15.0, 25.0, "%")},
        notes=("an attacker was left out",), files=files,
    )  # fmt: skip
    return Evaluation(
        "0.1.0", "2026-11-30", "the data", 2, 4, (), (system,),
        {"WER": Measured(10.0, 8.0, 12.0, "%")},
        conditions=(ConditionSize("f", "sex", 8, 60, 400), ConditionSize("m", "sex", 2, 5, 5)),
    )  # fmt: skip
