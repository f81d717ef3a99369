"""Key search: an attacker that tries many keys and marginalises over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import EVERYBODY
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

PER_TRIAL = "unprotected (per trial)"


@dataclass(frozen=True)
class UnprotectedPerTrial(Attacker):
    """Original speech, scored like a key search: the baseline of attackers that search.

    The normalisation trial by trial also helps on unprotected speech; against the plain baseline a
    search could seem to do better on protected speech than others on originals.

    Args:
        concentration: as in :class:`KeySearch`.
    """

    concentration: float | None = None

    name = PER_TRIAL
    knows = "nothing is protected; normalises scores trial by trial, as a key search does"
    informed = False
    protected = False

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        models = enrolment_vectors(scenario, verifier, embedder, scenario.original)
        scores = verifier.score(models, embedder(verifier, scenario.trials, scenario.original))
        return marginal(scores[None], chosen_concentration(self.concentration, verifier))


@dataclass(frozen=True)
class KeySearch(Attacker):
    """Protects the enrolment under many random keys and marginalises over them.

    A trial's score for a model is the likelihood ratio of its vector under that model and under any
    model, both averaged over the keys' voices:

        s(m, t) = log mean_k exp(b x_kmt) - log mean_(k, m') exp(b x_km't),

    x being the verifier's score: for cosines, b is the concentration of a von Mises-Fisher density;
    for log-likelihood ratios, such as PLDA's, b is 1. The second term normalises for trials that
    some voice fits well under every model.

    Args:
        keys: number of voices.
        concentration: b; None for the verifier's.
    """

    keys: int = 24
    concentration: float | None = None

    name = "key search"
    knows = (
        "knows the system, not the key; protects the enrolment under many random keys and weighs "
        "them by how well they fit the trial"
    )
    reference = PER_TRIAL

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [] if resources.system is None else [cls(resources.keys)]

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        trials = trial_vectors(scenario, verifier, embedder)
        guesses = [
            scenario.protection.with_key(key, EVERYBODY)
            for key in candidate_keys(scenario.key, self.keys)
        ]
        scores = [
            verifier.score(enrolment_vectors(scenario, verifier, embedder, guess), trials)
            for guess in guesses
        ]
        return marginal(np.stack(scores), chosen_concentration(self.concentration, verifier))


def candidate_keys(key: Key, count: int) -> list[Key]:
    """Random keys of the attacker, of the same system revisions as the user's key."""
    halves = [key.tag(f"candidate {half}", str(k)) for k in range(count) for half in "ab"]
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return [Key(bytes.fromhex(a + b), key.revisions) for a, b in pairs]


def chosen_concentration(chosen: float | None, verifier: Verifier) -> float:
    """The chosen concentration, or the verifier's own."""
    return verifier.concentration if chosen is None else chosen


def marginal(scores: np.ndarray, concentration: float) -> np.ndarray:
    """Scores ``[model, trial]`` of :class:`KeySearch` from those of each guess, ``[guess, model,
    trial]``.
    """
    from scipy.special import logsumexp

    scaled = concentration * scores.astype(np.float64)
    models = logsumexp(scaled, axis=0)
    anybody = logsumexp(models, axis=0) - np.log(models.shape[0])
    result: np.ndarray = models - anybody
    return result
