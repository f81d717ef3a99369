"""The papers' strongest attacker: its verifier itself is trained on protected speech.

Semi-informed of the VoicePrivacy Challenges (Tomashenko et al. 2022): it knows the system, not the
key; it protects speech of other people under keys of its own, a voice per utterance and one per
speaker, and trains a verifier to find the speaker in spite of the voice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voicenym.attack.attackers import Attacker, enrolled, tried
from voicenym.attack.embedder import Embedder
from voicenym.attack.key_search import candidates
from voicenym.attack.scenario import Case
from voicenym.attack.transforms import Transform
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.private import write_private
from voicenym.training.speakers.verifier_training import (
    TrainingOptions,
    UntrainedEncoder,
    network_recipe,
    train_verifier,
)
from voicenym.training.speech.speaker_split import kept_out
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.ivector import IVector
from voicenym.verification.prosody import METHOD, ProsodyVerifier
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import network

if TYPE_CHECKING:
    from voicenym.training.speakers.train_verifier import VerifierConfig
    from voicenym.training.speech.speech_cache import Utterance

CURVE = "curve.json"


@dataclass(frozen=True)
class Lesson:
    """How the attacker trains.

    Args:
        folder: of protected speech and trained verifiers; what is there is used again.
        seconds: of training.
        start: verifier to go on from, a name or a folder; None begins from nothing.
        voices: keys under which each recording of the pool is protected, each a voice an utterance;
            one more gives a voice per speaker.
        config: name of a recipe, or file.
        workers: processes that protect speech.
    """

    folder: Path
    seconds: float
    start: str | None = "ecapa-small"
    voices: int = 3
    config: str = "attacker"
    workers: int = 1


@dataclass(frozen=True)
class Retraining(Attacker):
    """Trains a verifier on protected speech of other people; subclasses say which.

    The enrolment is protected under as many of its own keys, a voice an utterance, and averaged:
    the verifier has learnt to hear through a voice, and the mean of several hears better.

    Args:
        lesson: how it trains.
        say: told of progress.

    Attributes:
        ear: name of what it trains, for reports.
    """

    lesson: Lesson
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)

    ear = ""

    def student(self) -> Verifier | type[Verifier]:
        """What learns from the protected speech."""
        raise NotImplementedError

    def taught(self, place: Path) -> Verifier:
        """What was learnt, from the folder that it was kept in."""
        raise NotImplementedError

    @property
    def recipe(self) -> Any:
        """Of the training; None for the student's own."""
        return None

    def means(self) -> str:
        """Names what the training depends on, besides the speech."""
        return f"{self.ear} {self.lesson.voices}"

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        place = self.place(case)
        if not (place / CURVE).is_file():
            self._train(case, place, embedder.left_out)
        trained = self.taught(place)
        models = [
            enrolled(case, trained, embedder, transform) for transform in self._voices(case)[:-1]
        ]
        enrolment = [np.concatenate(vectors) for vectors in zip(*models, strict=True)]
        return trained.score(enrolment, tried(case, trained, embedder))

    def _voices(self, case: Case) -> list[Transform]:
        keys = candidates(case.key, self.lesson.voices + 1)
        pers = ["utterance"] * self.lesson.voices + ["speaker"]
        return [case.protection.with_key(k, per) for k, per in zip(keys, pers, strict=True)]

    def place(self, case: Case) -> Path:
        """Folder of the verifier that is trained for a case, whether it is there yet or not."""
        told = hashlib.sha256(self.means().encode())
        for transform in self._voices(case):
            for recording in case.pool:
                told.update(transform.identity(recording).encode())
        return self.lesson.folder / "verifiers" / told.hexdigest()[:32]

    def hears(self, verifier: Verifier) -> str:
        return self.ear

    def learning(self, case: Case) -> list[dict[str, float]]:
        path = self.place(case) / CURVE
        return json.loads(path.read_text("utf-8")) if path.is_file() else []

    def _train(self, case: Case, place: Path, left_out: LeftOut) -> None:
        from voicenym.training.speech.speech_cache import Shelf

        learnt, kept = self.split(case)
        shelf = Shelf(self.lesson.folder / "speech")
        *voices, by_speaker = self._voices(case)
        self.say(f"protecting {len(learnt) * len(self._voices(case))} recordings to train on")

        def rendered(recordings: Sequence[Recording], how: Transform) -> list[Utterance]:
            return shelf.fill(recordings, how, self.lesson.workers, left_out=left_out)

        speech = [u for how in (*voices, by_speaker) for u in rendered(learnt, how)]
        card = {"trained on": case.protection.system or "files"}
        options = TrainingOptions(
            self.recipe, self.lesson.seconds, self.lesson.workers, card, self.say
        )
        trained = train_verifier(self.student(), speech, place, rendered(kept, voices[0]), options)
        write_private(place / CURVE, json.dumps(list(trained.curve)))

    def split(self, case: Case) -> tuple[list[Recording], list[Recording]]:
        """The pool: what is learnt from, and what is kept out to see how it goes."""
        return list(case.pool), []


@dataclass(frozen=True)
class SemiInformed(Retraining):
    """Trains a speaker encoder, from a verifier or from nothing (:mod:`voicenym.training`)."""

    name = "semi-informed (verifier trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains its verifier"
    )
    ear = "verifier trained on anonymized speech"

    def means(self) -> str:
        lesson = self.lesson
        return f"{super().means()} {lesson.seconds} {lesson.start} {lesson.config}"

    @property
    def recipe(self) -> VerifierConfig:
        """Of the training."""
        return TrainingOptions(self.lesson.config).config(network_recipe().VerifierConfig)

    def split(self, case: Case) -> tuple[list[Recording], list[Recording]]:
        recipe = self.recipe
        return kept_out(case.pool, recipe.held_out, recipe.seed)

    def student(self) -> Verifier | type[Verifier]:
        start = self.lesson.start
        return UntrainedEncoder(self.recipe) if start is None else network(start)

    def taught(self, place: Path) -> Verifier:
        return StoredEncoder(place, name=self.ear)


@dataclass(frozen=True)
class SemiInformedStatistics(Retraining):
    """Trains i-vectors and PLDA: weaker on much speech, but minutes and few people teach them."""

    name = "semi-informed (i-vectors trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains i-vectors and PLDA"
    )
    ear = "i-vectors trained on anonymized speech"

    def student(self) -> Verifier | type[Verifier]:
        return IVector

    def taught(self, place: Path) -> Verifier:
        return IVector(place)


@dataclass(frozen=True)
class SemiInformedCourse(Retraining):
    """Trains a verifier of prosody trajectories (:mod:`voicenym.verification.prosody`)."""

    name = "semi-informed (course trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, from "
        "which it learns how pauses, rhythm and intonation differ, and listens to nothing else"
    )
    ear = "courses of level and pitch of anonymized speech"

    def means(self) -> str:
        return f"{super().means()} {METHOD}"

    def student(self) -> Verifier | type[Verifier]:
        return ProsodyVerifier

    def taught(self, place: Path) -> Verifier:
        return ProsodyVerifier(place)


@dataclass(frozen=True)
class SemiInformedTogether(Attacker):
    """Adds what i-vectors say of the voice to what level and pitch say: log-likelihood ratios of
    what hardly depends on each other.

    Args:
        lesson, say: of both.
    """

    lesson: Lesson
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)

    name = "semi-informed (i-vectors and course trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains i-vectors and PLDA, and learns how pauses, rhythm and intonation differ"
    )

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        both: tuple[Retraining, ...] = (
            SemiInformedStatistics(self.lesson, self.say),
            SemiInformedCourse(self.lesson, self.say),
        )
        return np.sum([one.scores(case, verifier, embedder) for one in both], axis=0)

    def hears(self, verifier: Verifier) -> str:
        return "i-vectors and courses trained on anonymized speech"
