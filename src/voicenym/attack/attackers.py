"""Attackers: what they know, and the scores that it lets them compute.

An attacker gets the enrolled speakers' original speech and the protected trials, and gives a
score for every pair: the higher, the likelier the same person. Names are those of the VoicePrivacy
Challenges (Tomashenko et al. 2022) and of V-Cloak (Deng et al., USENIX Security 2023: A1 to A3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.backend import Backend, Cosine
from voicenym.attack.case import Case
from voicenym.attack.embedder import Embedder
from voicenym.attack.transform import EVERYBODY, ORIGINAL, Denoise, Step, Transform, Undo
from voicenym.attack.verifier import Verifier
from voicenym.pseudonym import Key

COSINE = Cosine()


class Attacker(ABC):
    """One kind of attacker; subclasses are frozen dataclasses whose fields are its means.

    Attributes:
        name: as in reports.
        knows: what it knows and does, in a sentence.
        needs_system: whether it must be able to run the system.
        holds_key: whether it has the user's key, which no protection can survive.
    """

    name: str
    knows: str
    needs_system: bool
    holds_key = False

    @abstractmethod
    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        """Scores ``[model, trial]``, float64.

        Args:
            case: what is attacked.
            verifier: turns recordings into vectors.
            embedder: computes them, or remembers them.
            backend: compares them.
        """


def enrolled(
    case: Case, verifier: Verifier, embedder: Embedder, transform: Transform
) -> list[np.ndarray]:
    """Vectors ``[n_i, dimension]`` of each model's transformed recordings."""
    vectors = embedder(verifier, case.enrolment, transform)
    ends = np.cumsum([len(model.recordings) for model in case.models])
    return np.split(vectors, ends[:-1])


def tried(case: Case, verifier: Verifier, embedder: Embedder, *more: Step) -> np.ndarray:
    """Vectors ``[trial, dimension]`` of the protected trials, after what the attacker adds."""
    return embedder(verifier, case.trials, case.protection.transform.then(*more))


@dataclass(frozen=True)
class Unprotected(Attacker):
    """Original enrolment, original trials: what there is to protect (O-O)."""

    name = "unprotected"
    knows = "nothing is protected: original speech against original speech"
    needs_system = False

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        trials = embedder(verifier, case.trials, ORIGINAL)
        return backend.score(enrolled(case, verifier, embedder, ORIGINAL), trials)


@dataclass(frozen=True)
class Ignorant(Attacker):
    """Original enrolment, protected trials (O-A; V-Cloak's A1)."""

    name = "ignorant"
    knows = "does not know that the recordings are protected"
    needs_system = False

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        trials = tried(case, verifier, embedder)
        return backend.score(enrolled(case, verifier, embedder, ORIGINAL), trials)


@dataclass(frozen=True)
class Denoising(Attacker):
    """Original enrolment, de-noised trials (V-Cloak's A2)."""

    denoiser: str

    knows = "knows that recordings are protected, not how; de-noises them"
    needs_system = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"de-noising ({self.denoiser})")

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        trials = tried(case, verifier, embedder, Denoise(self.denoiser))
        return backend.score(enrolled(case, verifier, embedder, ORIGINAL), trials)


@dataclass(frozen=True)
class LazyInformed(Attacker):
    """Enrolment protected with a key of the attacker's own (A-A; V-Cloak's A3 without the key)."""

    name = "lazy-informed"
    knows = "knows the system, not the key; protects the enrolment with its own key"
    needs_system = True

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        own = case.protection.with_key(case.key, case.protection.per)
        trials = tried(case, verifier, embedder)
        return backend.score(enrolled(case, verifier, embedder, own), trials)


@dataclass(frozen=True)
class SemiInformed(Attacker):
    """Like the lazy-informed, with a back end trained on protected speech of other people.

    The pool is protected under the attacker's keys, per speaker and per utterance, so that the
    back end learns what the system does to voices: PLDA on the verifier's vectors. The verifier
    itself is not trained.
    """

    name = "semi-informed (back end)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains the comparison of voices"
    )
    needs_system = True

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        from voicenym.attack.plda import PLDA

        vectors, speakers = [], []
        for per in ("speaker", "utterance"):
            vectors.append(embedder(verifier, case.pool, case.protection.with_key(case.key, per)))
            speakers += [recording.speaker for recording in case.pool]
        trained = PLDA.train(np.concatenate(vectors), speakers)
        own = case.protection.with_key(case.key, case.protection.per)
        trials = tried(case, verifier, embedder)
        return trained.score(enrolled(case, verifier, embedder, own), trials)


@dataclass(frozen=True)
class KeyHolder(Attacker):
    """Enrolment protected with the user's own key: the key was lost (V-Cloak's A3 with the key)."""

    name = "key-holder"
    knows = "has the user's key, or other recordings published under it"
    needs_system = False
    holds_key = True

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        enrolment = enrolled(case, verifier, embedder, case.protection.transform)
        return backend.score(enrolment, tried(case, verifier, embedder))


@dataclass(frozen=True)
class KeySearch(Attacker):
    """Tries many keys: which voice the trial was given, and then who it is.

    Enrolment is protected under each of ``keys`` random voices. A trial's score for a model is
    the likelihood of its vector under that model, whatever the voice, over that under anybody:

        s(m, t) = log mean_k exp(b x_kmt) - log mean_(k, m') exp(b x_km't),

    x being the cosine, b the concentration of a von Mises-Fisher density. Without the second term
    (the maximum over keys alone) a trial that some voice fits well would look like everybody.

    Args:
        keys: how many voices are tried.
        concentration: b.
    """

    keys: int = 24
    concentration: float = 60.0

    name = "key search"
    knows = (
        "knows the system, not the key; protects the enrolment under many random keys and weighs "
        "them by how well they fit the trial"
    )
    needs_system = True

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        trials = tried(case, verifier, embedder)
        guesses = [
            case.protection.with_key(key, EVERYBODY) for key in candidates(case.key, self.keys)
        ]
        cosines = [
            COSINE.score(enrolled(case, verifier, embedder, guess), trials) for guess in guesses
        ]
        return marginal(np.stack(cosines), self.concentration)


@dataclass(frozen=True)
class Inversion(Attacker):
    """Undoes a system under many guesses of its parameter, and weighs them like a key search.

    Args:
        guesses: systems and parameters that undo the protection, each for one guess.
        concentration: as in :class:`KeySearch`.
    """

    guesses: tuple[Undo, ...]
    concentration: float = 60.0

    name = "inversion"
    knows = "knows the system, not the key; undoes it under many guesses"
    needs_system = True

    def scores(
        self, case: Case, verifier: Verifier, embedder: Embedder, backend: Backend = COSINE
    ) -> np.ndarray:
        models = enrolled(case, verifier, embedder, ORIGINAL)
        cosines = [
            COSINE.score(models, tried(case, verifier, embedder, undo)) for undo in self.guesses
        ]
        return marginal(np.stack(cosines), self.concentration)


def candidates(key: Key, count: int) -> list[Key]:
    """Random keys of the attacker's."""
    halves = [key.tag(f"candidate {half}", str(k)) for k in range(count) for half in "ab"]
    return [Key(bytes.fromhex(a + b)) for a, b in zip(halves[::2], halves[1::2], strict=True)]


def marginal(cosines: np.ndarray, concentration: float) -> np.ndarray:
    """Scores ``[model, trial]`` of :class:`KeySearch` from cosines ``[guess, model, trial]``."""
    from scipy.special import logsumexp

    scaled = concentration * cosines.astype(np.float64)
    models = logsumexp(scaled, axis=0)
    anybody = logsumexp(models, axis=0) - np.log(models.shape[0])
    result: np.ndarray = models - anybody
    return result


def inversions(system: str, count: int = 12) -> tuple[Undo, ...]:
    """What undoes a system, for ``count`` guesses of its parameter; empty where nothing does.

    McAdams' angles phi^alpha are bent back by 1 / alpha (exact up to another prediction; radii of
    ``mcadams-radius`` stay wide), and a shift of pitch is undone by the opposite one.
    """
    if system in ("mcadams", "mcadams-radius"):
        alphas = np.linspace(0.5, 0.9, count)
        return tuple(
            Undo("mcadams", (("low", round(1 / a, 4)), ("high", round(1 / a, 4)))) for a in alphas
        )
    return ()


def standard(
    system: str | None, denoisers: Sequence[str], keys: int, trains: bool
) -> list[Attacker]:
    """All attackers that can be run, the unprotected case first.

    Args:
        system: name of the system; None where only its files are known.
        denoisers: names of :func:`voicenym.attack.denoise.denoisers`.
        keys: of the key search.
        trains: whether there is speech of other people to train on.
    """
    attackers: list[Attacker] = [Unprotected(), Ignorant(), *map(Denoising, denoisers), KeyHolder()]
    if system is not None:
        attackers += [LazyInformed(), KeySearch(keys)]
        guesses = inversions(system)
        if guesses:
            attackers.append(Inversion(guesses))
        if trains:
            attackers.append(SemiInformed())
    return attackers
