"""Callbacks of a training run: its curve, finite losses, epochs of its data, and random states."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.errors import VoicenymError
from voicenym.private import open_private, write_private
from voicenym.training.run.schedule import RateSchedule

CURVE = "curve.jsonl"
WATCHED = 20
"""Steps from one check of the loss to the next."""


def steps_done(trainer: pl.Trainer) -> int:
    """Steps of a training, those of earlier runs included: a batch is one step.

    Lightning's ``global_step`` counts every step of every optimizer instead.
    """
    batches: Any = trainer.fit_loop.epoch_loop.batch_progress.total
    return int(batches.processed)


class Curve(pl.Callback):
    """Writes the figures of every validation to a file and reports them.

    A checkpoint knows how many rows the file had; rows of later validations, which a resumed run
    repeats, are removed.

    Args:
        path: file of the curve.
        rates: whose time is written.
        say: receives the figures.
    """

    def __init__(self, path: Path, rates: RateSchedule, say: Callable[[str], None]) -> None:
        self._path, self._rates, self._say = path, rates, say

    def state_dict(self) -> dict[str, Any]:
        return {"rows": len(curve(self._path))}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        rows = curve(self._path)
        if len(rows) > state_dict["rows"]:
            kept = [json.dumps(row) + "\n" for row in rows[: state_dict["rows"]]]
            with suppress(OSError):  # rows that are repeated then, which the next row reports
                write_private(self._path, "".join(kept))

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.sanity_checking or not trainer.is_global_zero:
            return
        step = steps_done(trainer)
        figures = {name: float(value) for name, value in trainer.callback_metrics.items()}
        row = {"step": step, "seconds": round(self._rates.spent, 1), **figures}
        try:
            with open_private(self._path, "r+") as file:
                # a line that a kill left incomplete ends here
                broken = file.read()[-1:] not in ("", "\n")
                file.write(("\n" if broken else "") + json.dumps(row) + "\n")
        except OSError as error:
            raise VoicenymError(
                f"{self._path}: cannot be written ({error.strerror}); the last checkpoint is kept, "
                "and the same command goes on from it"
            ) from error
        text = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        self._say(f"step {step}, {self._rates.spent / 60:.1f} min: {text}")


def curve(path: Path) -> list[dict[str, float]]:
    """Figures of every validation of a run, in order.

    Args:
        path: file of :class:`Curve`; it may be missing.
    """
    if not path.is_file():
        return []
    found = []
    for line in path.read_text("utf-8", "replace").splitlines():
        with suppress(json.JSONDecodeError):  # of a line that a kill left incomplete
            found.append(json.loads(line))
    return [row for row in found if isinstance(row, dict)]


class FiniteLoss(pl.Callback):
    """Stops the training when the loss is not finite, before a checkpoint is written."""

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        # a checkpoint follows the last batch of an epoch, and of the training
        last = trainer.is_last_batch or trainer.should_stop
        watched = steps_done(trainer) % WATCHED == 0 or last
        if loss is not None and watched and not bool(torch.isfinite(loss)):
            raise VoicenymError(
                f"the loss is {float(loss)} at step {steps_done(trainer)}; go on from the last "
                "checkpoint with a lower learning rate"
            )


class NextEpoch(pl.Callback):
    """Advances a random dataset to the next epoch.

    A resumed run advances it while the checkpoint is read: processes that load batches get their
    copies of the dataset before the first epoch starts.

    Args:
        dataset: with ``advance``; others are left alone.
    """

    def __init__(self, dataset: Any) -> None:
        self._advance: Callable[[int], None] = getattr(dataset, "advance", lambda epoch: None)

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        # checkpoints are written at the ends of epochs
        self._advance(checkpoint["epoch"] + 1)

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._advance(trainer.current_epoch)


class RandomState(pl.Callback):
    """Keeps torch's random state in checkpoints, so that a resumed run draws what one without
    interruption draws (dropout, new entries of codebooks).
    """

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        states = {"cpu": torch.get_rng_state()}
        device = trainer.strategy.root_device
        if device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        checkpoint["random states"] = states

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        states = checkpoint.get("random states", {})  # earlier releases kept none
        if "cpu" in states:
            torch.set_rng_state(states["cpu"])
        # the module is moved to its device later
        device = trainer.strategy.root_device
        if "cuda" in states and device.type == "cuda":
            torch.cuda.set_rng_state(states["cuda"], device)
