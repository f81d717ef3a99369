"""Training of a content bottleneck: a TDNN-F recogniser, optionally speaker-adversarial.

Povey et al. (Interspeech 2018) keep the narrow halves of layers semi-orthogonal by a step after
every fourth one of training. The bottleneck of B1 (Fang et al., SSW 2019) is trained for words
alone; M1c1 of the VoicePrivacy Challenge 2020 (Champion, Jouvet, Larcher) hides the speaker as
well: a branch classifies speakers by the bottleneck, and the network learns against it by gradient
reversal (Ganin et al., JMLR 2016). M1's architecture and weight are not in the challenge's papers:
the branch here uses means and deviations over the utterance, and its weight, which grows as Ganin's
does, is a setting.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from voicenym.nets.gradient_reversal import reversed_gradient
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.character_model import CharacterModel
from voicenym.nets.words.ctc import Alphabet
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.speech.augmentation import SpecAugment
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.speech.transcribed_dataset import Batch, Sentences, Transcribed, collated
from voicenym.training.words import train_recogniser
from voicenym.training.words.train_recogniser import RecogniserConfig, Recognition

STEEPNESS = 10.0
"""Steepness of the adversary's weight: 2 / (1 + exp(-10 p)) - 1 after a share p."""
LEAST_VARIANCE = 1e-6

Voiced = tuple[*Batch, torch.Tensor]
"""A batch with speakers ``[batch]``."""


@dataclass(frozen=True)
class BottleneckConfig(RecogniserConfig):
    """Configuration of the training; the fields of a recogniser's, and these.

    Args:
        constrain: steps from one toward semi-orthogonality to the next.
        adversary: weight of the speaker branch; 0 for none.
        branch: units of its hidden layer.
        gain: random gain of each utterance, in dB up or down: the input is not normalised in level,
            so that the network can work live.
    """

    net: str = "tdnnf"
    options: dict[str, Any] = field(default_factory=dict)
    blanks: SpecAugment = field(default_factory=lambda: SpecAugment(bands=0, stretches=0))
    rate: float = 1e-3
    constrain: int = 4
    adversary: float = 0.0
    branch: int = 256
    gain: float = 12.0


class SpeakerBranch(torch.nn.Module):
    """Classifies the speakers of utterances by means and deviations of their frames.

    Args:
        size: elements of a frame.
        speakers: classes.
        units: of the hidden layer.
    """

    def __init__(self, size: int, speakers: int, units: int) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(2 * size, units)
        self.output = torch.nn.Linear(units, speakers)

    def forward(self, x: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Scores ``[batch, speaker]`` of ``[batch, frame, size]``, of which ``frames`` count."""
        x = x.float()
        mask = valid(frames, x.shape[1])[..., None]
        count = frames.clamp_min(1)[:, None]
        mean = (x * mask).sum(1) / count
        variance = ((x - mean[:, None]) * mask).square().sum(1) / count
        statistics = torch.cat([mean, (variance + LEAST_VARIANCE).sqrt()], dim=1)
        return self.output(torch.relu(self.hidden(statistics)))


class Bottleneck(Recognition):
    """The training step and the validation of a TDNN-F.

    Args:
        net: to train.
        alphabet: its tokens.
        config: of the training.
        speakers: names of those in the data.
    """

    recipe: BottleneckConfig

    def __init__(
        self,
        net: torch.nn.Module,
        alphabet: Alphabet,
        config: BottleneckConfig,
        speakers: Sequence[str],
    ) -> None:
        super().__init__(net, alphabet, config)
        self.branch: SpeakerBranch | None = None
        if config.adversary:
            self.branch = SpeakerBranch(self.net.config.size, len(speakers), config.branch)

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        speech, lengths, texts, sizes, speakers = batch
        features, frames = self.prepared(speech, lengths)
        content = self.net.bottleneck(features, frames)
        logits, kept = self.net.scores(content, frames)
        loss = self.spelt(logits, kept, texts, sizes)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        if self.branch is not None:
            growth = 2.0 / (1.0 + math.exp(-STEEPNESS * share_done(self))) - 1.0
            reversed_content = reversed_gradient(content, self.recipe.adversary * growth)
            speaker_logits = self.branch(reversed_content, frames)
            found = torch.nn.functional.cross_entropy(speaker_logits.float(), speakers)
            right = (speaker_logits.argmax(1) == speakers).float().mean()
            self.log("speakers classified %", 100.0 * right, on_step=True, on_epoch=False)
            loss = loss + found
        return loss

    def disturbed(self, speech: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        samples = super().disturbed(speech, generator)
        draws = torch.rand(len(samples), 1, generator=generator, device=samples.device)
        return samples * 10.0 ** (self.recipe.gain * (2.0 * draws - 1.0) / 20.0)

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:
        if self.global_step % self.recipe.constrain == 0:
            for part in self.net.content.constrained():
                part.constrain()


class SpeakerSentences(Sentences):
    """Utterances with the numbers of their speakers, in the order of their names."""

    def __init__(self, speech: Sequence[Transcribed], *arguments: Any) -> None:
        super().__init__(speech, *arguments)
        self._numbers = numbered(one.speech for one in speech)

    def __getitem__(self, index: int) -> Any:
        return *super().__getitem__(index), self._numbers[self.at(index).speech.speaker]


def numbered(speech: Any) -> dict[str, int]:
    """Speakers of utterances by name, numbered in the order of their names."""
    return {name: i for i, name in enumerate(sorted({one.speaker for one in speech}))}


def voiced(items: Sequence[Any]) -> Voiced:
    """Speech, tokens and speakers as a batch."""
    speakers = torch.tensor([item[2] for item in items])
    return (*collated([item[:2] for item in items]), speakers)


def train(
    model: CharacterModel,
    speech: Sequence[Utterance],
    held_out: Sequence[Utterance],
    config: BottleneckConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a TDNN-F recogniser; its ``net.content`` is the content encoder.

    Args:
        model: of kind ``tdnnf``, new or with weights to continue from.
        speech, held_out, folder, seconds, machine, say: as for
            :func:`voicenym.training.words.train_recogniser.train`.
        config: of the training.

    Raises:
        ValueError: a model of another kind.
        CorpusError, VoicenymError: as of :func:`voicenym.training.words.train_recogniser.train`.
    """
    if model.kind != "tdnnf":
        raise ValueError(f"{model.kind} has no bottleneck")
    names = sorted(numbered(speech))
    return train_recogniser.train(
        model,
        speech,
        held_out,
        config,
        folder,
        seconds=seconds,
        machine=machine,
        say=say,
        recognition=functools.partial(Bottleneck, speakers=names),
        sentences=SpeakerSentences,
        collate=voiced,
    )
