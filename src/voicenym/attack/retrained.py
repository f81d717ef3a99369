"""The papers' strongest attacker: its verifier itself is trained on protected speech.

Semi-informed of the VoicePrivacy Challenges (Tomashenko et al. 2022): it knows the system, not the
key; it protects speech of other people under keys of its own, a voice per utterance and one per
speaker, and trains a verifier to find the speaker in spite of the voice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from voicenym.attack.attackers import COSINE, Attacker, tried
from voicenym.attack.backend import Backend
from voicenym.attack.case import Case
from voicenym.attack.embedder import Embedder
from voicenym.attack.search import candidates
from voicenym.attack.transform import Transform
from voicenym.attack.verifier import Trained, Verifier, encoder_of
from voicenym.corpus.recording import Recording
from voicenym.errors import DependencyError

if TYPE_CHECKING:
    from voicenym.training.shelf import Utterance
    from voicenym.training.verifier import VerifierConfig

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

    def learn(
        self, case: Case, place: Path, speech: list[Utterance], held_out: list[Utterance]
    ) -> list[dict[str, float]]:
        """Train, and keep the verifier in a folder.

        Args:
            case: what is attacked.
            place: the folder.
            speech: protected, to learn from.
            held_out: protected speech of others.

        Returns:
            Its learning curve; empty if it has none.
        """
        raise NotImplementedError

    def taught(self, place: Path) -> tuple[Verifier, Backend]:
        """What :meth:`learn` kept, and what compares its vectors."""
        raise NotImplementedError

    def means(self) -> str:
        """Names what the training depends on, besides the speech."""
        return f"{self.ear} {self.lesson.voices}"

    def scores(self, case: Case, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        place = self.place(case)
        if not (place / CURVE).is_file():
            self._train(case, place)
        trained, backend = self.taught(place)
        models = [
            _by_model(case, embedder(trained, case.enrolment, transform))
            for transform in self._voices(case)[:-1]
        ]
        enrolment = [np.concatenate(vectors) for vectors in zip(*models, strict=True)]
        return backend.score(enrolment, tried(case, trained, embedder))

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

    def _train(self, case: Case, place: Path) -> None:
        from voicenym.training.shelf import Shelf

        learnt, kept = self.split(case)
        shelf = Shelf(self.lesson.folder / "speech")
        *voices, by_speaker = self._voices(case)
        self.say(f"protecting {len(learnt) * len(self._voices(case))} recordings to train on")

        def rendered(recordings: Sequence[Recording], how: Transform) -> list[Utterance]:
            return shelf.fill(recordings, how, self.lesson.workers)

        speech = [u for how in (*voices, by_speaker) for u in rendered(learnt, how)]
        curve = self.learn(case, place, speech, rendered(kept, voices[0]))
        (place / CURVE).write_text(json.dumps(curve), "utf-8")

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

    def split(self, case: Case) -> tuple[list[Recording], list[Recording]]:
        recipe = _recipe()
        config = self._config()
        return recipe.kept_out(case.pool, config.held_out, config.seed)

    def _config(self) -> VerifierConfig:
        from voicenym.training.config import load

        return load(self.lesson.config, _recipe().VerifierConfig)

    def learn(
        self, case: Case, place: Path, speech: list[Utterance], held_out: list[Utterance]
    ) -> list[dict[str, float]]:
        from voicenym.nets.speakers.weights import save
        from voicenym.training.fit import Machine

        recipe, config, start = _recipe(), self._config(), self.lesson.start
        encoder = recipe.encoder(config) if start is None else encoder_of(start)
        with all_cores():
            outcome = recipe.train(
                encoder,
                speech,
                held_out,
                config,
                place / "run",
                seconds=self.lesson.seconds,
                machine=Machine(),
                say=self.say,
            )
        save(encoder, place, card={"trained on": case.protection.system or "files"})
        return outcome.curve

    def taught(self, place: Path) -> tuple[Verifier, Backend]:
        return Trained(place, name=self.ear), COSINE


@dataclass(frozen=True)
class SemiInformedStatistics(Retraining):
    """Trains i-vectors and PLDA: weaker on much speech, but minutes and few people teach them."""

    name = "semi-informed (i-vectors trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains i-vectors and PLDA"
    )
    ear = "i-vectors trained on anonymized speech"

    def learn(
        self, case: Case, place: Path, speech: list[Utterance], held_out: list[Utterance]
    ) -> list[dict[str, float]]:
        from voicenym.attack.ivector import train

        train(speech, place, say=self.say, workers=self.lesson.workers)
        return []

    def taught(self, place: Path) -> tuple[Verifier, Backend]:
        from voicenym.attack.ivector import IVector

        trained = IVector(place)
        return trained, trained.backend()


def _recipe() -> ModuleType:
    try:
        from voicenym.training import verifier
    except ImportError as error:
        raise DependencyError(
            "an attacker who trains its verifier: pip install 'voicenym[train]'"
        ) from error
    return verifier


@contextmanager
def all_cores() -> Iterator[None]:
    """Training may use them: limited by time, it never gives the same weights twice."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _by_model(case: Case, vectors: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum([len(model.recordings) for model in case.models])
    return np.split(vectors, ends[:-1])
