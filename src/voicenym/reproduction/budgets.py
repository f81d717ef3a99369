"""Budgets of a reproduction: numbers of speakers and recordings, and time of trained attackers."""

from __future__ import annotations

from dataclasses import dataclass

from voicenym.errors import VoicenymError


@dataclass(frozen=True)
class Budget:
    """Size of a measurement.

    Args:
        name: on the command line.
        speakers: evaluated, half of them women where there are enough; 0 for all.
        enrolment, trials: recordings of each speaker.
        pool: recordings of other people, on which attackers train.
        sample: recordings that words, naturalness and intonation are measured on.
        replicates: of the bootstrap.
        thetas: values of forced dissimilarity in a sweep.
        epsilons: values of V-Cloak's epsilon in a sweep.
        challenge: systems of the VoicePrivacy Challenge 2020 whose counterparts are measured.
        attacker_seconds: training time of the semi-informed attacker's x-vectors, a system; 0
            fits a back end only.
        about: one line on the time it needs.
    """

    name: str
    speakers: int
    enrolment: int
    trials: int
    pool: int
    sample: int
    replicates: int
    thetas: tuple[float, ...]
    epsilons: tuple[float, ...]
    challenge: tuple[str, ...]
    attacker_seconds: float
    about: str


ALL = ("A1", "A2", "B1", "B2", "D1", "I1", "K2", "M1c2", "M1c3", "M1c4", "O1", "O1c1", "S1", "S1c1")

BUDGETS = {
    budget.name: budget
    for budget in (
        Budget(
            "tiny", 8, 2, 2, 12, 4, 50, (0.2,), (0.05, 0.1), ("B1", "B2"), 0.0,
            "a check that all runs: seconds a system; its figures mean nothing",
        ),
        Budget(
            "small", 24, 3, 3, 60, 24, 300, (0.0, 0.2, 0.4), (0.02, 0.05, 0.1), ALL, 0.0,
            "one to two minutes a system on one core",
        ),
        Budget(
            "medium", 60, 6, 5, 400, 120, 1000, (-0.1, 0.0, 0.1, 0.2, 0.3, 0.4),
            (0.02, 0.04, 0.06, 0.08, 0.1), ALL, 0.0, "five to ten minutes a system on one core",
        ),
        Budget(
            "full", 0, 8, 6, 2000, 400, 1000, (-0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
            (0.02, 0.04, 0.06, 0.08, 0.1), ALL, 1800.0,
            "all speakers, and an attacker that trains x-vectors for half an hour a system",
        ),
    )
}  # fmt: skip


def budget(name: str) -> Budget:
    """A budget by name.

    Raises:
        VoicenymError: no such budget.
    """
    if name not in BUDGETS:
        raise VoicenymError(f"--budget is {', '.join(BUDGETS)}, not {name!r}")
    return BUDGETS[name]
