"""Grades of systems by their strongest attacker, and attacks that allow no grade."""

from __future__ import annotations

from voicenym.evaluation.results import SystemResults

HARDLY, WEAKLY, PARTLY = 10.0, 20.0, 35.0
"""Limits of grades: EER in %, for the lower end of its interval."""
GRADES = (
    (HARDLY, "hardly", "hardly protected"),
    (WEAKLY, "weakly", "weakly protected"),
    (PARTLY, "partly", "partly protected"),
)
BROKEN = "every attacker is broken"
UNINFORMED = "no attacker that knows it attacked it"
NOT_ATTACKED = "no attacker without the key was tried"


def ungraded(system: SystemResults) -> str:
    """Reason why the attacks on a system do not measure its protection; empty if they do.

    The failure of an attacker who does not know the system, or who also finds nobody on a control
    (:attr:`AttackFigures.broken`), is no evidence of protection.
    """
    if not system.attacked:
        return NOT_ATTACKED
    if system.strongest.broken:
        return BROKEN
    keyless = (attack for attack in system.attacks if not attack.holds_key)
    return "" if any(a.informed and not a.broken for a in keyless) else UNINFORMED


def grade(system: SystemResults) -> tuple[str, str]:
    """Class and words of a verdict, by the lower end of the strongest attacker's interval."""
    if why := ungraded(system):
        return "ungraded", f"not graded, since {why}"
    eer = system.strongest.eer
    low = eer.value if eer.low is None else eer.low
    for limit, name, words in GRADES:
        if low < limit:
            return name, words
    return "resists", "resists the attackers tried here"
