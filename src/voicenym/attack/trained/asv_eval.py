"""The attackers of the VoicePrivacy Challenges, each with the speaker verification of its year.

- 2020 (Tomashenko et al. 2022, lazy-informed): x-vectors, LDA and PLDA, trained on original speech;
  enrolment under the attacker's key, a voice for each speaker.
- 2022 (semi-informed): the same, retrained on anonymized speech, a voice for each utterance.
- 2024: ECAPA-TDNN retrained on anonymized speech, all with a voice for each utterance; the cosine
  of a trial and the mean of a speaker's raw embeddings.
- 2026: embeddings have length one before they are averaged. An earlier version of the challenge's
  code divided each element of an embedding by its own magnitude, which leaves only its sign.

They run only by name (``--attacker asv-eval``), because stronger attackers run by default. Sizes
are this package's; docs/measuring/attackers.md has the commands for the published ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.key_search import candidate_keys
from voicenym.attack.trained.trained_attackers import SemiInformedVerifier
from voicenym.corpus.transforms import Transform
from voicenym.training.speakers.encoder_training import UntrainedEncoder, network_recipe
from voicenym.training.speakers.verifier_training import WithPlda
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.verification.embedding_plda import EmbeddingPlda
from voicenym.verification.scoring import Array, checked, unit
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.training.speakers.train_verifier import VerifierConfig

XVECTOR = "asv-eval-xvector-small"
"""Configuration of the x-vectors."""


class _AsvEval(SemiInformedVerifier):
    """An attacker of a challenge, which runs only if it is named.

    Attributes:
        per: whether its enrolment has a voice for each ``speaker`` or ``utterance``.
    """

    per = "utterance"

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        """One attacker if it is named, else none."""
        named = any(word.lower() in cls.name for word in resources.named)
        return super().available(resources) if named else []

    def _voices(self, scenario: Scenario) -> list[Transform]:
        """Transforms with a voice for each utterance."""
        voices = super()._voices(scenario)
        return voices[:-1] or voices

    def enrolment_voices(self, scenario: Scenario) -> list[Transform]:
        """One key of the attacker, which the training does not use."""
        key = candidate_keys(scenario.key, self.training.voices + 2)[-1]
        return [scenario.protection.with_key(key, self.per)]


@dataclass(frozen=True)
class AsvEval2022(_AsvEval):
    """x-vectors, LDA and PLDA, trained on speech that the system anonymized."""

    name = "asv-eval-2022"
    knows = (
        "VoicePrivacy 2022: knows the system, not the key; trains x-vectors, LDA and PLDA on "
        "speech of other people that it protects, a voice for each utterance"
    )
    own_verifier = "x-vector, LDA, PLDA trained on anonymized speech"
    per = "speaker"

    @property
    def recipe(self) -> VerifierConfig:
        return TrainingOptions(self.config).config(network_recipe().VerifierConfig)

    config = XVECTOR

    def settings(self) -> str:
        return f"{super().settings()} {self.config}"

    def start(self) -> Verifier:
        return WithPlda(UntrainedEncoder(self.recipe))

    def stored(self, place: Path) -> Verifier:
        return EmbeddingPlda(place, self.own_verifier)


@dataclass(frozen=True)
class AsvEval2020(AsvEval2022):
    """x-vectors, LDA and PLDA, trained on original speech."""

    name = "asv-eval-2020"
    knows = (
        "VoicePrivacy 2020, lazy-informed: knows the system, not the key; protects its enrolment "
        "with its own key, and trains x-vectors, LDA and PLDA on original speech of other people"
    )
    own_verifier = "x-vector, LDA, PLDA trained on original speech"

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        return resources.original_pool and super().enough(resources)

    def _voices(self, scenario: Scenario) -> list[Transform]:
        """Original speech."""
        return [scenario.protection.original]


@dataclass(frozen=True)
class AsvEval2024(_AsvEval):
    """ECAPA-TDNN trained on speech that the system anonymized; cosine to a raw mean."""

    name = "asv-eval-2024"
    knows = (
        "VoicePrivacy 2024: knows the system, not the key; trains an ECAPA-TDNN on speech of other "
        "people that it protects, a voice for each utterance, and averages raw embeddings"
    )
    own_verifier = "ECAPA-TDNN trained on anonymized speech, as in 2024"
    identity = "ECAPA-TDNN of ASV_eval"  # 2024 and 2026 share a training

    def compared(
        self, trained: Verifier, enrolment: Sequence[np.ndarray], trials: np.ndarray
    ) -> Array:
        """Cosine of a trial and the mean of raw embeddings, as the challenge's code of 2024."""
        trials = checked(enrolment, trials)
        means = np.stack([np.asarray(vectors, np.float64).mean(0) for vectors in enrolment])
        return unit(means) @ unit(trials).T


@dataclass(frozen=True)
class AsvEval2026(AsvEval2024):
    """The same network; embeddings of length one are averaged."""

    name = "asv-eval-2026"
    knows = (
        "VoicePrivacy 2026: knows the system, not the key; trains an ECAPA-TDNN on speech of other "
        "people that it protects, a voice for each utterance, and averages embeddings of length one"
    )
    own_verifier = "ECAPA-TDNN trained on anonymized speech, as in 2026"

    def compared(
        self, trained: Verifier, enrolment: Sequence[np.ndarray], trials: np.ndarray
    ) -> Array:
        """Cosine of a trial and the mean of embeddings of length one."""
        return trained.score(enrolment, trials)
