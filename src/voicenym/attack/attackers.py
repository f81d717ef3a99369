"""The papers' attackers: what they know, and the scores that it lets them compute.

An attacker gets the enrolled speakers' original speech and the protected trials, and gives a
score for every pair: the higher, the likelier the same person. Names are those of the VoicePrivacy
Challenges (Tomashenko et al. 2022) and of V-Cloak (Deng et al., USENIX Security 2023: A1 to A3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.embedder import Embedder
from voicenym.attack.scenario import Case
from voicenym.attack.transforms import ORIGINAL, Denoise, Step, Transform
from voicenym.corpus.recording import Recording
from voicenym.verification.scoring import Backend
from voicenym.verification.verifier import Verifier


class Attacker(ABC):
    """One kind of attacker; subclasses are frozen dataclasses whose fields are its means.

    Attributes:
        name: as in reports.
        knows: what it knows and does, in a sentence.
        holds_key: whether it has the user's key, which no protection can survive.
        informed: whether it knows the system.
        reference: name of the attacker on unprotected speech whose scores mean the same, so that
            its threshold can be kept; empty where there is none.
    """

    name: str
    knows: str
    holds_key = False
    informed = True
    reference = ""

    @abstractmethod
    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        """Scores ``[model, trial]``, float64.

        Args:
            case: what is attacked.
            verifier: turns recordings into vectors.
            embedder: computes them, or remembers them.
        """

    def hears(self, verifier: Verifier) -> str:
        """Name of the verifier behind the scores, for reports."""
        return verifier.name

    def learning(self, case: Case) -> list[dict[str, float]]:
        """``step``, ``seconds`` and ``EER %`` through its training; empty if it does not train."""
        return []


class Comparing(Attacker):
    """Compares enrolment in one form with trials in another; subclasses say in which."""

    reference = "unprotected"

    def enrolment(self, case: Case) -> Transform:
        """What is done to the original speech of the enrolled."""
        return ORIGINAL

    def trials(self, case: Case) -> Transform:
        """What was done to the original speech of the trials, by the user and the attacker."""
        return case.protection.transform

    def published(self, case: Case) -> Transform:
        """What was done to the trials before the attacker had them."""
        return case.protection.transform

    def cohort(self, case: Case) -> Transform:
        """What is done to strangers' speech with which scores are normalised: as to enrolment."""
        return self.enrolment(case)

    def backend(self, case: Case, verifier: Verifier, embedder: Embedder) -> Backend:
        """What compares vectors: the verifier itself."""
        return verifier

    def scores(
        self,
        case: Case,
        verifier: Verifier,
        embedder: Embedder,
        backend: Backend | None = None,
    ) -> np.ndarray:
        models = enrolled(case, verifier, embedder, self.enrolment(case))
        trials = found_or(embedder, verifier, case.trials, self.trials(case), self.published(case))
        return (backend or self.backend(case, verifier, embedder)).score(models, trials)


def enrolled(
    case: Case, verifier: Verifier, embedder: Embedder, transform: Transform
) -> list[np.ndarray]:
    """Vectors ``[n_i, dimension]`` of each model's transformed recordings.

    A recording that the transform fails on is left out; where it fails on all of a model's, the
    attacker has their originals.
    """
    found = embedder.those(verifier, case.enrolment, transform)
    vectors, place = [], 0
    for model in case.models:
        own = found[place : place + len(model.recordings)]
        place += len(own)
        kept = [vector for vector in own if not isinstance(vector, str)]
        vectors.append(np.stack(kept) if kept else embedder.kept(verifier, model.recordings)[0])
    return vectors


def tried(case: Case, verifier: Verifier, embedder: Embedder, *more: Step) -> np.ndarray:
    """Vectors ``[trial, dimension]`` of the protected trials, after what the attacker adds."""
    published = case.protection.transform
    return found_or(embedder, verifier, case.trials, published.then(*more), published)


def found_or(
    embedder: Embedder,
    verifier: Verifier,
    recordings: Sequence[Recording],
    transform: Transform,
    otherwise: Transform,
) -> np.ndarray:
    """Vectors ``[recording, dimension]``; where a transform fails, those of another one.

    An attacker whose de-noiser fails on a trial still has the trial.
    """
    found = embedder.those(verifier, recordings, transform)
    failed = [place for place, vector in enumerate(found) if isinstance(vector, str)]
    if failed:
        instead = embedder(verifier, [recordings[place] for place in failed], otherwise)
        for place, vector in zip(failed, instead, strict=True):
            found[place] = vector
    return np.stack([np.asarray(vector) for vector in found])


@dataclass(frozen=True)
class Unprotected(Comparing):
    """Original enrolment, original trials: what there is to protect (O-O)."""

    name = "unprotected"
    knows = "nothing is protected: original speech against original speech"
    informed = False

    def trials(self, case: Case) -> Transform:
        return ORIGINAL

    def published(self, case: Case) -> Transform:
        return ORIGINAL


@dataclass(frozen=True)
class Ignorant(Comparing):
    """Original enrolment, protected trials (O-A; V-Cloak's A1)."""

    name = "ignorant"
    knows = "does not know that the recordings are protected"
    informed = False


@dataclass(frozen=True)
class Denoising(Comparing):
    """Original enrolment, de-noised trials (V-Cloak's A2)."""

    denoiser: str

    knows = "knows that recordings are protected, not how; de-noises them"
    informed = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"de-noising ({self.denoiser})")

    def trials(self, case: Case) -> Transform:
        return case.protection.transform.then(Denoise(self.denoiser))


@dataclass(frozen=True)
class LazyInformed(Comparing):
    """Enrolment protected with a key of the attacker's own (A-A; V-Cloak's A3 without the key)."""

    name = "lazy-informed"
    knows = "knows the system, not the key; protects the enrolment with its own key"

    def enrolment(self, case: Case) -> Transform:
        return case.protection.with_key(case.key, case.protection.per)


@dataclass(frozen=True)
class KeyHolder(Comparing):
    """Enrolment protected with the user's own key: the key was lost (V-Cloak's A3 with the key)."""

    name = "key-holder"
    knows = "has the user's key, or other recordings published under it"
    holds_key = True

    def enrolment(self, case: Case) -> Transform:
        return case.protection.transform

    def cohort(self, case: Case) -> Transform:
        # of somebody else's files there are none of strangers
        return ORIGINAL if case.protection.system is None else self.enrolment(case)


@dataclass(frozen=True)
class SemiInformed(LazyInformed):
    """Like the lazy-informed, with a back end trained on protected speech of other people.

    The pool is protected under the attacker's keys, per speaker and per utterance, so that the
    back end learns what the system does to voices: PLDA on the verifier's vectors, or what it has
    in its place. The verifier itself is not trained.
    """

    name = "semi-informed (back end)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains the comparison of voices"
    )

    reference = ""  # nobody trained the same comparison on originals

    def backend(self, case: Case, verifier: Verifier, embedder: Embedder) -> Backend:
        vectors, speakers = [], []
        for per in ("speaker", "utterance"):
            own = case.protection.with_key(case.key, per)
            some, recordings = embedder.kept(verifier, case.pool, own)
            vectors.append(some)
            speakers += [recording.speaker for recording in recordings]
        return verifier.adapted(np.concatenate(vectors), speakers)
