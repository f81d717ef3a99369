"""Semi-informed attackers that train a verifier on protected speech.

The strongest attacker of the VoicePrivacy Challenges (Tomashenko et al. 2022) knows the system, not
the key. It protects speech of other people under its own keys, with a voice for each utterance and
a voice for each speaker, and trains a verifier that finds the speaker in spite of the voice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.attack.attacker_resources import (
    LEAST_FOR_STATISTICS,
    AttackerTraining,
    Resources,
)
from voicenym.attack.attackers import Attacker, enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.key_search import candidate_keys
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Transform
from voicenym.errors import CorpusError
from voicenym.nets.checkpoint import version
from voicenym.nets.names_and_paths import is_path
from voicenym.private import write_private
from voicenym.training.speakers.encoder_training import UntrainedEncoder, network_recipe
from voicenym.training.speakers.verifier_training import train_verifier
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.training.speech.speaker_split import verification_split
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.ivector import IVector
from voicenym.verification.prosody import METHOD, ProsodyVerifier
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import network

if TYPE_CHECKING:
    from voicenym.training.speakers.train_verifier import VerifierConfig
    from voicenym.training.speech.speech_cache import Utterance

CURVE = "curve.json"
OMITTED = "omitted.json"
"""Recordings that were left out of a training, for the reports of later runs, which use its
verifier."""


@dataclass(frozen=True)
class TrainedAttacker(Attacker):
    """An attacker that trains a verifier on protected speech; subclasses choose the verifier.

    It protects the enrolment under several of its own keys, with a voice for each utterance, and
    averages the vectors, which reduces the error of a verifier trained on many voices.

    Args:
        training: its settings.
        say: receives progress messages.

    Attributes:
        own_verifier: name of the trained verifier, for reports.
        identity: of the method, in the name of the folder that holds the trained verifier.
    """

    training: AttackerTraining
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)

    trains_verifier = True
    learns = True
    own_verifier = ""
    identity = ""

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        if resources.training is None or not cls.enough(resources):
            return []
        return [cls(resources.training, resources.say)]

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        """Whether the resources suffice for this training."""
        return resources.has_protected_pool and resources.pool_recordings >= LEAST_FOR_STATISTICS

    def obstacle(self, scenario: Scenario) -> str:
        try:
            self.split(scenario)
        except CorpusError as error:
            return f"{self.name} was not run: {error}"
        return ""

    def start(self) -> Verifier | type[Verifier]:
        """The verifier whose training continues, or the class that is estimated anew."""
        raise NotImplementedError

    def stored(self, place: Path) -> Verifier:
        """The trained verifier in a folder."""
        raise NotImplementedError

    @property
    def recipe(self) -> Any:
        """Recipe of the training; None for the verifier's default."""
        return None

    def settings(self) -> str:
        """All settings, besides the speech, on which the trained verifier depends."""
        return f"{self.identity or self.own_verifier} {self.training.voices}"

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        trained = self.trained(scenario, embedder.left_out)
        models = [
            enrolment_vectors(scenario, trained, embedder, transform)
            for transform in self.enrolment_voices(scenario)
        ]
        enrolment = [np.concatenate(vectors) for vectors in zip(*models, strict=True)]
        return self.compared(trained, enrolment, trial_vectors(scenario, trained, embedder))

    def trained(self, scenario: Scenario, left_out: LeftOut) -> Verifier:
        """The verifier for a scenario; it is trained unless its folder holds it."""
        place = self.place(scenario)
        if not (place / CURVE).is_file():
            self._train(scenario, place, left_out)
        elif (place / OMITTED).is_file():
            left_out.add_again(json.loads((place / OMITTED).read_text("utf-8")))
        return self.stored(place)

    def compared(
        self, trained: Verifier, enrolment: Sequence[np.ndarray], trials: np.ndarray
    ) -> np.ndarray:
        """Scores ``[model, trial]`` of vectors: by the trained verifier's own back end."""
        return trained.score(enrolment, trials)

    def _voices(self, scenario: Scenario) -> list[Transform]:
        """Transforms of the pool to train on; held-out speakers have the first one's voices."""
        keys = candidate_keys(scenario.key, self.training.voices + 1)
        pers = ["utterance"] * self.training.voices + ["speaker"]
        return scenario.protection.with_keys(zip(keys, pers, strict=True))

    def enrolment_voices(self, scenario: Scenario) -> list[Transform]:
        """Transforms of the enrolment, whose vectors are all averaged."""
        voices = self._voices(scenario)
        return voices[:-1] or voices

    def place(self, scenario: Scenario) -> Path:
        """Folder of the verifier that is trained for a scenario; it may not exist yet."""
        digest = hashlib.sha256(self.settings().encode())
        for transform in self._voices(scenario):
            for recording in scenario.pool:
                digest.update(transform.identity(recording).encode())
        return self.training.folder / "verifiers" / digest.hexdigest()[:32]

    def verifier_name(self, verifier: Verifier) -> str:
        return self.own_verifier

    def training_curve(self, scenario: Scenario) -> list[dict[str, float]]:
        path = self.place(scenario) / CURVE
        return json.loads(path.read_text("utf-8")) if path.is_file() else []

    def _train(self, scenario: Scenario, place: Path, left_out: LeftOut) -> None:
        from voicenym.training.speech.speech_cache import SpeechCache

        training, held_out = self.split(scenario)
        cache = SpeechCache(self.training.folder / "speech")
        voices = self._voices(scenario)
        count = len(training) * len(voices)
        self.say(f"{self.name}: protecting {count} recordings to train on")

        def protected(recordings: Sequence[Recording], transform: Transform) -> list[Utterance]:
            return cache.fill(recordings, transform, self.training.workers, left_out=left_out)

        with left_out.noting() as omitted:
            speech = [u for transform in voices for u in protected(training, transform)]
            validation = protected(held_out, voices[0])
        card = {"trained on": scenario.protection.system or "files"}
        limit = f", up to {self.training.limits}" if self.recipe is not None else ""
        what = f"{self.name}: training{limit}"
        self.say(f"{what}, on {len(speech)} recordings")

        def say(text: str) -> None:
            self.say(f"{what}, {text}")

        options = TrainingOptions(
            self.recipe,
            self.training.seconds or None,
            self.training.workers,
            card,
            say,
            steps=self.training.steps,
        )
        trained = train_verifier(self.start(), speech, place, validation, options)
        if omitted:
            names = [(o.name, o.reason, o.step) for o in omitted.values()]
            write_private(place / OMITTED, json.dumps(names))
        write_private(place / CURVE, json.dumps(list(trained.curve)))

    def split(self, scenario: Scenario) -> tuple[list[Recording], list[Recording]]:
        """The pool's recordings for training and for validation.

        Raises:
            CorpusError: too few speakers, or recordings of them.
        """
        return list(scenario.pool), []


@dataclass(frozen=True)
class SemiInformedVerifier(TrainedAttacker):
    """Trains a speaker encoder, from a verifier's weights or from random ones."""

    name = "semi-informed (verifier trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains its verifier"
    )
    own_verifier = "verifier trained on anonymized speech"

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        training = resources.training
        return resources.can_train and training is not None and training.of_networks

    def settings(self) -> str:
        training = self.training
        start = training.start
        if start is not None and is_path(start):
            start = f"{start} {version(Path(start))}"
        steps = "" if training.steps is None else f" {training.steps} steps"
        recipe = _with_contents(training.config)
        return f"{super().settings()} {training.seconds} {start} {recipe}{steps}"

    @property
    def recipe(self) -> VerifierConfig:
        """Recipe of the training."""
        return TrainingOptions(self.training.config).config(network_recipe().VerifierConfig)

    def split(self, scenario: Scenario) -> tuple[list[Recording], list[Recording]]:
        recipe = self.recipe
        return verification_split(scenario.pool, recipe.held_out, recipe.seed)

    def start(self) -> Verifier | type[Verifier]:
        start = self.training.start
        return UntrainedEncoder(self.recipe) if start is None else network(start)

    def stored(self, place: Path) -> Verifier:
        return StoredEncoder(place, name=self.own_verifier)


def _with_contents(config: str) -> str:
    """Name of a recipe; with a digest of its file, whose values may change under one name."""
    if not is_path(config) or not Path(config).is_file():
        return config
    return f"{config} {hashlib.sha256(Path(config).read_bytes()).hexdigest()[:16]}"


@dataclass(frozen=True)
class SemiInformedIVectors(TrainedAttacker):
    """Trains i-vectors and PLDA, for which minutes and few speakers suffice."""

    name = "semi-informed (i-vectors trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains i-vectors and PLDA"
    )
    own_verifier = "i-vectors trained on anonymized speech"

    def start(self) -> Verifier | type[Verifier]:
        return IVector

    def stored(self, place: Path) -> Verifier:
        return IVector(place)


@dataclass(frozen=True)
class SemiInformedProsody(TrainedAttacker):
    """Trains a verifier of prosody trajectories (:mod:`voicenym.verification.prosody`)."""

    name = "semi-informed (prosody trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, from "
        "which it learns how pauses, rhythm and intonation differ, and listens to nothing else"
    )
    own_verifier = "prosody of anonymized speech"
    channel = "prosody"
    identity = "courses of level and pitch of anonymized speech"  # as in earlier releases

    def settings(self) -> str:
        return f"{super().settings()} {METHOD}, copies counted once"

    def start(self) -> Verifier | type[Verifier]:
        return ProsodyVerifier

    def stored(self, place: Path) -> Verifier:
        return ProsodyVerifier(place)


@dataclass(frozen=True)
class SemiInformedFusion(TrainedAttacker):
    """Adds the log-likelihood ratios of i-vectors and of prosody, which hardly correlate."""

    name = "semi-informed (i-vectors and prosody trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains i-vectors and PLDA, and learns how pauses, rhythm and intonation differ"
    )
    own_verifier = "i-vectors and prosody trained on anonymized speech"
    channel = "several"

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        both = (
            SemiInformedIVectors(self.training, self.say),
            SemiInformedProsody(self.training, self.say),
        )
        return np.sum([one.scores(scenario, verifier, embedder) for one in both], axis=0)

    def training_curve(self, scenario: Scenario) -> list[dict[str, float]]:
        return []
