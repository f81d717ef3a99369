"""Verifiers that are networks: what the package carries, what was trained here, and beginners."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from math import nan
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from voicenym.attack.interface import TEACHING, Teaching, Verifier
from voicenym.errors import DependencyError

if TYPE_CHECKING:
    from voicenym.nets.speakers.encoder import Encoder
    from voicenym.training.speakers.verifier import VerifierConfig
    from voicenym.training.speech.shelf import Utterance

MARGIN_CONCENTRATION = 30.0
"""Of encoders trained with an angular margin, unless they say: the scale of their logits."""
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
        """Learn to tell speakers apart (:mod:`voicenym.training.speakers.verifier`), from here on.

        What its scores mean is learnt from ``held_out``, which are also what the best of its
        checkpoints is chosen by.

        Args:
            speech, folder, held_out, how: as for every verifier; the recipe is a
                :class:`~voicenym.training.speakers.verifier.VerifierConfig`.

        Raises:
            DependencyError: without Lightning.
            VoicenymError: as :func:`voicenym.training.speakers.verifier.train`.
        """
        from voicenym.nets.speakers.weights import save

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


PACKAGED = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
"""SHA-256 of ``pretrained.pt`` of Resemblyzer 0.1.4."""


class Resemblyzer(Neural):
    """The d-vector encoder that the Resemblyzer package carries, or weights fine-tuned from it.

    Only the package's weights are used; it need not be importable.

    Args:
        weights: a checkpoint in its layout; None for the package's own.
        name: for reports.

    Raises:
        DependencyError: if the package's weights are asked for, and missing or others.
    """

    calibration = (35.0, -25.8)
    # logistic regression on 117,460 pairs of 3 s, 48 speakers of speechocean762's dev, C_llr 0.31

    def __init__(self, weights: Path | None = None, name: str = "Resemblyzer") -> None:
        self.name = name
        self._path = weights if weights is not None else packaged_weights()
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        if weights is None and digest != PACKAGED:
            raise DependencyError(
                f"{self._path}: not Resemblyzer's weights (its SHA-256 is {digest[:16]}..., not "
                f"{PACKAGED[:16]}...): pip install --no-deps --force-reinstall resemblyzer==0.1.4"
            )
        self.version = digest[:16]

    def encoder(self) -> Encoder:
        from voicenym.nets.speakers.dvector import DVector

        return DVector.from_checkpoint(self._path)

    def _shared(self) -> Encoder:
        return _dvector(self._path)


class Trained(Neural):
    """An encoder that ``voicenym train verifier`` or :meth:`Neural.train` wrote.

    Args:
        folder: of its ``config.json`` and ``model.safetensors``.
        name: for reports; None for the folder's.

    Raises:
        VoicenymError: no such folder.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        from voicenym.nets.folder import DIGEST, configuration

        self.name = name or folder.resolve().name
        self._folder = folder
        told = configuration(folder)
        self.version = str(told.get(DIGEST, ""))[:16]
        slope, offset = told.get("calibration", (nan, nan))
        self.calibration = (float(slope), float(offset))
        self.concentration = float(told.get("concentration", MARGIN_CONCENTRATION))

    def encoder(self) -> Encoder:
        from voicenym.nets.speakers.weights import load

        return load(self._folder)

    def _shared(self) -> Encoder:
        return _trained(self._folder, self.version)


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


def packaged_weights() -> Path:
    """Resemblyzer's weights, where its package is installed.

    Raises:
        DependencyError: with how to install it.
    """
    spec = find_spec("resemblyzer")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    for place in places:
        path = Path(place) / "pretrained.pt"
        if path.is_file():
            return path
    raise DependencyError(
        "the verifier's weights are missing: pip install voicenym[evaluate] && "
        "pip install --no-deps resemblyzer"
    )


@cache
def _trained(folder: Path, version: str) -> Encoder:
    from voicenym.nets.speakers.weights import load

    return load(folder)


@cache
def _dvector(path: Path) -> Encoder:
    from voicenym.nets.speakers.dvector import DVector

    return DVector.from_checkpoint(path)


def recipes() -> ModuleType:
    """How encoders are trained.

    Raises:
        DependencyError: without Lightning.
    """
    try:
        from voicenym.training.speakers import verifier
    except ImportError as error:
        raise DependencyError("training a verifier: pip install 'voicenym[train]'") from error
    return verifier


@contextmanager
def all_cores() -> Iterator[None]:
    """Training may use them: limited by time, it never gives the same weights twice."""
    import torch

    from voicenym.training.run.cores import cores

    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        yield
    finally:
        torch.set_num_threads(before)
