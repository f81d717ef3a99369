"""V-Cloak's informed attacker with the key (A3), which knows the voice of each trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Model, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY
from voicenym.verification.verifier import Verifier


@dataclass(frozen=True)
class KeyHolderPerTrial(Attacker):
    """Protects every model's enrolment with the trial's own voice (V-Cloak's A3 with the key).

    Deng et al. 2023, section 5.5 and theorem 4: the attacker has the voiceprint towards which a
    trial was cloaked, and cloaks the enrolment of all people towards it. The contribution of the
    voice is then the same for all of them. For systems without targets, the voice is that of the
    trial's pseudonym: its draws, or the secret of its identity method.

    Trials of one voice share the enrolment. The attacker makes no more protected recordings than a
    key search: with many voices it enrols fewer recordings of each model, the same for all voices.

    Args:
        keys: of that key search; its number of protected recordings is the limit.
    """

    keys: int = 24

    name = "key-holder (A3 of V-Cloak)"
    knows = (
        "has the key, and so the voice of each trial; protects everybody's enrolment with that "
        "voice (Deng et al. 2023, section 5.5)"
    )
    holds_key = True
    reference = "unprotected"

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        return [] if resources.system is None else [cls(resources.keys)]

    def obstacle(self, scenario: Scenario) -> str:
        if self.enrolled(scenario):
            return ""
        voices, models = len(_voices(scenario)), len(scenario.models)
        least = -(-voices * models // len(scenario.enrolment))
        return (
            f"{self.name} was not run: the trials have {voices} voices, and the enrolment of "
            f"{models} models under each is more than a key search protects; it runs with "
            f"--keys {least}"
        )

    def enrolled(self, scenario: Scenario) -> int:
        """Number of enrolled recordings of each model; 0 if one of each exceeds the limit."""
        counts = [len(model.recordings) for model in scenario.models]
        voices, limit = len(_voices(scenario)), self.keys * sum(counts)
        fitting = (
            n for n in range(max(counts), 0, -1) if voices * sum(min(n, c) for c in counts) <= limit
        )
        return next(fitting, 0)

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        enrolled = max(1, self.enrolled(scenario))
        models = tuple(_first(model, enrolled) for model in scenario.models)
        fewer = replace(scenario, models=models)
        trials = trial_vectors(scenario, verifier, embedder)
        scores = np.empty((len(models), len(scenario.trials)))
        for places in _voices(scenario).values():
            voice = scenario.protection.with_voice_of(scenario.trials[places[0]])
            vectors = enrolment_vectors(fewer, verifier, embedder, voice)
            scores[:, places] = verifier.score(vectors, trials[places])
        return scores


def _first(model: Model, count: int) -> Model:
    return replace(model, recordings=model.recordings[:count])


def _voices(scenario: Scenario) -> dict[tuple[str, str], list[int]]:
    """Indices of the trials by voice: of a speaker, or of an utterance."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, trial in enumerate(scenario.trials):
        found.setdefault(_voice(trial, scenario.protection.per), []).append(place)
    return found


def _voice(trial: Recording, per: str) -> tuple[str, str]:
    if per == EVERYBODY:
        return "", ""
    return trial.speaker, trial.name if per == "utterance" else ""
