"""Training of verifiers: one function for every kind of verifier, and its options.

Networks continue from their weights; statistical models are estimated anew. A kind of verifier
registers its training with ``training_of.register``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import singledispatch
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import DependencyError, VoicenymError
from voicenym.verification.embedding_plda import ENCODER, EmbeddingPlda
from voicenym.verification.encoder_verifier import EncoderVerifier, StoredEncoder
from voicenym.verification.gmm_ubm import GMMUBM
from voicenym.verification.ivector import IVector, SpeakerSpace
from voicenym.verification.prosody import ProsodyVerifier
from voicenym.verification.verifier import Verifier
from voicenym.verification.voice_statistics import VoiceStatistics

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder
    from voicenym.nets.speakers.two_branch import TwoBranch
    from voicenym.training.speakers.train_ubm import Spoken
    from voicenym.training.speakers.train_verifier import VerifierConfig
    from voicenym.training.speech.speech_cache import Utterance

T = TypeVar("T")
RECIPE = "attacker"
"""Recipe of a network's training unless the options name another."""
TWO_BRANCH = "two-branch-attacker"
"""Recipe of a two-branch network's training on features that are computed once."""
CHECKPOINTS = "run"
"""Subfolder of a network's checkpoints and logs."""


@dataclass(frozen=True)
class TrainingOptions:
    """Options of a verifier's training.

    Args:
        recipe: the verifier kind's configuration, the name of one that comes with the package, or
            a YAML file; None for the kind's default.
        seconds: time limit of an iterative training; None for no limit.
        workers: processes that read recordings.
        card: description of the training, stored beside the weights.
        say: receives progress messages.
        left_out: receives unreadable recordings; the default raises at the first one.
    """

    recipe: Any = None
    seconds: float | None = None
    workers: int = 1
    card: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)
    left_out: LeftOut = field(default=STRICT, compare=False)

    def config(self, kind: type[T], default: str | None = None) -> T:
        """The configuration that the recipe names.

        Args:
            kind: dataclass of the configuration.
            default: name or file of the configuration where the options hold no recipe; None for
                the dataclass's defaults.

        Raises:
            VoicenymError: no such recipe.
        """
        chosen = default if self.recipe is None else self.recipe
        if chosen is None:
            return kind()
        if isinstance(chosen, kind):
            return chosen
        from voicenym.training.run.config import load

        return load(str(chosen), kind)


DEFAULTS = TrainingOptions()


@dataclass(frozen=True)
class TrainedVerifier:
    """Result of a verifier's training.

    Args:
        verifier: the trained one.
        curve: ``step``, ``seconds`` and ``EER %`` of each validation; empty where the training has
            none.
    """

    verifier: Verifier
    curve: tuple[Mapping[str, float], ...] = ()


def train_verifier(
    start: Verifier | type[Verifier],
    speech: Sequence[Any],
    folder: Path,
    held_out: Sequence[Any] = (),
    options: TrainingOptions = DEFAULTS,
) -> TrainedVerifier:
    """Train a verifier; ``start`` itself does not change.

    Args:
        start: a network, whose training continues from its weights; or a verifier, or class of
            verifiers, that is estimated anew.
        speech: recordings of speakers that take part in no trial:
            :class:`~voicenym.training.speech.speech_cache.Utterance` for networks, anything with
            ``speaker`` and ``samples()`` for the others.
        folder: for the trained verifier.
        held_out: recordings of further speakers, for validation; only networks use them.
        options: see :class:`TrainingOptions`.

    Raises:
        VoicenymError: this kind of verifier cannot be trained, or not on this speech.
        DependencyError: a network without Lightning.
    """
    kind = start if isinstance(start, type) else type(start)
    return training_of.dispatch(kind)(start, speech, folder, held_out, options)


@singledispatch
def training_of(
    start: Any,
    speech: Sequence[Any],
    folder: Path,
    held_out: Sequence[Any],
    options: TrainingOptions,
) -> TrainedVerifier:
    """The training of one kind of verifier, with the arguments of :func:`train_verifier`."""
    raise VoicenymError(
        f"{start.name} cannot be trained; take ecapa-small, resemblyzer, ecapa:PLACE, "
        "xvector:PLACE, gmm-ubm:FOLDER or ivector:FOLDER"
    )


@training_of.register(EncoderVerifier)
def _encoder(
    start: EncoderVerifier,
    speech: Sequence[Utterance],
    folder: Path,
    held_out: Sequence[Utterance],
    options: TrainingOptions,
) -> TrainedVerifier:
    """AAM-softmax training; ``held_out`` chooses the best checkpoint and calibrates its scores."""
    from voicenym.nets.speakers.speaker_encoders import save

    recipe = network_recipe()
    from voicenym.nets.speakers.two_branch import TwoBranch
    from voicenym.training.run.machine import Machine, fastest_precision

    encoder = start.encoder()
    if isinstance(encoder, TwoBranch) and not isinstance(options.recipe, recipe.VerifierConfig):
        return _two_branch(encoder, speech, folder, held_out, options)
    config = options.config(recipe.VerifierConfig, RECIPE)
    with _all_cores():
        outcome = recipe.train(
            encoder,
            speech,
            held_out,
            config,
            folder / CHECKPOINTS,
            seconds=options.seconds,
            machine=Machine(precision=fastest_precision()),
            say=options.say,
        )
    line = recipe.calibrated(encoder, held_out) if held_out else None
    save(
        encoder,
        folder,
        card=options.card,
        calibration=None if line is None else (line.slope, line.offset),
    )
    return TrainedVerifier(StoredEncoder(folder), tuple(outcome.curve))


def _two_branch(
    encoder: TwoBranch,
    speech: Sequence[Utterance],
    folder: Path,
    held_out: Sequence[Utterance],
    options: TrainingOptions,
) -> TrainedVerifier:
    """AAM-softmax training on features, which lie in files beside the speech."""
    from voicenym.nets.speakers.speaker_encoders import save
    from voicenym.training.run.machine import Machine, fastest_precision
    from voicenym.training.speakers import train_two_branch as steps
    from voicenym.training.speakers.stream_files import StreamFiles

    config = options.config(steps.TwoBranchConfig, TWO_BRANCH)
    with _all_cores():
        files = StreamFiles(speech[0].path.parent / "features", encoder)
        options.say(f"features of {len(speech) + len(held_out)} recordings")
        learnt, watched = files.fill(speech), files.fill(held_out)
        outcome = steps.train(
            encoder,
            learnt,
            watched,
            config,
            folder / CHECKPOINTS,
            seconds=options.seconds,
            machine=Machine(precision=fastest_precision()),
            say=options.say,
        )
    line = steps.calibrated(encoder, watched) if watched else None
    save(
        encoder,
        folder,
        card=options.card,
        calibration=None if line is None else (line.slope, line.offset),
    )
    return TrainedVerifier(StoredEncoder(folder), tuple(outcome.curve))


class WithPlda(Verifier):
    """A network whose embeddings are to be compared by LDA and PLDA; it exists to be trained.

    Args:
        network: that the training starts from.
    """

    name = "network with LDA and PLDA, untrained"

    def __init__(self, network: EncoderVerifier) -> None:
        self.network = network
        self.version = network.version

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        return self.network.embed(recordings)


@training_of.register(WithPlda)
def _with_plda(
    start: WithPlda,
    speech: Sequence[Utterance],
    folder: Path,
    held_out: Sequence[Utterance],
    options: TrainingOptions,
) -> TrainedVerifier:
    """The network, then LDA and PLDA on its embeddings of the same speech."""
    from voicenym.verification.embedding_plda import save

    network = train_verifier(start.network, speech, folder / ENCODER, held_out, options)
    vectors = [network.verifier.embed([u.samples()])[0] for u in speech]
    speakers = [utterance.speaker for utterance in speech]
    space = SpeakerSpace.learn(np.stack(vectors), speakers)
    save(space, folder)
    count = len(set(speakers))
    options.say(f"LDA to {len(space.projection)} dimensions and PLDA, from {count} speakers")
    return TrainedVerifier(EmbeddingPlda(folder), network.curve)


@training_of.register(GMMUBM)
def _gmm_ubm(
    start: GMMUBM | type[GMMUBM],
    speech: Sequence[Spoken],
    folder: Path,
    held_out: Sequence[Spoken],
    options: TrainingOptions,
) -> TrainedVerifier:
    """Expectation maximisation of a background model; speaker labels are not used."""
    from voicenym.training.speakers.train_ubm import BackgroundConfig, train

    train(speech, folder, options.config(BackgroundConfig), options.say, options.workers)
    return TrainedVerifier(GMMUBM(folder))


@training_of.register(IVector)
def _ivector(
    start: IVector | type[IVector],
    speech: Sequence[Spoken],
    folder: Path,
    held_out: Sequence[Spoken],
    options: TrainingOptions,
) -> TrainedVerifier:
    """Expectation maximisation of an i-vector extractor, then LDA and PLDA on its i-vectors."""
    from voicenym.nets.checkpoint import configuration, write
    from voicenym.training.speakers import train_ivector

    if len({recording.speaker for recording in speech}) < 2:
        raise VoicenymError("one speaker only: LDA and PLDA need several speakers; add others")
    config = options.config(train_ivector.IVectorConfig)
    found = train_ivector.train(
        speech, folder, config, options.say, options.workers, options.left_out
    )
    space = SpeakerSpace.learn(found.vectors, found.speakers)
    # the extractor is complete in its folder already; the speaker space joins it there
    tensors = {**found.background.tensors(), **space.tensors()}
    write(folder, tensors, configuration(folder))
    count = len(set(found.speakers))
    options.say(f"LDA to {len(space.projection)} dimensions and PLDA, from {count} speakers")
    return TrainedVerifier(IVector(folder))


@training_of.register(ProsodyVerifier)
def _prosody(
    start: ProsodyVerifier | type[ProsodyVerifier],
    speech: Sequence[Spoken],
    folder: Path,
    held_out: Sequence[Spoken],
    options: TrainingOptions,
) -> TrainedVerifier:
    """Standardisation and PLDA of prosody measures; there is no recipe."""
    from voicenym.training.speakers.train_prosody import train

    train(speech, folder, options.card, options.say)
    return TrainedVerifier(ProsodyVerifier(folder))


@training_of.register(VoiceStatistics)
def _voice_statistics(
    start: VoiceStatistics | type[VoiceStatistics],
    speech: Sequence[Spoken],
    folder: Path,
    held_out: Sequence[Spoken],
    options: TrainingOptions,
) -> TrainedVerifier:
    """Means and variances of this speech; the verifier holds them itself and writes no file."""
    samples = [recording.samples() for recording in speech]
    speakers = [recording.speaker for recording in speech]
    return TrainedVerifier(VoiceStatistics.fitted(samples, speakers))


class UntrainedEncoder(EncoderVerifier):
    """An encoder with a recipe's random initial weights, from which a training starts.

    Args:
        config: of the training; it names the architecture and the seed.
    """

    name = "untrained"

    def __init__(self, config: VerifierConfig) -> None:
        self._config = config
        self.version = hashlib.sha256(repr(config).encode()).hexdigest()[:16]

    def encoder(self) -> Encoder:
        return network_recipe().encoder(self._config)

    def _shared(self) -> Encoder:
        return self.encoder()


def network_recipe() -> ModuleType:
    """The recipe of speaker encoders, :mod:`voicenym.training.speakers.train_verifier`.

    Raises:
        DependencyError: without Lightning.
    """
    try:
        from voicenym.training.speakers import train_verifier
    except ImportError as error:
        raise DependencyError("training a verifier: pip install 'voicenym[train]'") from error
    return train_verifier


@contextmanager
def _all_cores() -> Iterator[None]:
    """All CPU cores; under a time limit the thread count need not fix the weights."""
    import torch

    from voicenym.training.run.cpu_count import cores

    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        yield
    finally:
        torch.set_num_threads(before)
