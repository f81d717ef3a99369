"""Training of a content bottleneck: a TDNN-F recogniser, optionally speaker-adversarial.

Povey et al. (Interspeech 2018) keep the narrow halves of layers semi-orthogonal by a step after
every fourth one of training. The bottleneck of B1 (Fang et al., SSW 2019) is trained for words
alone; M1c1 of the VoicePrivacy Challenge 2020 (Champion, Jouvet, Larcher) hides the speaker as
well (:mod:`voicenym.training.content.bottleneck.speaker_branch`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.training.content.bottleneck.frame_targets import numbered
from voicenym.training.content.bottleneck.speaker_branch import SpeakerBranch, growth
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.speech.augmentation import SpecAugment
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.speech.transcribed_dataset import Batch, Sentences, Transcribed, collated
from voicenym.training.words import train_recogniser
from voicenym.training.words.train_recogniser import RecogniserConfig, Recognition

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
            weight = self.recipe.adversary * growth(share_done(self))
            found, right = self.branch.against(content, frames, speakers, weight)
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

    Afterwards it has the weights of its best validation, with an adversary those of the last: the
    branch costs words, so that the best validation is one before it had much effect.

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
        keep="last" if config.adversary else "best",
    )
