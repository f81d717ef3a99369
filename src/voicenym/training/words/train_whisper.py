"""Fine-tuning of a Whisper on a system's output: a recogniser that is adapted to such voices.

Miao et al. (2023) report word error rates of recognisers that are retrained on anonymized speech. A
recogniser that is trained from scratch learns too little from a few thousand sentences; a published
model keeps its knowledge of words and adapts to the voices. The loss is the cross-entropy of the
text's tokens (Radford et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import lightning.pytorch as pl
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.words.whisper.whisper import STATE, Decoder, Encoder, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.words.whisper_dataset import (
    NONE,
    Batch,
    Singles,
    Spoken,
    Windows,
    collated,
)

MONITOR = "nats a token"
"""Cross-entropy on held-out speakers, by which checkpoints are chosen."""


@dataclass(frozen=True)
class WhisperConfig(AdamWConfig):
    """Configuration of the fine-tuning.

    Args:
        parts: of the network that learn: ``all``, ``encoder`` or ``decoder``.
        layers: of each of these parts that learn, the last ones; 0 for all.
        batch: windows in a step.
        shortest: share of a window that is filled with speech at least.
        patience: validations without improvement, after which the training stops; 0: no limit.
        watched: held-out utterances of a validation, at most.
    """

    parts: Literal["all", "encoder", "decoder"] = "all"
    layers: int = 0
    batch: int = 4
    shortest: float = 0.2
    rate: float = 1e-5
    steps: int = 1_000
    every: int = 50
    patience: int = 0
    held_out: float = 0.05
    watched: int = 60


class FineTuning(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        config: of the training.
    """

    def __init__(self, network: Whisper, config: WhisperConfig) -> None:
        super().__init__()
        self.network, self.recipe = network, config
        self.learning = chosen(network, config)
        names = {id(value) for value in self.learning}
        for value in network.parameters():
            value.requires_grad_(id(value) in names)
        self._encodes = any(value.requires_grad for value in network.encoder.parameters())
        self._seen: list[tuple[float, int]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        groups = [
            {"params": [p for p in self.learning if p.ndim > 1], "weight_decay": recipe.decay},
            {"params": [p for p in self.learning if p.ndim <= 1], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, recipe.rate, betas=(0.9, 0.98))

    def on_train_epoch_start(self) -> None:
        self.trainer.train_dataloader.dataset.advance(self.current_epoch)  # type: ignore[union-attr]

    def missed(self, batch: Batch) -> torch.Tensor:
        """Mean cross-entropy of the batch's tokens, in nats."""
        with torch.autocast(self.device.type, enabled=False):
            spectra = self.network.encoder.spectra(batch.samples.float())
        with torch.set_grad_enabled(torch.is_grad_enabled() and self._encodes):
            states = self.network.encoder(spectra)
        decoder = self.network.decoder
        hidden = decoder(batch.tokens, decoder.cross_keys_values(states))
        asked = batch.wanted != NONE
        scores = decoder.scores(hidden[asked]).float()
        return torch.nn.functional.cross_entropy(scores, batch.wanted[asked])

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        loss = self.missed(batch)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def validation_step(self, batch: Batch, index: int) -> None:
        count = int((batch.wanted != NONE).sum())
        self._seen.append((float(self.missed(batch)) * count, count))

    def on_validation_epoch_end(self) -> None:
        nats, count = (sum(column) for column in zip(*self._seen, strict=True))
        self._seen = []
        self.log(MONITOR, nats / count, sync_dist=True)


def chosen(network: Whisper, config: WhisperConfig) -> list[torch.nn.Parameter]:
    """Trainable weights: the layers and last norms of the parts; token embeddings stay fixed.

    Raises:
        VoicenymError: more layers than there are, or none of these parts.
    """
    parts: dict[str, Encoder | Decoder] = {"encoder": network.encoder, "decoder": network.decoder}
    if config.parts != "all":
        if config.parts not in parts:
            raise VoicenymError(f"parts are all, encoder or decoder, not {config.parts!r}")
        parts = {config.parts: parts[config.parts]}
    found: list[torch.nn.Parameter] = []
    for name, part in parts.items():
        layers = list(part.layers)
        if not 0 <= config.layers <= len(layers):
            raise VoicenymError(f"layers: {config.layers}; the {name} has {len(layers)}")
        for layer in layers[-config.layers :] if config.layers else layers:
            found += layer.parameters()
        found += part.norm.parameters()
    return found


def train(
    network: Whisper,
    writing: Writing,
    speech: Sequence[Spoken],
    held_out: Sequence[Spoken],
    config: WhisperConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Fine-tune a network; afterwards it has the weights of its best validation.

    Args:
        network: with published weights.
        writing: special tokens.
        speech: training utterances.
        held_out: the same of held-out speakers.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        VoicenymError: as :func:`voicenym.training.run.fit.fit` and :func:`chosen`.
    """
    machine = machine or Machine()
    window = network.sizes.states * STATE
    collate = partial(collated, prefix=len(writing.begin))
    windows = Windows(
        speech,
        writing,
        window,
        most_tokens(network, writing),
        machine.crops(config.every, config.batch),
        config.shortest,
        config.seed,
    )
    loader = torch.utils.data.DataLoader(
        windows, config.batch, collate_fn=collate, **machine.loading
    )
    some = held_out[:: max(1, -(-len(held_out) // config.watched))]
    kept = torch.utils.data.DataLoader(
        Singles(some, writing), config.batch, collate_fn=collate, pin_memory=machine.cuda
    )
    outcome = fit_configured(
        FineTuning(network, config),
        loader,
        kept,
        folder,
        config,
        seconds,
        monitor=MONITOR,
        machine=machine,
        say=say,
    )
    network.eval()
    return outcome


def most_tokens(network: Whisper, writing: Writing) -> int:
    """Tokens of a text for which the decoder has positions."""
    return network.sizes.positions - len(writing.begin) - 1
