"""Attackers that compare enrolment with protected trials, and the interface of all attackers.

An attacker has the enrolled speakers' original speech and the protected trials, and scores every
pair: higher for the same speaker. Names follow the VoicePrivacy Challenges (Tomashenko et al. 2022)
and V-Cloak (Deng et al. 2023: A1 to A3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.denoisers import Denoise
from voicenym.attack.scenario import Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.remembered import Remembering
from voicenym.corpus.transforms import Step, Transform
from voicenym.verification.scoring import Backend
from voicenym.verification.verifier import Verifier


class Attacker(ABC):
    """One kind of attacker; subclasses are frozen dataclasses of its parameters.

    Attributes:
        name: in reports.
        knows: its knowledge and its method, in a sentence.
        holds_key: whether it has the user's key, against which no system protects.
        informed: whether it knows the system.
        protected: whether it attacks protected speech; False for measurements on originals.
        trains_verifier: whether it trains its own verifier instead of using a given one.
        learns: whether it learns from speech of other people (the pool of a scenario), so that its
            figure depends on how much there is.
        channel: by which it finds speakers: ``voice``, ``prosody``, ``words``, ``room``, or
            ``several``.
        reference: name of the attacker on unprotected speech whose scores have the same scale, so
            that its threshold applies; empty where there is none.
    """

    name: str
    knows: str
    holds_key = False
    informed = True
    protected = True
    trains_verifier = False
    learns = False
    channel = "voice"
    reference = ""

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        """The attackers of this kind that can run with some resources: by default one."""
        return [cls()]

    def obstacle(self, scenario: Scenario) -> str:
        """Reason why it cannot run on a scenario, as a sentence for the report; empty if it can."""
        return ""

    def settings(self) -> str:
        """Further values on which its scores depend besides its fields, such as weights in a
        folder.
        """
        return ""

    @abstractmethod
    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        """Scores ``[model, trial]``, float64.

        Args:
            scenario: speakers, trials and protection.
            verifier: turns recordings into vectors.
            embedder: computes and caches them.
        """

    def verifier_name(self, verifier: Verifier) -> str:
        """Name of the verifier behind the scores, for reports."""
        return verifier.name

    def training_curve(self, scenario: Scenario) -> list[dict[str, float]]:
        """``step``, ``seconds`` and ``EER %`` of its training; empty where it does not train."""
        return []


class Comparing(Attacker):
    """An attacker that compares enrolment and trials; subclasses transform one or the other."""

    reference = "unprotected"

    needs_original_pool = True
    """Whether the cohort of normalised scores is original speech."""

    def enrolment(self, scenario: Scenario) -> Transform:
        """Transform of the enrolled speakers' original speech."""
        return scenario.original

    def trials(self, scenario: Scenario) -> Transform:
        """Transform of the trials' original speech, by the user and then by the attacker."""
        return scenario.protection.transform

    def published(self, scenario: Scenario) -> Transform:
        """Transform of the trials' original speech by the user alone."""
        return scenario.protection.transform

    def cohort(self, scenario: Scenario) -> Transform:
        """Transform of the score normalisation's cohort: that of the enrolment."""
        return self.enrolment(scenario)

    def backend(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> Backend:
        """Back end that compares vectors: the verifier itself."""
        return verifier

    def scores(
        self,
        scenario: Scenario,
        verifier: Verifier,
        embedder: Embedder,
        backend: Backend | None = None,
    ) -> np.ndarray:
        models = enrolment_vectors(scenario, verifier, embedder, self.enrolment(scenario))
        trials = vectors_or_fallback(
            embedder, verifier, scenario.trials, self.trials(scenario), self.published(scenario)
        )
        return (backend or self.backend(scenario, verifier, embedder)).score(models, trials)


def enrolment_vectors(
    scenario: Scenario, verifier: Verifier, embedder: Embedder, transform: Transform
) -> list[np.ndarray]:
    """Vectors ``[n_i, dimension]`` of each model's transformed recordings.

    A recording on which the transform fails is left out; where it fails on all of a model's
    recordings, the attacker uses the originals.
    """
    found = embedder.vectors_or_reasons(verifier, scenario.enrolment, transform)
    vectors, place = [], 0
    for model in scenario.models:
        own = found[place : place + len(model.recordings)]
        place += len(own)
        kept = [vector for vector in own if not isinstance(vector, str)]
        if not kept:
            kept = list(embedder.kept(verifier, model.recordings, scenario.original)[0])
        vectors.append(np.stack(kept))
    return vectors


def trial_vectors(
    scenario: Scenario, verifier: Verifier, embedder: Embedder, *more: Step
) -> np.ndarray:
    """Vectors ``[trial, dimension]`` of the protected trials, after the attacker's own steps."""
    published = scenario.protection.transform
    return vectors_or_fallback(
        embedder, verifier, scenario.trials, published.then(*more), published
    )


def vectors_or_fallback(
    embedder: Embedder,
    verifier: Verifier,
    recordings: Sequence[Recording],
    transform: Transform,
    fallback: Transform,
) -> np.ndarray:
    """Vectors ``[recording, dimension]``; where the transform fails, those of the fallback.

    An attacker whose de-noiser fails on a trial still has the trial.
    """
    found = embedder.vectors_or_reasons(verifier, recordings, transform)
    failed = [place for place, vector in enumerate(found) if isinstance(vector, str)]
    if failed:
        instead = embedder(verifier, [recordings[place] for place in failed], fallback)
        for place, vector in zip(failed, instead, strict=True):
            found[place] = vector
    return np.stack([np.asarray(vector) for vector in found])


@dataclass(frozen=True)
class Unprotected(Comparing):
    """Original enrolment, original trials: the baseline without protection (O-O)."""

    name = "unprotected"
    knows = "nothing is protected: original speech against original speech"
    informed = False
    protected = False

    def trials(self, scenario: Scenario) -> Transform:
        return scenario.original

    def published(self, scenario: Scenario) -> Transform:
        return scenario.original


@dataclass(frozen=True)
class Ignorant(Comparing):
    """Original enrolment, protected trials (O-A; V-Cloak's A1)."""

    name = "ignorant"
    knows = "does not know that the recordings are protected"
    informed = False


@dataclass(frozen=True)
class Denoising(Comparing):
    """Original enrolment, de-noised trials (V-Cloak's A2).

    Args:
        denoiser: name of :func:`voicenym.attack.denoisers.denoisers`.
    """

    denoiser: str

    knows = "knows that recordings are protected, not how; de-noises them"
    informed = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"de-noising ({self.denoiser})")

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [cls(name) for name in resources.denoisers]

    def trials(self, scenario: Scenario) -> Transform:
        steps = scenario.protection.transform.then(Denoise(self.denoiser)).steps
        return Remembering(steps)


@dataclass(frozen=True)
class LazyInformed(Comparing):
    """Enrolment protected with the attacker's own key (A-A; V-Cloak's A3 without the key)."""

    name = "lazy-informed"
    knows = "knows the system, not the key; protects the enrolment with its own key"
    needs_original_pool = False

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [cls()] if resources.can_enrol else []

    def enrolment(self, scenario: Scenario) -> Transform:
        return scenario.protection.with_key(scenario.key, scenario.protection.per)


@dataclass(frozen=True)
class KeyHolder(Comparing):
    """Enrolment of each speaker protected with the user's key and this speaker's own voice.

    This link is the purpose of a key: it includes the differences between the pseudo-voices.
    V-Cloak's A3 with the key gives all models the trial's voice instead
    (:class:`voicenym.attack.key_holder_per_trial.KeyHolderPerTrial`).
    """

    name = "key-holder"
    knows = (
        "has the user's key, or other recordings published under it; enrols each person with the "
        "person's own pseudo-voice"
    )
    holds_key = True

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [cls()] if resources.published_enrolment else []

    def enrolment(self, scenario: Scenario) -> Transform:
        return scenario.protection.transform

    def cohort(self, scenario: Scenario) -> Transform:
        # files of an unknown system exist for the evaluated speakers alone
        known = scenario.protection.system is not None
        return self.enrolment(scenario) if known else scenario.original


@dataclass(frozen=True)
class SemiInformedBackEnd(LazyInformed):
    """A lazy-informed attacker with a back end fitted to protected speech of other people.

    It protects the pool under its own keys, per speaker and per utterance, so that the back end
    (PLDA, or the verifier's own) models the effect of the system. The verifier stays as it is.
    Where nobody of these people has two recordings that differ, as with one of each person and a
    system whose voice does not depend on the key, the comparison stays, too.
    """

    name = "semi-informed (back end)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains the comparison of voices"
    )

    learns = True
    reference = ""  # no attacker fits the same back end to originals

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [cls()] if resources.can_train else []

    def backend(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> Backend:
        vectors, speakers = [], []
        voices = [(scenario.key, per) for per in ("speaker", "utterance")]
        for own in scenario.protection.with_keys(voices):
            some, recordings = embedder.kept(verifier, scenario.pool, own)
            vectors.append(some)
            speakers += [recording.speaker for recording in recordings]
        whole = np.concatenate(vectors)
        return verifier.adapted(whole, speakers) if _varies(whole, speakers) else verifier.backend()


def _varies(vectors: np.ndarray, speakers: Sequence[str]) -> bool:
    """Whether a speaker has two different vectors ``[recording, dimension]``."""
    first: dict[str, np.ndarray] = {}
    pairs = zip(vectors, speakers, strict=True)
    return any(not np.array_equal(first.setdefault(name, own), own) for own, name in pairs)
