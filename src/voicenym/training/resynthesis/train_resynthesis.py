"""Training a resynthesis system: analysis of speech into parts, and resynthesis from them.

Content encoder and synthesizer learn together, from speech alone: the waveform is rebuilt from the
encoder's few numbers, the power and pitch of frames, and the speaker's vector, and compared by mels
and magnitudes; later, if wished, by discriminators. The speaker should reach the output by the
vector alone: the content encoder therefore gets spectra warped in frequency, and an adversarial
speaker classifier acts on its output (gradient reversal, Ganin et al., JMLR 2016). Some crops are
also converted to other voices (:mod:`voicenym.training.resynthesis.conversion_loss`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from voicenym.nets.content.bottleneck import Bottleneck
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.words.phone_states.phone_state_network import FrameNet
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.training.resynthesis.resynthesis_config import ResynthesisConfig
from voicenym.training.resynthesis.resynthesis_dataset import (
    AnalysedUtterance,
    ResynthesisCrops,
    content_of,
    unit,
)
from voicenym.training.resynthesis.resynthesis_step import Resynthesizing
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine


def train(
    parts: Parts,
    utterances: Sequence[AnalysedUtterance],
    held_out: Sequence[AnalysedUtterance],
    config: ResynthesisConfig,
    folder: Path,
    *,
    encoder: Encoder | None = None,
    phones: FrameNet | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train the parts; afterwards they have the weights of their best validation.

    Args:
        parts: new, or with weights to continue from.
        utterances: training utterances.
        held_out: the same of held-out speakers, for validation.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        encoder: of the utterances' vectors; needed for the conversion loss.
        phones: recogniser of the phone loss.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    content, kept_content = None, None
    if parts.everybody is not None:
        content, kept_content = content_of(parts, utterances), content_of(parts, held_out)
        parts.everybody.learn(content)
    count = machine.crops(config.every, config.batch)
    crops = ResynthesisCrops(utterances, config.seconds, count, config.seed, content)
    loader = torch.utils.data.DataLoader(crops, config.batch, **machine.loading, drop_last=True)
    watched = ResynthesisCrops(held_out, config.seconds, 64, config.seed, kept_content)
    kept = torch.utils.data.DataLoader(watched, 16)
    voices(parts, utterances)
    module = Resynthesizing(parts, len(crops.speakers), config, encoder, phones)
    outcome = fit_configured(
        module,
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor="loss kept out",
        machine=machine,
        clip=None,
        say=say,
    )
    parts.eval()
    return outcome


def voices(parts: Parts, utterances: Sequence[AnalysedUtterance]) -> None:
    """Fit the distribution of voices to the training data, one vector a speaker."""
    by_speaker: dict[str, list[AnalysedUtterance]] = {}
    for item in utterances:
        by_speaker.setdefault(item.utterance.speaker, []).append(item)
    vectors = np.stack(
        [unit(np.stack([t.vector for t in own])).mean(0) for own in by_speaker.values()]
    )
    pitch = [np.mean([float(t.averages.log_f0[0]) for t in own]) for own in by_speaker.values()]
    every = [torch.cat([t.averages.power[:, None], t.averages.bands], dim=1) for t in utterances]
    parts.usual.copy_(torch.cat(every).mean(0))
    parts.voices.learn(torch.from_numpy(unit(vectors)), torch.tensor(np.array(pitch)))


def parts(config: ResynthesisConfig, speaker: int) -> Parts:
    """New parts, whose weights depend on the seed alone.

    Args:
        config: of the training.
        speaker: elements of a speaker vector.
    """
    content = Bottleneck(**config.content)
    options = {**config.options, "content": content.size + 1, "speaker": speaker}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return Parts(content.config(), config.synthesizer, options, config.rank)
