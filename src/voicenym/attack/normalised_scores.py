"""Attackers with normalised scores (AS-norm): an option of attackers that compare recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.attack.attackers import Attacker, Comparing
from voicenym.attack.scenario import Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import Transform
from voicenym.verification.score_normalisation import ASNorm
from voicenym.verification.scoring import class_means, grouped, unit
from voicenym.verification.verifier import Verifier

SUFFIX = " + AS-norm"


@dataclass(frozen=True)
class Normalised(Attacker):
    """A comparing attacker with scores normalised by
    :mod:`AS-norm <voicenym.verification.score_normalisation>`.

    The cohort has one vector for each speaker of the pool, whose speech passes the transform of the
    attacker's enrolment. Attackers that search normalise trial by trial already.

    Args:
        attacker: computes the scores.
    """

    attacker: Comparing

    def __post_init__(self) -> None:
        base = self.attacker
        values = {
            "name": base.name + SUFFIX,
            "knows": f"{base.knows}; normalises scores by those of other people",
            "holds_key": base.holds_key,
            "informed": base.informed,
            "learns": base.learns,
            "reference": base.reference and base.reference + SUFFIX,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        """Scores ``[model, trial]``, float64.

        Raises:
            VoicenymError: a pool of fewer than two speakers, or of one recording each.
        """
        others = cohort(scenario, verifier, embedder, self.attacker.cohort(scenario))
        plain = self.attacker.backend(scenario, verifier, embedder)
        return self.attacker.scores(scenario, verifier, embedder, ASNorm(plain, others))


def cohort(
    scenario: Scenario, verifier: Verifier, embedder: Embedder, transform: Transform
) -> np.ndarray:
    """A vector for each speaker of the pool, ``[speaker, dimension]``."""
    vectors, recordings = embedder.kept(verifier, scenario.pool, transform)
    return class_means(*grouped(unit(vectors), [recording.speaker for recording in recordings]))
