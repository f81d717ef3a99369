"""Key search that learns from other people which differences within a voice are of the speaker."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.attacker_resources import LEAST_FOR_STATISTICS, Resources
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.key_search import candidate_keys, marginal
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY
from voicenym.verification.scoring import Array, class_means, grouped, unit
from voicenym.verification.verifier import Verifier

SHARE = 5
"""Each voice is learned from one in so many recordings of other people."""
SHRINKAGE = 0.5
"""Share of a multiple of I in the covariance within speakers."""
CONCENTRATION = 20.0
"""Weight of a cosine of whitened vectors in nats."""
FIT = 0.3
"""Weight of the log-likelihood of a trial in a voice, below 1 since no candidate has exactly the
voice of the trial.

All four were chosen on trials among 125 speakers of speechocean762's ``train``, the pool of the
published figures, with ``musa`` and ``recast``: EER 7.0 and 7.2 %, by the plain key search 9.7 and
11.2; half and twice the weights, and shrinkage of 0.3 and 0.8, change these by up to 1.0.
"""


@dataclass(frozen=True)
class SemiInformedKeySearch(Attacker):
    """A key search on vectors that are centred on each voice and whitened within speakers.

    Under each key, the mean of other people's vectors is that of the voice; what is left is of
    speaker, recording and network. Within-class covariance normalisation (Hatch, Kajarekar and
    Stolcke, "Within-class covariance normalization for SVM-based speaker recognition", Interspeech
    2006) divides by the covariance of a speaker's recordings, that of all voices together. The
    scores of each voice, plus how well it fits the trial, are marginalised as in
    :class:`voicenym.attack.searches.key_search.KeySearch`.

    Args:
        keys: number of voices.
    """

    keys: int = 24

    name = "semi-informed (key search trained)"
    knows = (
        "knows the system, not the key; protects the enrolment under many random keys, and learns "
        "from speech of other people, under the same keys, what differs between speakers in a voice"
    )
    learns = True

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        enough = resources.pool_recordings >= LEAST_FOR_STATISTICS and resources.can_train
        return [cls(resources.keys)] if enough and resources.system is not None else []

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        trials = unit(trial_vectors(scenario, verifier, embedder))
        centres, models, rest, speakers = [], [], [], []
        for number, key in enumerate(candidate_keys(scenario.key, self.keys)):
            voice = scenario.protection.with_key(key, EVERYBODY)
            models.append(enrolment_vectors(scenario, verifier, embedder, voice))
            learned = [one for one in scenario.pool if _turn(one) == number % SHARE]
            found, kept = embedder.kept(verifier, learned or scenario.pool, voice)
            centre = unit(found).mean(0)
            centres.append(centre)
            rest.append(unit(found) - centre)
            speakers += [recording.speaker for recording in kept]
        numbers = np.concatenate(rest)
        whitening = within_class_whitening(numbers, speakers)
        precision = np.linalg.inv(_shrunk(numbers.T @ numbers / len(numbers)))
        scores = []
        for centre, enrolled in zip(centres, models, strict=True):
            own, beside = [unit(one) - centre for one in enrolled], trials - centre
            fit = -0.5 * np.einsum("td,de,te->t", beside, precision, beside)
            compared = _cosines([one @ whitening for one in own], beside @ whitening)
            scores.append(CONCENTRATION * compared + FIT * fit)
        return marginal(np.stack(scores), 1.0)


def _turn(recording: Recording) -> int:
    """Which voices a recording is learned under, the same in every part of a pool."""
    return zlib.crc32(recording.name.encode()) % SHARE


def _cosines(models: Sequence[Array], trials: Array) -> Array:
    """Cosines ``[model, trial]``, after the mean of a model's vectors of length one."""
    means = np.stack([unit(own).mean(0) for own in models])
    found: Array = unit(means) @ unit(trials).T
    return found


def _shrunk(covariance: Array) -> Array:
    """The covariance ``[d, d]``, shrunk toward a multiple of I; positive definite."""
    usual = max(np.trace(covariance) / len(covariance), np.finfo(np.float64).eps)
    found: Array = (1.0 - SHRINKAGE) * covariance + SHRINKAGE * usual * np.eye(len(covariance))
    return found


def within_class_whitening(vectors: Array, speakers: Sequence[str]) -> Array:
    """Symmetric inverse square root ``[d, d]`` of the shrunk covariance within speakers.

    Args:
        vectors: ``[n, d]``.
        speakers: of each, ``[n]``.
    """
    x, index, count = grouped(vectors, speakers)
    rest = x - class_means(x, index, count)[index]
    values, axes = np.linalg.eigh(_shrunk(rest.T @ rest / len(rest)))
    found: Array = (axes / np.sqrt(values)) @ axes.T
    return found
