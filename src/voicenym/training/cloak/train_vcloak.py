"""Training of a cloak: a network learns the perturbation that misleads speaker verifiers.

Deng et al., "V-Cloak" (USENIX Security 2023), section 5.1; the step is
:mod:`voicenym.training.cloak.cloak_step`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.cloak.cloak import RATE, Cloak, sizes
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.cloak.cloak_losses import Envelope, Words
from voicenym.training.cloak.cloak_step import Cloaking, VCloakConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.speech.crops import SpeakerCrops
from voicenym.training.speech.speech_cache import Utterance

FITTED = 1_000
"""Number of utterances whose voiceprints give the distribution of targets."""
FITTED_SECONDS = 4.0
VALIDATION_CROPS = 64
"""Crops in a validation."""


def new(config: VCloakConfig) -> Cloak:
    """A new cloak, whose weights depend on the seed alone.

    Raises:
        VoicenymError: sizes of which there is none.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return Cloak(sizes(config.net, "net"))


def train(
    cloak: Cloak,
    encoders: Sequence[Encoder],
    speech: Sequence[Utterance],
    held_out: Sequence[Utterance],
    config: VCloakConfig,
    folder: Path,
    *,
    words: Words | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a cloak; afterwards it has the weights of its best validation.

    Args:
        cloak: new, or with weights to continue from.
        encoders: verifiers to hide from; targets are voiceprints of the first.
        speech: training utterances.
        held_out: the same of held-out speakers, which choose the checkpoint.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        words: loss that preserves the words; :class:`Envelope` by default.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: too few speakers.
        VoicenymError: encoders that do not fit, and as :func:`voicenym.training.run.fit.fit`.
    """
    if not encoders or encoders[0].size != cloak.config.voiceprint:
        has = encoders[0].size if encoders else "none"
        raise VoicenymError(
            f"the cloak takes voiceprints of {cloak.config.voiceprint} elements, and the first "
            f"verifier has {has}; set net: {{voiceprint: ...}} in the configuration"
        )
    if not held_out:
        raise CorpusError("no speakers kept out to choose by; give more speakers")
    machine = machine or Machine()
    _fit_targets(cloak, encoders[0], speech, config.seed)
    length = config.seconds + (2 * cloak.side + cloak.config.grid) / RATE
    loader: dict[str, Any] = machine.loading
    crops = SpeakerCrops(
        speech, length, machine.crops(config.every, config.batch), (1.0,), config.seed
    )
    validation = SpeakerCrops(held_out, length, VALIDATION_CROPS, (1.0,), config.seed + 1)
    outcome = fit_configured(
        Cloaking(cloak, encoders, words or Envelope(), config),
        torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **loader),
        torch.utils.data.DataLoader(validation, min(config.batch, VALIDATION_CROPS)),
        folder,
        config,
        seconds,
        monitor="loss",
        machine=machine,
        say=say,
    )
    cloak.eval()
    return outcome


def _fit_targets(cloak: Cloak, encoder: Encoder, speech: Sequence[Utterance], seed: int) -> None:
    """Fits the distribution of targets to the voiceprints of some utterances."""
    order = np.random.default_rng((seed, 13)).permutation(len(speech))[:FITTED]
    most = round(FITTED_SECONDS * RATE)
    crops = [torch.from_numpy(speech[i].samples(0, most)) for i in order]
    cloak.fitted(encoder.eval().embed(crops))
