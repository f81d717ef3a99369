"""Training of verifiers: one function for every kind of verifier.

Networks continue from their weights; statistical models are estimated anew. A kind of verifier
registers its training with ``training_of.register``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import VoicenymError
from voicenym.training.speakers.encoder_training import train_encoder
from voicenym.training.speakers.verifier_training_options import (
    DEFAULTS,
    TrainedVerifier,
    TrainingOptions,
)
from voicenym.verification.embedding_plda import ENCODER, EmbeddingPlda
from voicenym.verification.encoder_verifier import EncoderVerifier
from voicenym.verification.gmm_ubm import GMMUBM
from voicenym.verification.ivector import IVector, SpeakerSpace
from voicenym.verification.prosody import ProsodyVerifier
from voicenym.verification.verifier import Verifier
from voicenym.verification.voice_statistics import VoiceStatistics

if TYPE_CHECKING:
    from voicenym.training.speakers.train_ubm import Spoken
    from voicenym.training.speech.speech_cache import Utterance


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


training_of.register(EncoderVerifier)(train_encoder)


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
