"""Grades of systems by their strongest attacker, and attacks that allow no grade."""

from __future__ import annotations

from voicenym.evaluation.results import Measured, SystemResults

HARDLY, WEAKLY, PARTLY = 10.0, 20.0, 35.0
"""Limits of grades: EER in %, for the lower end of its interval."""
GRADES = (
    (HARDLY, "hardly", "hardly protected"),
    (WEAKLY, "weakly", "weakly protected"),
    (PARTLY, "partly", "partly protected"),
)
BROKEN = "every attacker without the key is broken"
UNINFORMED = "no attacker that knows it attacked it"
UNCHECKED = "no attacker that knows it was shown to work, on it or on controls"
NOT_ATTACKED = "no attacker without the key was tried"


def ungraded(system: SystemResults) -> str:
    """Reason why the attacks on a system do not measure its protection; empty if they do.

    The failure of an attacker who does not know the system, or who also finds nobody on a control
    (:attr:`AttackFigures.broken`) or did not run on one, is no evidence of protection.
    """
    if not system.attacked:
        return NOT_ATTACKED
    if system.strongest.broken:
        return BROKEN
    informed = [a for a in system.attacks if a.informed and not (a.holds_key or a.broken)]
    if not informed:
        return UNINFORMED
    # a grade that says little of protection needs no proof that attackers work
    graded = _lowest(system.strongest.eer) < PARTLY or any(a.evident for a in informed)
    return "" if graded else UNCHECKED


def _lowest(eer: Measured) -> float:
    return eer.value if eer.low is None else eer.low


def grade(system: SystemResults) -> tuple[str, str]:
    """Class and words of a verdict, by the lower end of the strongest attacker's interval."""
    if why := ungraded(system):
        return "ungraded", f"not graded, since {why}"
    low = _lowest(system.strongest.eer)
    for limit, name, words in GRADES:
        if low < limit:
            return name, words
    return "resists", "resists the attackers tried here"
