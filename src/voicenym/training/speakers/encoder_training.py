"""Training of speaker encoders as verifiers: AAM-softmax on speech, or on features in files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from voicenym.errors import DependencyError
from voicenym.training.speakers.verifier_training_options import (
    TrainedVerifier,
    TrainingOptions,
)
from voicenym.verification.encoder_verifier import EncoderVerifier, StoredEncoder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from voicenym.metrics import Affine
    from voicenym.nets.speakers.speaker_encoder import Encoder
    from voicenym.nets.speakers.two_branch import TwoBranch
    from voicenym.training.run.fit import Outcome
    from voicenym.training.speakers.train_verifier import VerifierConfig
    from voicenym.training.speech.speech_cache import Utterance

Config = TypeVar("Config", bound="DataclassInstance")

RECIPE = "attacker"
"""Recipe of a network's training unless the options name another."""
TWO_BRANCH = "two-branch-attacker"
"""Recipe of a two-branch network's training on features that are computed once."""
CHECKPOINTS = "run"
"""Subfolder of a network's checkpoints and logs."""


def train_encoder(
    start: EncoderVerifier,
    speech: Sequence[Utterance],
    folder: Path,
    held_out: Sequence[Utterance],
    options: TrainingOptions,
) -> TrainedVerifier:
    """AAM-softmax training; ``held_out`` chooses the best checkpoint and calibrates its scores."""
    recipe = network_recipe()
    from voicenym.nets.speakers.two_branch import TwoBranch
    from voicenym.training.run.machine import Machine, fastest_precision
    from voicenym.training.speakers.pair_verification import calibrated

    encoder = start.encoder()
    if isinstance(encoder, TwoBranch) and not isinstance(options.recipe, recipe.VerifierConfig):
        return train_two_branch(encoder, speech, folder, held_out, options)
    config = _limited(options.config(recipe.VerifierConfig, RECIPE), options)
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
    line = calibrated(encoder, held_out) if held_out else None
    return _stored(encoder, folder, line, outcome, options)


def train_two_branch(
    encoder: TwoBranch,
    speech: Sequence[Utterance],
    folder: Path,
    held_out: Sequence[Utterance],
    options: TrainingOptions,
) -> TrainedVerifier:
    """AAM-softmax training on features, which lie in files beside the speech."""
    from voicenym.training.run.machine import Machine, fastest_precision
    from voicenym.training.speakers import train_two_branch as steps
    from voicenym.training.speakers.stream_files import StreamFiles

    config = _limited(options.config(steps.TwoBranchConfig, TWO_BRANCH), options)
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
    return _stored(encoder, folder, line, outcome, options)


def _limited(config: Config, options: TrainingOptions) -> Config:
    """The configuration with the options' number of steps, if they have one."""
    return config if options.steps is None else replace(config, **{"steps": options.steps})


def _stored(
    encoder: Encoder,
    folder: Path,
    line: Affine | None,
    outcome: Outcome,
    options: TrainingOptions,
) -> TrainedVerifier:
    """The verifier of trained weights, saved with their calibration and card."""
    from voicenym.nets.speakers.speaker_encoders import save

    calibration = None if line is None else (line.slope, line.offset)
    save(encoder, folder, card=options.card, calibration=calibration)
    return TrainedVerifier(StoredEncoder(folder), tuple(outcome.curve))


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

    from voicenym.corpus.workers.cpu_count import cores

    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        yield
    finally:
        torch.set_num_threads(before)
