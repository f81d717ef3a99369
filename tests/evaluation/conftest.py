"""A small evaluation with drawn scores, shared by tests of reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from voicenym.attack.attackers import Ignorant, KeyHolder, Unprotected
from voicenym.attack.key_search import KeySearch
from voicenym.corpus.recording import Recording
from voicenym.evaluation import figures, protection
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.results import Evaluation, Measured, SystemResults
from voicenym.evaluation.trials import Trials, build

SPEAKERS = 8


def trials() -> Trials:
    return build(
        [
            Recording(f"s{s}-{u}", f"s{s}", Path("none"), "fm"[s % 2])
            for s in range(SPEAKERS)
            for u in range(7)
        ]
    )


def scores(test: Trials, distance: float, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(test.tested.shape)
    return noise + distance * test.target


@pytest.fixture(scope="session")
def found() -> tuple[Evaluation, Evidence]:
    """Two systems: one that an attacker sees through, one whose utility was not measured."""
    test = trials()
    evidence = Evidence(test)
    rng = np.random.default_rng(0)

    def attack(name, attackers):
        made = []
        for seed, (attacker, distance) in enumerate(attackers):
            values = scores(test, distance, seed)
            made.append(protection.measured(attacker, values, test, "Resemblyzer", 30))
            key = f"{attacker.name}, Resemblyzer"
            evidence.scores.setdefault(name, {})[key] = values
        evidence.vectors[name] = rng.standard_normal((len(test.recordings), 16))
        return made

    bare = attack("original", [(Unprotected(), 5.0)])
    systems = []
    for name, distances in (("bent <script>", (1.0, 6.0, 3.0)), ("sturdy", (0.1, 5.0, 0.3))):
        made = attack(name, zip((Ignorant(), KeyHolder(), KeySearch()), distances, strict=True))
        strongest = min(
            (a for a in made if not a.figures.holds_key), key=lambda a: a.figures.eer.value
        )
        utility = {
            "WER": Measured(40.0, 30.0, 50.0, "%"),
            "WER substitutions": Measured(25.0, 15.0, 35.0, "%"),
            "CER": Measured(22.0, 12.0, 32.0, "%"),
            "rho_F0 by chance": Measured(0.08, 0.02, 0.12),
            "D_KS": Measured(0.31, 0.21, 0.41, "share"),
            "DNSMOS": Measured(2.5, 2.0, 3.0, "of 5"),
            "G_VD": Measured(float("-inf"), float("-inf"), -2.0, "dB"),
        }
        matrix = rng.uniform(size=(SPEAKERS, SPEAKERS))
        evidence.matrices[name] = {"oo": matrix, "oa": matrix, "aa": matrix}
        systems.append(
            SystemResults(
                name,
                f"title of {name}",
                {"low": 0.5},
                "speaker",
                tuple(a.figures for a in made),
                utility if name != "sturdy" else {},
                protection.exposed(strongest.scores, test),
                ("a note & more",),
            )
        )
    evaluation = Evaluation(
        "0.1",
        "2026-11-21",
        "drawn scores",
        SPEAKERS,
        len(test.recordings),
        tuple(a.figures for a in bare),
        tuple(systems),
        {"WER": Measured(30.0, 20.0, 40.0, "%"), "DNSMOS": Measured(3.1, 3.0, 3.2, "of 5")},
        ("only 4 speakers are compared",),
    )
    return evaluation, evidence


@pytest.fixture(scope="session")
def drawn(found):
    """All figures of the small evaluation."""
    pytest.importorskip("matplotlib")
    return figures.gallery(*found)
