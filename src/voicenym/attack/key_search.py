"""Attackers beyond the papers, who search: the key that was used, or what undoes a system."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.anonymizer import system_class
from voicenym.attack.attackers import (
    Attacker,
    Comparing,
    Denoising,
    Ignorant,
    KeyHolder,
    LazyInformed,
    SemiInformed,
    enrolled,
    tried,
)
from voicenym.attack.embedder import Embedder
from voicenym.attack.inversion import Backwards
from voicenym.attack.normalised_scores import Normalised
from voicenym.attack.scenario import Case
from voicenym.attack.transforms import EVERYBODY, ORIGINAL, Step, Undo
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

PER_TRIAL = "unprotected (per trial)"
GUESSED: dict[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "vtln": (("vtln.sign", 2), ("vtln.beta", 0)),
    "pv-tsm": (("pv-tsm.sign", 2), ("pv-tsm.semitones", 0)),
    "formant": (("formant.phi", 0), ("formant.pitch", 0)),
}
"""The two draws that are guessed by a grid, and how many values the first has, if that is known."""


@dataclass(frozen=True)
class UnprotectedPerTrial(Attacker):
    """Original speech, scored as those who search score: what there is to protect from them.

    Normalising trial by trial helps on unprotected speech too; without this attacker beside it, a
    search would seem to do better on protected speech than others do on originals.

    Args:
        concentration: as in :class:`KeySearch`.
    """

    concentration: float | None = None

    name = PER_TRIAL
    knows = "nothing is protected; normalises scores trial by trial, as a key search does"
    informed = False

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        models = enrolled(case, verifier, embedder, ORIGINAL)
        scores = verifier.score(models, embedder(verifier, case.trials, ORIGINAL))
        return marginal(scores[None], concentrated(self.concentration, verifier))


@dataclass(frozen=True)
class KeySearch(Attacker):
    """Tries many keys: which voice the trial was given, and then who it is.

    Enrolment is protected under each of ``keys`` random voices. A trial's score for a model is
    the likelihood of its vector under that model, whatever the voice, over that under anybody:

        s(m, t) = log mean_k exp(b x_kmt) - log mean_(k, m') exp(b x_km't),

    x being the verifier's score: of cosines, b is the concentration of a von Mises-Fisher density;
    of log-likelihood ratios, such as PLDA's, b is 1. Without the second term (the maximum over keys
    alone) a trial that some voice fits well would look like everybody.

    Args:
        keys: how many voices are tried.
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

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        trials = tried(case, verifier, embedder)
        guesses = [
            case.protection.with_key(key, EVERYBODY) for key in candidates(case.key, self.keys)
        ]
        scores = [
            verifier.score(enrolled(case, verifier, embedder, guess), trials) for guess in guesses
        ]
        return marginal(np.stack(scores), concentrated(self.concentration, verifier))


@dataclass(frozen=True)
class Inversion(Attacker):
    """Undoes a system under many guesses of its parameter, and weighs them like a key search.

    Args:
        guesses: what undoes the protection, each for one guess (:func:`inversions`).
        concentration: as in :class:`KeySearch`.
    """

    guesses: tuple[Step, ...]
    concentration: float | None = None

    name = "inversion"
    knows = "knows the system, not the key; undoes it under many guesses"
    reference = PER_TRIAL

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        models = enrolled(case, verifier, embedder, ORIGINAL)
        scores = [
            verifier.score(models, tried(case, verifier, embedder, undo)) for undo in self.guesses
        ]
        return marginal(np.stack(scores), concentrated(self.concentration, verifier))


def candidates(key: Key, count: int) -> list[Key]:
    """Random keys of the attacker's, for voices of the same revisions as the user's."""
    halves = [key.tag(f"candidate {half}", str(k)) for k in range(count) for half in "ab"]
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return [Key(bytes.fromhex(a + b), key.revisions) for a, b in pairs]


def concentrated(chosen: float | None, verifier: Verifier) -> float:
    """What a unit of a verifier's score is worth in nats, unless it was chosen."""
    return verifier.concentration if chosen is None else chosen


def marginal(scores: np.ndarray, concentration: float) -> np.ndarray:
    """Scores ``[model, trial]`` of :class:`KeySearch` from those of ``[guess, model, trial]``."""
    from scipy.special import logsumexp

    scaled = concentration * scores.astype(np.float64)
    models = logsumexp(scaled, axis=0)
    anybody = logsumexp(models, axis=0) - np.log(models.shape[0])
    result: np.ndarray = models - anybody
    return result


def inversions(
    system: str | None, parameters: Mapping[str, Any] | None = None, count: int = 12
) -> tuple[Step, ...]:
    """What undoes a system, for about ``count`` guesses of its voice; empty where nothing does.

    ``mcadams``: angles phi^alpha are bent back by 1 / alpha (exact up to another prediction; radii
    of ``mcadams-radius`` stay wide). ``vtln``: the inverse warp, for both signs of alpha and steps
    through the values of beta that the system allows. ``pv-tsm``: steps through the semitones, up
    and down. ``formant``: steps through factors on formants and on pitch, since the voice that
    these came from is not known; the levels of its bands stay as they were drawn.

    Args:
        system: its name; None where only its files are known.
        parameters: that the user chose: they bound the guesses.
        count: of guesses.
    """
    if system in ("mcadams", "mcadams-radius"):
        fields = {f.name: f.default for f in dataclasses.fields(system_class(system))}
        chosen = {**fields, **(parameters or {})}
        bent = np.round(1.0 / np.linspace(chosen["low"], chosen["high"], count), 4).tolist()
        return tuple(Undo("mcadams", (("low", x), ("high", x))) for x in bent)
    if system not in GUESSED:
        return ()
    (first, least), (second, _) = GUESSED[system]
    rows = least or round(math.sqrt(4 / 3 * count))
    fixed = tuple(sorted((parameters or {}).items()))
    return tuple(
        Backwards(system, ((first, x), (second, y)), fixed)
        for x in _steps(rows)
        for y in _steps(max(1, count // rows))
    )


def _steps(count: int) -> list[float]:
    """The middles of so many equal parts of a range, as shares of it."""
    return [(place + 0.5) / count for place in range(count)]


def line_up(
    system: str | None,
    parameters: Mapping[str, Any],
    denoisers: Sequence[str],
    keys: int,
    trains: bool,
    normalise: bool = False,
) -> list[Attacker]:
    """All attackers that can be run on protected speech.

    Args:
        system: name of the system; None where only its files are known.
        parameters: of the system.
        denoisers: names of :func:`voicenym.attack.denoisers.denoisers`.
        keys: of the key search.
        trains: whether there is speech of other people to train on.
        normalise: also run those who compare with their scores normalised against these people.
    """
    attackers: list[Attacker] = [Ignorant(), *map(Denoising, denoisers), KeyHolder()]
    if system is not None:
        attackers += [LazyInformed(), KeySearch(keys)]
        guesses = inversions(system, parameters)
        if guesses:
            attackers.append(Inversion(guesses))
        if trains:
            attackers.append(SemiInformed())
    if normalise:
        attackers += [Normalised(a) for a in attackers if isinstance(a, Comparing)]
    return attackers
