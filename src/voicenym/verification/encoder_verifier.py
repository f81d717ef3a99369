"""Verifiers that are networks: what the package carries, what was trained here, and beginners."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import nan
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from voicenym.errors import DependencyError
from voicenym.verification.verifier import TEACHING, Teaching, Verifier

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder
    from voicenym.training.speakers.train_verifier import VerifierConfig
    from voicenym.training.speech.speech_cache import Utterance

MARGIN_CONCENTRATION = 30.0
"""Of encoders trained with an angular margin, unless they say: the scale of their logits."""
RESEMBLYZER = "resemblyzer"
"""In the catalogue of published weights."""
RECIPE = "attacker"
"""Of a training that goes on from weights, unless another is chosen."""
CHECKPOINTS = "run"
"""Folder of a training's checkpoints and logs, within that of its result."""


class Neural(Verifier):
    """A speaker encoder; subclasses say where its weights are."""

    @abstractmethod
    def encoder(self) -> Encoder:
        """The network, a copy that may be changed."""

    @abstractmethod
    def _shared(self) -> Encoder:
        """The network, once for each process; not to be changed."""

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        import torch

        return self._shared().embed([torch.from_numpy(x) for x in recordings]).numpy()

    def train(
        self,
        speech: Sequence[Utterance],
        folder: Path,
        held_out: Sequence[Utterance] = (),
        how: Teaching = TEACHING,
    ) -> Trained:
        """Learn to tell speakers apart (:mod:`voicenym.training.speakers.train_verifier`), from
        here on.

        What its scores mean is learnt from ``held_out``, which are also what the best of its
        checkpoints is chosen by.

        Args:
            speech, folder, held_out, how: as for every verifier; the recipe is a
                :class:`~voicenym.training.speakers.train_verifier.VerifierConfig`.

        Raises:
            DependencyError: without Lightning.
            VoicenymError: as :func:`voicenym.training.speakers.train_verifier.train`.
        """
        from voicenym.nets.speakers.speaker_encoders import save

        recipe = recipes()
        from voicenym.training.run.fit import Machine, quickest

        config = how.chosen(recipe.VerifierConfig, RECIPE)
        encoder = self.encoder()
        with all_cores():
            outcome = recipe.train(
                encoder,
                speech,
                held_out,
                config,
                folder / CHECKPOINTS,
                seconds=how.seconds,
                machine=Machine(precision=quickest()),
                say=how.say,
            )
        meaning = recipe.calibrated(encoder, held_out) if held_out else None
        save(
            encoder,
            folder,
            card=how.card,
            calibration=None if meaning is None else (meaning.slope, meaning.offset),
        )
        found = Trained(folder)
        found.curve = tuple(outcome.curve)
        return found


class Resemblyzer(Neural):
    """The d-vector encoder that the Resemblyzer package carries, once it is converted.

    Raises:
        DependencyError: it is not.
        VoicenymError: it was changed since.
    """

    name = "Resemblyzer"

    calibration = (35.0, -25.8)
    # logistic regression on 117,460 pairs of 3 s, 48 speakers of speechocean762's dev, C_llr 0.31

    def __init__(self) -> None:
        from voicenym.nets.checkpoint import version
        from voicenym.nets.hub import is_pulled, place_of

        if not is_pulled(RESEMBLYZER):
            raise DependencyError(
                "the verifier's weights are missing: pip install voicenym[evaluate] && pip install "
                f"--no-deps resemblyzer && voicenym models pull {RESEMBLYZER}"
            )
        self._folder = Path(place_of(RESEMBLYZER))
        self.version = version(self._folder)

    def encoder(self) -> Encoder:
        from voicenym.nets.speakers.speaker_encoders import load

        return load(self._folder)

    def _shared(self) -> Encoder:
        return shared(self._folder, self.version)


class Trained(Neural):
    """An encoder that ``voicenym train verifier`` or :meth:`Neural.train` wrote.

    Args:
        folder: of its ``config.json`` and ``model.safetensors``.
        name: for reports; None for the folder's.

    Raises:
        VoicenymError: no such folder.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        from voicenym.nets.checkpoint import DIGEST, configuration

        self.name = name or folder.resolve().name
        self._folder = folder
        told = configuration(folder)
        self.version = str(told.get(DIGEST, ""))[:16]
        slope, offset = told.get("calibration", (nan, nan))
        self.calibration = (float(slope), float(offset))
        self.concentration = float(told.get("concentration", MARGIN_CONCENTRATION))

    def encoder(self) -> Encoder:
        from voicenym.nets.speakers.speaker_encoders import load

        return load(self._folder)

    def _shared(self) -> Encoder:
        return shared(self._folder, self.version)


class Untrained(Neural):
    """An encoder as a recipe begins it: to be trained, not to be heard by.

    Args:
        recipe: of the training, whose architecture and seed it takes.
    """

    name = "untrained"

    def __init__(self, recipe: VerifierConfig) -> None:
        self._recipe = recipe
        self.version = hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]

    def encoder(self) -> Encoder:
        return recipes().encoder(self._recipe)

    def _shared(self) -> Encoder:
        return self.encoder()


@cache
def shared(folder: Path, version: str) -> Encoder:
    """The encoder of a folder of ours, once for each process; not to be changed."""
    from voicenym.nets.speakers.speaker_encoders import load

    return load(folder)


def recipes() -> ModuleType:
    """How encoders are trained.

    Raises:
        DependencyError: without Lightning.
    """
    try:
        from voicenym.training.speakers import train_verifier
    except ImportError as error:
        raise DependencyError("training a verifier: pip install 'voicenym[train]'") from error
    return train_verifier


@contextmanager
def all_cores() -> Iterator[None]:
    """Training may use them: limited by time, it never gives the same weights twice."""
    import torch

    from voicenym.training.run.cpu_count import cores

    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        yield
    finally:
        torch.set_num_threads(before)
