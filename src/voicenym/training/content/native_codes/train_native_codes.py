"""Training of native codes: the codes of accented speech become those of a native reading.

A copy of the encoder of trained word codes, with more blocks, learns to give the codes of a native
voice that reads the same text (:mod:`voicenym.training.content.native_codes.native_code_targets`):
the cross-entropy of codes is that of a softmax over -scale d^2 / 2, for distances d of its vectors
to the entries. The codebook, the decoder and Whisper stay as they are, so that whatever reads or
speaks the codes needs no change. The words, through the frozen decoder and the nearest entries
(straight-through gradients), keep the codes legible; without them insertions rise to 57 %
(``docs/research/word-codes-native.md``). Recordings without a reading, of native speakers, keep
their own codes.

The mean of the encoder's errors tells speakers: a verifier that compares means and deviations of
the entries over a recording finds more than one that counts codes. Two optional losses
reduce it: the distance of means and deviations of a window to those of its native codes, and an
adversary who recognises speakers by them. Both use the nearest entries, with gradients of the
softmax's expectation. Neither has hidden more on other speakers yet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch.nn.functional import cross_entropy

from voicenym.errors import CorpusError
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.training.content.bottleneck.speaker_branch import (
    LEAST_VARIANCE,
    SpeakerBranch,
    growth,
)
from voicenym.training.content.native_codes.native_code_windows import (
    NativeBatch,
    WindowReader,
    native_batch,
)
from voicenym.training.content.word_codes.speech_windows import Cut
from voicenym.training.content.word_codes.train_word_codes import places_of, with_blank
from voicenym.training.content.word_codes.word_code_batches import (
    AlikeBatches,
    SingleWindows,
    tokens_of,
)
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical

MONITOR = "loss of codes, words and moments"
"""Name of the monitored figure: cross-entropy of codes, in nats, plus the weighted one of words and
the weighted distance of moments."""
SCALE = -2.0
"""Natural logarithm of the scale of squared distances, at first."""
FASTER = 10.0
"""Learning rate of the scale, relative to that of the encoder."""
BRANCH = 5.0
"""Learning rate of the speaker branch, relative to that of the encoder."""


@dataclass(frozen=True)
class NativeCodesConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        before: blocks of the encoder; those that the start has not begin as identities.
        cut: how windows of one speaker are made.
        varied: further rounds of windows in another pace and with noise.
        silence: code of pauses and quiet places; -1 for the one that the start gives them most
            often.
        limit: recordings whose alignment costs more are left out.
        others: share of windows, at most, of recordings without a reading.
        own: weight of codes that are no reading's.
        words, commitment: weights of the cross-entropy of words, and of the squared distance to
            the nearest entry.
        moments: weight of the squared distance between means and deviations, over a window, of the
            entries and of those of its native codes.
        adversary: weight of the speaker branch; 0 for none.
        branch: units of its hidden layer.
        seconds: of speech in a step.
        held_out: share of the speakers with readings held out for validation.
        validation_windows: windows in a validation.
    """

    before: int = 5
    cut: Cut = field(default_factory=partial(Cut, 3.0, 27.0, 0.1))
    varied: int = 3
    silence: int = -1
    limit: float = 0.75
    others: float = 0.15
    own: float = 0.3
    words: float = 0.5
    commitment: float = 0.25
    moments: float = 0.0
    adversary: float = 0.0
    branch: int = 256
    seconds: float = 240.0
    schedule: Cyclical = field(default_factory=partial(Cyclical, rise=0.08, floor=0.02))
    steps: int = 800
    every: int = 50
    held_out: float = 0.0625
    validation_windows: int = 48

    def changed(self) -> Cut:
        """Cutting of varied windows."""
        return dataclasses.replace(self.cut, rounds=self.varied, seed=self.cut.seed + 1)


class NativeCoding(pl.LightningModule):
    """The training step and the validation.

    Args:
        encoder: to train.
        codes: whose codebook and decoder these are; frozen, and not part of checkpoints.
        whisper: its decoder is frozen, too.
        pieces: tokens for which logits are computed.
        speakers: of the adversary's classes.
        config: of the training.
    """

    def __init__(
        self,
        encoder: WordCodeEncoder,
        codes: WordCodes,
        whisper: Whisper,
        pieces: torch.Tensor,
        speakers: int,
        config: NativeCodesConfig,
    ) -> None:
        super().__init__()
        self.encoder, self.recipe = encoder, config
        self.scale = torch.nn.Parameter(torch.tensor(SCALE))
        self.branch: SpeakerBranch | None = None
        if config.adversary:
            self.branch = SpeakerBranch(encoder.sizes.code, speakers, config.branch)
        # in lists, so that their weights are not this module's
        self._codes = [codes.requires_grad_(False).eval()]
        self._decoder = [whisper.decoder.requires_grad_(False).eval()]
        self._pieces = pieces

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        groups: list[dict[str, Any]] = [
            {"params": list(self.encoder.parameters())},
            {"params": [self.scale], "lr": FASTER * recipe.rate},
        ]
        if self.branch is not None:
            groups.append({"params": list(self.branch.parameters()), "lr": BRANCH * recipe.rate})
        return torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.decay)

    def logits(self, vectors: torch.Tensor) -> torch.Tensor:
        """-scale d^2 / 2 for distances to the entries, ``[batch, code, entry]``."""
        book = self._book()
        squares = vectors.square().sum(2, keepdim=True) + book.square().sum(1)
        distances = squares - 2.0 * vectors @ book.T
        return -0.5 * self.scale.exp() * distances

    def _book(self) -> torch.Tensor:
        """Entries ``[entry, element]``."""
        return self._codes[0].quantizer.books[0].vectors  # type: ignore[return-value]

    def losses(self, one: NativeBatch) -> dict[str, torch.Tensor]:
        """Means over codes, and over tokens."""
        device = one.inputs.device
        codes, decoder = self._codes[0].to(device), self._decoder[0].to(device)
        vectors = self.encoder.encoded(one.inputs, one.lengths)
        inside = valid(self.encoder.counts(one.lengths), vectors.shape[1])
        with torch.autocast(device.type, enabled=False):
            vectors, book = vectors.float(), self._book()
            logits = self.logits(vectors)
            nearest = logits.argmax(2)
            entries = book[nearest]
            expected = logits.softmax(2) @ book
            chosen = entries + (expected - expected.detach())
            weights = torch.where(one.native, 1.0, self.recipe.own) * inside
            each = cross_entropy(logits.transpose(1, 2), one.codes, reduction="none")
            known = one.native & inside
            found = {
                "codes": (each * weights).sum() / weights.sum(),
                "commitment": (vectors - entries).square().mean(2)[inside].mean(),
                "right": (nearest == one.codes)[known].float().mean(),
                "moments": torch.nn.functional.mse_loss(
                    moments(chosen, known), moments(book[one.codes], known)
                ),
            }
        through = vectors + (entries - vectors).detach()
        states = codes.expanded(through, one.lengths)
        memory = with_blank(decoder, codes, states)
        asked = one.wanted >= 0
        scores = decoder.scores(decoder(one.tokens, memory)[asked], self._pieces.to(device))
        found["words"] = cross_entropy(scores.float(), one.wanted[asked])
        if self.branch is not None and self.training and bool((one.speakers >= 0).any()):
            rows = one.speakers >= 0
            weight = self.recipe.adversary * growth(share_done(self))
            counts = self.encoder.counts(one.lengths)[rows]
            found["adversary"], found["speakers right"] = self.branch.against(
                chosen[rows], counts, one.speakers[rows], weight
            )
        return found

    def training_step(self, one: NativeBatch, index: int) -> torch.Tensor:
        recipe = self.recipe
        found = self.losses(one)
        self.log_dict(found, batch_size=len(one.inputs))
        loss = (
            found["codes"]
            + recipe.words * found["words"]
            + recipe.commitment * found["commitment"]
            + recipe.moments * found["moments"]
        )
        return loss + found["adversary"] if "adversary" in found else loss

    def validation_step(self, one: NativeBatch, index: int) -> None:
        found = self.losses(one)
        size = len(one.inputs)
        recipe = self.recipe
        loss = found["codes"] + recipe.words * found["words"] + recipe.moments * found["moments"]
        self.log(MONITOR, loss, batch_size=size, sync_dist=True)
        for name in ("codes", "words", "commitment", "moments", "right"):
            self.log(f"held out: {name}", found[name], batch_size=size, sync_dist=True)


def moments(x: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Means and deviations ``[batch, 2 size]`` over time; zeros for rows in which nothing counts.

    Args:
        x: ``[batch, time, size]``.
        inside: ``[batch, time]``, what counts.
    """
    mask = inside[:, :, None]
    count = mask.sum(1).clamp_min(1)
    mean = (x * mask).sum(1) / count
    variance = ((x - mean[:, None]) * mask).square().sum(1) / count
    found = torch.cat([mean, (variance + LEAST_VARIANCE).sqrt()], dim=1)
    return found * inside.any(1)[:, None]


def train(
    encoder: WordCodeEncoder,
    codes: WordCodes,
    whisper: Whisper,
    files: Sequence[tuple[Path, str]],
    held_out: Sequence[Path],
    config: NativeCodesConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train; afterwards the encoder has the weights of its best validation.

    Args:
        encoder: of :func:`started`, or with weights to continue from.
        codes: whose codebook and decoder these are.
        whisper: whose states and decoder these are.
        files: windows to learn from
            (:class:`~voicenym.training.content.native_codes.native_code_windows.NativeCodeFiles`),
            and the speaker of each; an empty name for those of no speaker with readings.
        held_out: validation windows.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no windows.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    if not files or not held_out:
        raise CorpusError("no windows to learn from, or none to watch by; give more speech")
    paths = [path for path, _ in files]
    names = sorted({name for _, name in files if name})
    reader = WindowReader({path: names.index(name) for path, name in files if name})
    pieces = tokens_of([*paths, *held_out])
    join = partial(native_batch, places=places_of(pieces, whisper.sizes.tokens))
    batches = AlikeBatches(paths, config.seconds, config.every, config.seed, reader, join)
    loader = torch.utils.data.DataLoader(batches, batch_size=None, **machine.loading)
    some = np.random.default_rng(config.seed).permutation(len(held_out))
    watched = [held_out[i] for i in sorted(some[: config.validation_windows])]
    outcome = fit_configured(
        NativeCoding(encoder, codes, whisper, pieces, len(names), config),
        loader,
        torch.utils.data.DataLoader(SingleWindows(watched, reader, join), batch_size=None),
        folder,
        config,
        seconds,
        monitor=MONITOR,
        machine=machine,
        say=say,
        clip=1.0,
    )
    encoder.eval()
    return outcome
