"""Training of word codes: a discrete bottleneck before Whisper's frozen decoder.

The loss is the cross-entropy of the words and the relative entropy to the decoder's output for the
original states, half each; the squared distance of states helps at the beginning, and a commitment
loss keeps the encoder near its entries. The first part of the training has no codebooks. No
waveform is synthesized; the frozen Whisper runs once over all speech
(:mod:`voicenym.training.content.word_codes.word_state_dataset`), so that a step is the bottleneck
and the decoder.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import lightning.pytorch as pl
import numpy as np
import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.architectures import options_checked
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.whisper.whisper import Decoder, Whisper
from voicenym.training.content.bottleneck.speaker_branch import SpeakerBranch, growth
from voicenym.training.content.word_codes.speech_windows import Cut
from voicenym.training.content.word_codes.word_code_batches import (
    Batch,
    ValidationWindows,
    WindowBatches,
    tokens_of,
)
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine

NEVER = 99.0
"""Value of validations before the codebooks are initialised, so that none of them is the best."""
BEGINNING = 16
"""Number of steps whose vectors initialise the codebooks by clustering."""


@dataclass(frozen=True)
class WordCodesConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.content.word_code_bottleneck.WordCodes`.
        cut: how windows are made.
        disguised: rounds in which the input is in another voice or room, and the targets are the
            words and states of the original (:mod:`voicenym.training.speech.voice_augmentation`); 0
            for none.
        seconds: of speech in a step.
        free: share of the training without codebooks, before they are initialised.
        words, distillation: weights of the cross-entropy of words, and of the relative entropy to
            the decoder's output for the original states.
        states, commitment: weights of the squared distance of states, and of the commitment.
        validation_windows: windows in a validation.
        adversary: weight of a branch that tells speakers by the means and deviations of a window's
            codebook vectors, against which the codes learn; 0 for none. It needs windows of one
            speaker each (``by_speaker`` of ``cut``).
        branch: units of its hidden layer.
    """

    FORMER_NAMES: ClassVar[Mapping[str, str]] = {
        "judged": "validation_windows",
        "taught": "distillation",
    }
    """Fields of earlier configurations, see :func:`voicenym.training.run.config.build`."""

    options: dict[str, Any] = field(default_factory=dict)
    cut: Cut = field(default_factory=Cut)
    disguised: int = 0
    seconds: float = 32.0
    free: float = 0.25
    words: float = 0.5
    distillation: float = 0.5
    states: float = 1.0
    commitment: float = 0.25
    decay: float = 1e-3
    every: int = 100
    held_out: float = 0.02
    validation_windows: int = 24
    adversary: float = 0.0
    branch: int = 256

    def __post_init__(self) -> None:
        if self.adversary and not self.cut.by_speaker:
            raise VoicenymError(
                "adversary: needs windows of one speaker each; set 'by_speaker: true' in 'cut'"
            )

    def changed(self) -> Cut:
        """Cutting of windows of disguised speech."""
        return dataclasses.replace(self.cut, rounds=self.disguised, seed=self.cut.seed + 1)


class WordCoding(pl.LightningModule):
    """The training step and the validation.

    Args:
        codes: to train.
        whisper: its decoder is frozen, and not part of checkpoints.
        pieces: tokens for which logits are computed.
        config: of the training.
        speakers: of the adversary's classes.
    """

    def __init__(
        self,
        codes: WordCodes,
        whisper: Whisper,
        pieces: torch.Tensor,
        config: WordCodesConfig,
        speakers: int = 0,
    ) -> None:
        super().__init__()
        self.codes, self.recipe = codes, config
        self.branch: SpeakerBranch | None = None
        if config.adversary:
            self.branch = SpeakerBranch(codes.sizes.code, speakers, config.branch)
        # in a list, so that its weights are not this module's
        self._whisper = [whisper.decoder.requires_grad_(False).eval()]
        self._pieces = pieces
        self._recent: deque[torch.Tensor] = deque(maxlen=BEGINNING)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        groups = [{"params": list(self.codes.parameters())}]
        if self.branch is not None:
            groups.append({"params": list(self.branch.parameters())})
        return torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.decay)

    def losses(self, one: Batch, quantised: bool) -> dict[str, torch.Tensor]:
        """Means over tokens, and over states."""
        decoder = self._whisper[0].to(one.inputs.device)
        coded = self.codes(one.inputs, one.lengths, quantised)
        if not quantised and self.training:
            self._recent.append(coded.vectors)
        known = coded.states.shape[1]
        memory = with_blank(decoder, self.codes, coded.states)
        asked = one.wanted >= 0
        weight = decoder.tokens.weight[self._pieces.to(asked.device)]
        scores = (decoder(one.tokens, memory)[asked] @ weight.T).float()
        with torch.no_grad():
            wanted = log_softmax((one.targets[asked] @ weight.T).float(), 1)
        predicted = log_softmax(scores, 1)
        length = min(known, one.states.shape[1])
        inside = valid(one.lengths, one.states.shape[1])[:, :length]
        distance = (coded.states[:, :length].float() - one.states[:, :length]).square().mean(2)
        found = {
            "words": cross_entropy(scores, one.wanted[asked]),
            "taught": kl_div(predicted, wanted, reduction="batchmean", log_target=True),
            "states": distance[inside].mean(),
            "commitment": coded.commitment.float(),
            "perplexity": coded.perplexity.float(),
        }
        rows = one.speakers >= 0
        if self.branch is not None and self.training and bool(rows.any()):
            against = self.recipe.adversary * growth(share_done(self))
            counts = self.codes.counts(one.lengths)[rows]
            found["adversary"], found["speakers right"] = self.branch.against(
                coded.entries[rows], counts, one.speakers[rows], against
            )
        return found

    def training_step(self, one: Batch, index: int) -> torch.Tensor:
        recipe = self.recipe
        quantised = self.codes.initialised or share_done(self) >= recipe.free
        if quantised and not self.codes.initialised and self._recent:
            # a single step has few vectors relative to the number of entries
            self.codes.quantizer.begin([vectors.T[None] for vectors in self._recent])
        found = self.losses(one, quantised)
        self.log_dict(found, batch_size=len(one.inputs))
        loss = (
            recipe.words * found["words"]
            + recipe.distillation * found["taught"]
            + recipe.states * found["states"]
            + recipe.commitment * found["commitment"]
        )
        return loss + found["adversary"] if "adversary" in found else loss

    def validation_step(self, one: Batch, index: int) -> None:
        quantised = self.codes.initialised
        found = self.losses(one, quantised)
        nats = found["words"] if quantised else torch.full_like(found["words"], NEVER)
        size = len(one.inputs)
        self.log("nats a token", nats, batch_size=size, sync_dist=True)
        for name in ("words", "taught", "states"):
            self.log(f"held out: {name}", found[name], batch_size=size, sync_dist=True)


def with_blank(
    decoder: Decoder, codes: WordCodes, states: torch.Tensor
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Whisper's keys and values of states ``[batch, state, size]`` and of the blank ones behind
    them, up to a whole window. The blank ones are computed once for a batch.
    """
    blank = decoder.cross_keys_values(codes.blank(states.shape[1]))
    memory = []
    for (key, value), (no_key, no_value) in zip(
        decoder.cross_keys_values(states), blank, strict=True
    ):
        rows = len(key)
        memory.append(
            (
                torch.cat([key, no_key.expand(rows, -1, -1, -1)], 2),
                torch.cat([value, no_value.expand(rows, -1, -1, -1)], 2),
            )
        )
    return memory


def places_of(pieces: torch.Tensor, tokens: int) -> torch.Tensor:
    """Place of each of Whisper's tokens among some of them; -100 for the others."""
    places = torch.full((tokens,), -100)
    places[pieces] = torch.arange(len(pieces))
    return places


def train(
    codes: WordCodes,
    whisper: Whisper,
    files: Sequence[Path],
    held_out: Sequence[Path],
    config: WordCodesConfig,
    folder: Path,
    *,
    speakers: Mapping[Path, str] | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train; afterwards the codes have the weights of their best validation with books.

    Args:
        codes: new, or with weights to continue from.
        whisper: whose states and decoder these are.
        files, held_out: training and validation windows, files of
            :class:`~voicenym.training.content.word_codes.word_state_dataset.StateFiles`.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues, also where more
            windows have come since.
        speakers: of training windows, for the adversary; it does not hear windows without one.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances, or an adversary and fewer than two speakers.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    if not files or not held_out:
        raise CorpusError("no windows to learn from, or none to watch by; give more speech")
    pieces = tokens_of([*files, *held_out])
    places = places_of(pieces, whisper.sizes.tokens)
    known = {path: who for path, who in (speakers or {}).items() if who and config.adversary}
    names = sorted(set(known.values()))
    if config.adversary and len(names) < 2:
        raise CorpusError("an adversary needs windows of two speakers at least; give more speech")
    numbers = {path: names.index(who) for path, who in known.items()}
    batches = WindowBatches(files, config.seconds, config.every, places, config.seed, numbers)
    loader = torch.utils.data.DataLoader(batches, batch_size=None, **machine.loading)
    some = np.random.default_rng(config.seed).permutation(len(held_out))[
        : config.validation_windows
    ]
    validation = ValidationWindows([held_out[i] for i in sorted(some)], places)
    outcome = fit_configured(
        WordCoding(codes, whisper, pieces, config, len(names)),
        loader,
        torch.utils.data.DataLoader(validation, batch_size=None),
        folder,
        config,
        seconds,
        monitor="nats a token",
        machine=machine,
        say=say,
    )
    codes.eval()
    return outcome


def new(config: WordCodesConfig, whisper: Whisper) -> WordCodes:
    """Codes of a Whisper's states, whose weights depend on the seed alone.

    Raises:
        VoicenymError: invalid options.
    """
    fixed = {"states": whisper.sizes.width, "window": whisper.sizes.states}
    with torch.random.fork_rng(devices=[]), options_checked("word codes, options"):
        torch.manual_seed(config.seed)
        return WordCodes(**{"seed": config.seed, **config.options, **fixed})
