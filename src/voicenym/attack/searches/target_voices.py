"""Nearest neighbour on the system's own output, by target voice: an attack without learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.key_search import candidate_keys
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import EVERYBODY
from voicenym.verification.scoring import unit
from voicenym.verification.verifier import Verifier


@dataclass(frozen=True)
class NearestInTargetVoice(Attacker):
    """Nearest neighbour among the candidates' speech in the target voices nearest to the trial.

    Bauer et al., "Inference attacks for x-vector speaker anonymization" (arXiv 2505.08978, DLSP
    2025), run the system on known speech of every candidate and choose the candidate whose output
    has the x-vector at the least L2 distance from the observed one. Their systems draw voices from
    a public pool and the candidate's own vector; ours draw voices from keys, so that the attacker
    generates every candidate's speech in many voices first. In the voices whose outputs, of any
    candidate, lie nearest to the trial, a model's score is how much nearer its nearest output lies
    than the candidates' mean:

        s(m, t) = mean_(k near t) (mean_m' d(t, m', k) - d(t, m, k)),
        d(t, m, k) = min_r |x_t - x_mkr|, x being vectors of length one.

    The vectors are those of :class:`voicenym.attack.searches.key_search.KeySearch`; the cache
    has them.

    Args:
        keys: number of voices.
        nearest: how many of them count for a trial.
    """

    keys: int = 24
    nearest: int = 3

    name = "nearest in target voice"
    knows = (
        "knows the system, not the key; generates the enrolment in many voices, and compares a "
        "trial with its nearest neighbours in the voices nearest to it; trains nothing"
    )

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [] if resources.system is None else [cls(resources.keys)]

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        trials = unit(trial_vectors(scenario, verifier, embedder))
        nearest, usual = [], []
        for key in candidate_keys(scenario.key, self.keys):
            voice = scenario.protection.with_key(key, EVERYBODY)
            models = enrolment_vectors(scenario, verifier, embedder, voice)
            distances = [_distances(unit(own), trials) for own in models]
            nearest.append(np.stack([one.min(0) for one in distances]))
            usual.append(np.stack([one.mean(0) for one in distances]).mean(0))
        by_voice, of_voice = np.stack(nearest), np.stack(usual)
        advantage = by_voice.mean(1, keepdims=True) - by_voice
        near = np.argsort(of_voice, axis=0, kind="stable")[: self.nearest]
        found: np.ndarray = np.take_along_axis(advantage, near[:, None], axis=0).mean(0)
        return found


def _distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """L2 distances ``[first, second]`` of vectors of length one."""
    found: np.ndarray = np.sqrt(np.maximum(2.0 - 2.0 * first @ second.T, 0.0))
    return found
