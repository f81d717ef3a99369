"""Trains a two-branch speaker encoder with AAM-softmax on features that are computed once.

The frozen network's states and the filterbanks of each recording lie in files
(:mod:`voicenym.training.speakers.stream_files`); crops of them are changed in spectrum and time
(:mod:`voicenym.training.speakers.stream_crops`). The training is staged as in the strongest
published attackers: original speech (the ECAPA-TDNN that it starts from), speech of many systems,
speech of the system under attack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.metrics import Affine
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.two_branch import TwoBranch
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome, share_done
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import seeded
from voicenym.training.speakers.margin_softmax import AngularMargin
from voicenym.training.speakers.pair_verification import pairs, verify
from voicenym.training.speakers.stream_crops import StreamChanges, StreamCrops
from voicenym.training.speakers.stream_files import StreamFile


@dataclass(frozen=True)
class TwoBranchConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.speakers.two_branch.TwoBranch`.
        seconds: length of a crop.
        batch: crops in a step.
        stretch: largest change of tempo, as a share.
        changes: of crops, in spectrum and time.
        scale, margin: of the loss.
        warmup: share of the training in which the margin grows to its full size.
        patience: validations without improvement, after which the training stops; 0: no limit.
    """

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 3.0
    batch: int = 64
    stretch: float = 0.15
    changes: StreamChanges = field(default_factory=StreamChanges)
    scale: float = 30.0
    margin: float = 0.2
    warmup: float = 0.2
    decay: float = 1e-4
    steps: int = 50_000
    every: int = 250
    patience: int = 0
    held_out: float = 0.08


class TwoBranchVerification(pl.LightningModule):
    """The training step and the validation of a two-branch encoder.

    Args:
        encoder: to train.
        classes: number of speakers.
        config: of the training.
        kept: validation files, in the loader's order.
    """

    def __init__(
        self,
        encoder: TwoBranch,
        classes: int,
        config: TwoBranchConfig,
        kept: Sequence[StreamFile],
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = AngularMargin(encoder.size, classes, config.scale, config.margin)
        self.recipe = config
        self.kept = [file.recording for file in kept]
        self._vectors: dict[int, torch.Tensor] = {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(
            self.parameters(), self.recipe.rate, weight_decay=self.recipe.decay
        )

    def training_step(
        self, batch: tuple[torch.Tensor, torch.Tensor, torch.Tensor], index: int
    ) -> torch.Tensor:
        fbank, states, labels = batch
        generator = seeded(self.device, self.recipe.seed, self.global_rank, self.global_step)
        with torch.autocast(self.device.type, enabled=False):
            fbank, states = self.recipe.changes(fbank, states.float(), generator)
        vectors = self.encoder.join(fbank, states)
        share = share_done(self)
        self.head.margin = self.recipe.margin * min(1.0, share / max(self.recipe.warmup, 1e-9))
        loss = self.head(vectors, labels)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def validation_step(self, batch: tuple[int, torch.Tensor, torch.Tensor], index: int) -> None:
        number, fbank, states = batch
        with torch.autocast(self.device.type, enabled=False):
            self._vectors[number] = self.encoder.join(fbank[None], states[None].float())[0]

    def on_validation_epoch_end(self) -> None:
        numbers = torch.tensor(sorted(self._vectors), device=self.device)
        vectors = torch.stack([self._vectors[int(n)] for n in numbers])
        self._vectors = {}
        if self.trainer.world_size > 1:
            numbers = torch.as_tensor(self.all_gather(numbers)).flatten()
            vectors = torch.as_tensor(self.all_gather(vectors)).flatten(0, 1)
        order = {int(n): v for n, v in zip(numbers, vectors.cpu().numpy(), strict=True)}
        found = verify(np.stack([order[i] for i in range(len(self.kept))]), self.kept, replicates=0)
        self.log("EER %", 100.0 * found.value, sync_dist=self.trainer.world_size > 1)


class _Whole(torch.utils.data.Dataset[tuple[int, torch.Tensor, torch.Tensor]]):
    """Whole recordings, with their numbers."""

    def __init__(self, files: Sequence[StreamFile], longest: int = 500) -> None:
        self._files, self._most = list(files), longest

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor, torch.Tensor]:
        fbank, states = self._files[index].read(0, self._most)
        frames = torch.from_numpy(fbank.astype(np.float32))
        return index, frames, torch.from_numpy(states).transpose(0, 1)


def train(
    encoder: TwoBranch,
    files: Sequence[StreamFile],
    held_out: Sequence[StreamFile],
    config: TwoBranchConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train an encoder; afterwards it has the weights of its best validation.

    Args:
        encoder: new, or with weights to continue from.
        files: to train on.
        held_out: the same of held-out speakers, for validation and early stopping.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: too few speakers.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    count = machine.crops(config.every, config.batch)
    crops = StreamCrops(files, config.seconds, count, config.stretch, config.seed)
    loader = torch.utils.data.DataLoader(
        crops, config.batch, shuffle=False, **machine.loading, drop_last=True
    )
    kept = torch.utils.data.DataLoader(_Whole(held_out), batch_size=None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)  # of the speakers' directions
        module = TwoBranchVerification(encoder, crops.classes, config, held_out)
    outcome = fit_configured(
        module, loader, kept, folder, config, seconds, monitor="EER %", machine=machine, say=say
    )
    encoder.eval()
    return outcome


def new(config: TwoBranchConfig, start: Encoder | None = None, place: str = "") -> TwoBranch:
    """An encoder to train, whose random weights depend on the seed alone.

    Args:
        config: of the training.
        start: a two-branch encoder, which is returned unchanged; or an ECAPA-TDNN, whose sizes and
            weights initialise the filterbank branch; None for random weights.
        place: of the frozen weights, in place of the configuration's.

    Raises:
        VoicenymError: options that do not fit, or a start of another architecture.
    """
    from voicenym.nets.speakers.speaker_encoders import make

    if isinstance(start, TwoBranch):
        if place:
            start.place = place
        return start
    if not (start is None or isinstance(start, Ecapa)):
        raise VoicenymError(f"--from: a {start.kind}; give a two-branch encoder or an ECAPA-TDNN")
    options = {**config.options, **({"place": place} if place else {})}
    if start is not None:
        options.update(start.config())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        made = make(TwoBranch.kind, options)
    assert isinstance(made, TwoBranch)
    if start is not None:
        made.begin_from(start)
    return made


def calibrated(encoder: TwoBranch, files: Sequence[StreamFile]) -> Affine:
    """Map from the cosine of two recordings to a log-likelihood ratio in nats.

    Args:
        encoder: trained.
        files: of speakers outside its training.
    """
    device = next(encoder.parameters()).device
    vectors = []
    with torch.inference_mode():
        for index in range(len(files)):
            _, fbank, states = _Whole(files)[index]
            vectors.append(
                encoder.join(fbank[None].to(device), states[None].float().to(device))[0].cpu()
            )
    same, others, _ = pairs(torch.stack(vectors).numpy(), [file.recording for file in files])
    return Affine.fit(same, others)
