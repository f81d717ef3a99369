"""Training of the MUSA codec, and statistics of the training speakers' vectors.

Yao et al. (MUSA), section IV.B; the step is :mod:`voicenym.training.codec.codec_step`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.codec.codec_config import sizes
from voicenym.nets.codec.style_encoder import LEAST_SAMPLES
from voicenym.nets.weights.weight_norm import fold, normalize_weights
from voicenym.nets.words.whisper.whisper import Encoder as WhisperEncoder
from voicenym.training.codec.codec_dataset import CodecCrops, LabelledUtterance
from voicenym.training.codec.codec_losses import Teacher
from voicenym.training.codec.codec_step import Coding
from voicenym.training.codec.musa_config import MusaConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine

VALIDATION_CROPS = 64
"""Crops in a validation."""
MOST_VOICES = 2_000
"""Utterances from whose vectors the distribution of speakers is estimated."""
VOICE_SAMPLES = 10 * RATE
"""Samples of each, at most."""


def new(config: MusaConfig) -> Codec:
    """A new codec, whose weights depend on the seed alone.

    Raises:
        VoicenymError: invalid sizes.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return Codec(sizes(config.codec, "codec"))


def train(
    codec: Codec,
    utterances: Sequence[LabelledUtterance],
    held_out: Sequence[LabelledUtterance],
    config: MusaConfig,
    folder: Path,
    *,
    teacher: Teacher | None = None,
    recogniser: WhisperEncoder | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a codec; afterwards it has the weights of its best validation.

    Args:
        codec: new, or with weights to continue from.
        utterances: training utterances.
        held_out: the same of held-out speakers, for validation.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        teacher: of the labels; None without semantic distillation.
        recogniser: encoder of the distance that ``config.weights.words`` weighs.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances.
        VoicenymError: a recipe or a teacher that does not fit the codec, words weighed without a
            recogniser, and as
            :func:`voicenym.training.run.fit.fit`.
    """
    checked(config, codec, teacher)
    if config.weights.words and recogniser is None:
        raise VoicenymError("the configuration weighs words: give a Whisper, --whisper")
    machine = machine or Machine()
    crops = CodecCrops(
        utterances,
        config.seconds,
        codec.hop,
        machine.crops(config.every, config.batch),
        config.seed,
    )
    kept = CodecCrops(held_out, config.seconds, codec.hop, VALIDATION_CROPS, config.seed + 1)
    loader: dict[str, Any] = machine.loading
    classes = 0 if teacher is None else teacher.classes
    ends = (codec.encoder, codec.decoder)
    for end in ends:
        normalize_weights(end)
    try:
        outcome = fit_configured(
            Coding(codec, len(crops.speakers), classes, config, recogniser),
            torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **loader),
            torch.utils.data.DataLoader(kept, min(16, VALIDATION_CROPS)),
            folder,
            config,
            seconds,
            monitor="mel distance",
            machine=machine,
            clip=None,
            say=say,
        )
    finally:
        for end in ends:
            fold(end)
    codec.eval()
    voices(codec, utterances, config.seed)
    return outcome


def checked(config: MusaConfig, codec: Codec, teacher: Teacher | None) -> None:
    """Checks a configuration.

    Raises:
        VoicenymError: it cannot be trained; the message names the cure.
    """
    least = LEAST_SAMPLES / RATE
    if config.seconds < least:
        raise VoicenymError(f"seconds: crops of {config.seconds} s are too short; give {least:g}")
    if teacher is None and config.weights.semantic:
        raise VoicenymError(
            "the first codebook has no target; give units (voicenym train units), "
            "or leave it out: weights: {semantic: 0}"
        )
    if teacher is not None and teacher.hop != codec.hop:
        raise VoicenymError(
            f"the teacher's frames are of {teacher.hop} samples, the codec's of {codec.hop}; "
            f"choose strides whose product is {teacher.hop}, or another teacher"
        )


@torch.inference_mode()
def voices(codec: Codec, utterances: Sequence[LabelledUtterance], seed: int) -> None:
    """Store the mean and covariance of speaker vectors in the codec, for rotations."""
    order = np.random.default_rng((seed, 19)).permutation(len(utterances))
    device = codec.voices.mean.device
    found = []
    for i in order[:MOST_VOICES]:
        samples = utterances[i].utterance.samples(0, VOICE_SAMPLES)
        if len(samples) >= LEAST_SAMPLES:
            found.append(codec.speaker(torch.from_numpy(samples)[None].to(device))[0])
    codec.voices.learn_statistics(torch.stack(found))
