"""Training of a live encoder of word codes, which learns the vectors of that of whole recordings.

Loss: mean squared error of the vectors, in shares of their power, and cross-entropy of the codes
that are nearest to the teacher's vectors, with logits by the distance to each entry. The number of
states that a chunk reads ahead varies from step to step, and so does the position of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.live_word_codes import LiveWordCodes
from voicenym.nets.words.whisper import Encoder
from voicenym.nets.words.word_code_content import WordCodeContent
from voicenym.training.content.live_code_windows import (
    Item,
    SpeakerWindows,
    Taught,
    WholeSpeech,
)
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical, seeded

MONITORED = "error of vectors"
AGREEMENT = "codes of whole recordings %"


@dataclass(frozen=True)
class LiveCodesConfig:
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.words.live_word_codes.LiveSizes`.
        aheads: states after a chunk, of which a step draws one; those of ``options`` are validated.
        seconds: of a window.
        batch: windows of a step.
        rate: peak of the learning rate.
        paces: that speech is learnt at, times its own.
        decay: of the weights (AdamW).
        codes: weight of the cross-entropy.
        sharpness: of its logits, per squared distance.
        gains: least and greatest gain of a window, in dB.
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation to the next.
        held_out: share of the speakers held out for validation.
        seed: of all random draws.
    """

    options: dict[str, Any] = field(default_factory=dict)
    aheads: tuple[int, ...] = (2, 4, 4, 8, 8, 16)
    seconds: float = 8.0
    batch: int = 4
    rate: float = 1e-3
    paces: tuple[float, ...] = (0.9, 1.0, 1.1)
    decay: float = 0.01
    codes: float = 0.2
    sharpness: float = 0.2
    gains: tuple[float, float] = (-12.0, 6.0)
    schedule: Cyclical = field(default_factory=Cyclical)
    steps: int = 4000
    every: int = 250
    held_out: float = 0.05
    seed: int = 0


class Distillation(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        content, teacher: of whole recordings, with the codebook; they do not change.
        config: of the training.
    """

    book: torch.Tensor

    def __init__(
        self,
        network: LiveWordCodes,
        content: WordCodeContent,
        teacher: WordCodeEncoder,
        config: LiveCodesConfig,
    ) -> None:
        super().__init__()
        self.network, self.recipe = network, config
        self._frozen = [(content.encoder, teacher)]  # in a list no module is registered
        self.register_buffer("book", _entries(content))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )

    def training_step(self, batch: Item, index: int) -> torch.Tensor:
        recipe, samples, wanted = self.recipe, *batch
        rng = seeded(torch.device("cpu"), recipe.seed, self.global_rank, self.global_step)
        ahead = recipe.aheads[int(torch.randint(len(recipe.aheads), (1,), generator=rng))]
        first = int(torch.randint(self.network.sizes.period, (1,), generator=rng))
        found = self.network(*self._teachers(samples), samples, ahead, first).own.float()
        error = (found - wanted).square().mean() / wanted.square().mean()
        logits = -recipe.sharpness * torch.cdist(found.flatten(0, 1), self.book).square()
        codes = torch.cdist(wanted.flatten(0, 1), self.book).argmin(1)
        entropy = torch.nn.functional.cross_entropy(logits, codes)
        self.log_dict({"train/error": error.detach(), "train/nats": entropy.detach()})
        return error + recipe.codes * entropy

    def validation_step(self, batch: Item, index: int) -> None:
        samples, wanted = batch
        found = self.network(*self._teachers(samples), samples).own[0].float()
        codes, right = (torch.cdist(x, self.book).argmin(1) for x in (found, wanted[0]))
        spoken = right != self._frozen[0][1].silence
        count = int(spoken.sum())
        if not count:
            return
        error = (found - wanted[0])[spoken].square().sum() / wanted[0][spoken].square().sum()
        same = 100.0 * (codes == right)[spoken].float().mean()
        self.log(MONITORED, error, batch_size=count, sync_dist=True)
        self.log(AGREEMENT, same, batch_size=count, sync_dist=True)

    def _teachers(self, samples: torch.Tensor) -> tuple[Encoder, WordCodeEncoder]:
        [(encoder, teacher)] = self._frozen
        return encoder.to(samples.device), teacher.to(samples.device)


def _entries(content: WordCodeContent) -> torch.Tensor:
    """Vectors of the codebook, ``[entry, element]``."""
    numbers = torch.arange(content.codes.sizes.entries)
    found: torch.Tensor = content.codes.quantizer.looked_up(numbers[None, None])[0].T.detach()
    return found.clone()


def train(
    network: LiveWordCodes,
    content: WordCodeContent,
    teacher: WordCodeEncoder,
    speech: Sequence[Taught],
    held_out: Sequence[Taught],
    config: LiveCodesConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a live encoder; afterwards it has the weights of its best validation.

    Args:
        network: new, or with weights to continue from.
        content, teacher: of whole recordings; they do not change.
        speech: training utterances with the teacher's vectors.
        held_out: the same of held-out speakers.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training or no validation utterances.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    every, chunk = network.every, network.sizes.chunk
    states = max(1, round(config.seconds * 50 / chunk)) * chunk
    windows = SpeakerWindows(
        speech,
        states,
        every,
        machine.crops(config.every, config.batch),
        config.gains,
        config.seed,
    )
    content.requires_grad_(False)
    teacher.requires_grad_(False)
    outcome = fit_configured(
        Distillation(network, content, teacher, config),
        torch.utils.data.DataLoader(windows, config.batch, drop_last=True, **machine.loading),
        torch.utils.data.DataLoader(WholeSpeech(held_out, chunk, every), 1),
        folder,
        config,
        seconds,
        monitor=MONITORED,
        machine=machine,
        clip=1.0,
        say=say,
    )
    network.eval()
    return outcome
