"""A training run on Lightning: limits, checkpoints, resumption and logs."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

from voicenym import processes
from voicenym.errors import VoicenymError
from voicenym.private import closed, private_folder
from voicenym.training.run.batch_memory import fitting, out_of_memory
from voicenym.training.run.checkpoint_files import (
    CheckpointFiles,
    of_other_training,
    remove_partial,
)
from voicenym.training.run.event_log import EventLog, quiet_threads
from voicenym.training.run.machine import Machine
from voicenym.training.run.run_callbacks import (
    CURVE,
    Curve,
    FiniteLoss,
    NextEpoch,
    RandomState,
    curve,
    steps_done,
)
from voicenym.training.run.schedule import Cyclical, RateSchedule

BEST, LAST = "best", "last"
RESTARTS = 3
"""Largest number of restarts of a training whose loading processes are killed."""


@dataclass(frozen=True)
class Limits:
    """Intervals of validation, and limits of the training.

    Args:
        steps: batches at most; several optimizers may each take a step of one.
        every: steps from one validation, and checkpoint, to the next.
        seconds: time at most; None for no limit.
        patience: validations without progress after which to stop; None for no limit.
    """

    steps: int
    every: int = 200
    seconds: float | None = None
    patience: int | None = None


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run.

    Args:
        steps: of the training, a batch each, those of earlier runs included.
        seconds: spent in this run.
        best: the monitored figure's best value, or its last where the last weights are kept; NaN
            without validation.
        finished: whether the schedule came to its end (or the patience did), rather than a signal.
        curve: rows of ``curve.jsonl``: step, seconds and figures.
    """

    steps: int
    seconds: float
    best: float
    finished: bool
    curve: list[dict[str, float]] = field(default_factory=list)


def fit(
    module: pl.LightningModule,
    crops: Any,
    held_out: Any,
    folder: Path,
    limits: Limits,
    *,
    monitor: str,
    schedule: Callable[[float], float] | None = None,
    machine: Machine | None = None,
    resume: bool = True,
    keep: Literal["best", "last"] = "best",
    clip: float | None = 5.0,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train; afterwards the module has the weights of its best validation, or of its last.

    Args:
        module: to train; logs ``monitor`` at validation, the lower the better.
        crops, held_out: data loaders; random datasets go to the next epoch by their
            ``advance`` (:mod:`voicenym.training.speech.epoch_sampling`).
        folder: of checkpoints (``last.ckpt``, ``best.ckpt``), ``curve.jsonl`` and the TensorBoard
            log; a run that finds ``last.ckpt`` there goes on from it.
        limits: when to stop.
        monitor: name of the figure.
        schedule: of the learning rate; :class:`Cyclical` unless given.
        machine: to train on.
        resume: False refuses a folder with checkpoints.
        keep: the best or the last validation's weights: the last for a training against an
            adversary, whose effect ``monitor`` does not count.
        clip: largest norm of a gradient; None for modules with manual optimization.
        seed: of the module's random draws.
        say: receives the figures of every validation.

    Raises:
        VoicenymError: an unusable folder, or one of another training, lack of memory, loading
            processes that are killed repeatedly, or a loss that is not finite.
    """
    machine = machine or Machine()
    private_folder(folder)
    last = folder / f"{LAST}.ckpt"
    if last.exists() and not resume:
        raise VoicenymError(f"{folder}: holds a training; go on with it, or choose another folder")
    for name in (BEST, LAST):
        remove_partial(folder, name)
    pl.seed_everything(seed, verbose=False)
    began = time.monotonic()
    for restart in range(RESTARTS + 1):
        rates = RateSchedule(schedule or Cyclical(), limits.steps, limits.seconds)
        best, newest = _checkpoints(folder, monitor)
        callbacks: list[pl.Callback] = [
            rates,
            best,
            newest,
            Curve(folder / CURVE, rates, say),
            FiniteLoss(),
            NextEpoch(getattr(crops, "dataset", None)),
            RandomState(),
        ]
        if limits.patience is not None:
            callbacks.append(EarlyStopping(monitor, patience=limits.patience))
        # checkpoints and logs are written by Lightning and TensorBoard
        with closed(), quiet_threads(), warnings.catch_warnings():
            # Lightning recommends more loader processes and larger batches than a laptop can use.
            warnings.simplefilter("ignore")
            logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
            trainer = _trainer(module, machine, callbacks, EventLog(folder, say), clip)
            # Lightning starts a process of its own for each device but the first.
            started = processes.isolated() if machine.devices > 1 else nullcontext()
            start = last if last.exists() else None
            try:
                with started:
                    trainer.fit(module, crops, held_out, ckpt_path=start, weights_only=True)
                break
            except Exception as error:
                if _loader_died(error):
                    _replaced(restart, crops, held_out, say)
                    continue
                explained = _explained(error, module, crops, last)
                if explained is None:
                    raise
                raise explained from error
    _load_weights(module, best if keep == "best" else newest)
    rows = curve(folder / CURVE)
    figure = float("nan") if best.best_model_score is None else float(best.best_model_score)
    if keep == "last" and rows:
        figure = rows[-1].get(monitor, figure)
    return Outcome(
        steps_done(trainer), time.monotonic() - began, figure, not trainer.interrupted, rows
    )


def _checkpoints(folder: Path, monitor: str) -> tuple[ModelCheckpoint, ModelCheckpoint]:
    """Callbacks that keep the checkpoint of the best validation, and the newest one."""
    best = ModelCheckpoint(folder, BEST, monitor, save_top_k=1, enable_version_counter=False)
    # This one has no monitored figure, so it keeps the newest checkpoint; Lightning's save_last
    # would keep the newest of the best.
    newest = ModelCheckpoint(folder, LAST, save_top_k=1, enable_version_counter=False)
    return best, newest


def _load_weights(module: pl.LightningModule, kept: ModelCheckpoint) -> None:
    """Gives the module the weights of a kept checkpoint; without one it stays as it is."""
    if kept.best_model_path:
        state = torch.load(kept.best_model_path, map_location="cpu", weights_only=True)
        module.on_load_checkpoint(state)
        module.load_state_dict(state["state_dict"])


def _trainer(
    module: pl.LightningModule,
    machine: Machine,
    callbacks: list[pl.Callback],
    log: EventLog,
    clip: float | None,
) -> pl.Trainer:
    """Lightning's trainer without limits of its own: schedule and patience end the training."""
    precision: Any = machine.precision or ("bf16-mixed" if machine.cuda else "32-true")
    return pl.Trainer(
        accelerator=machine.accelerator,
        devices=machine.devices,
        strategy=_strategy(module, machine),
        precision=precision,
        max_steps=-1,
        max_epochs=-1,
        check_val_every_n_epoch=1,
        num_sanity_val_steps=0,
        gradient_clip_val=clip,
        logger=log,
        log_every_n_steps=10,
        callbacks=callbacks,
        plugins=[CheckpointFiles()],
        enable_progress_bar=sys.stderr.isatty(),
        enable_model_summary=False,
        reload_dataloaders_every_n_epochs=0,
    )


def _explained(
    error: Exception, module: pl.LightningModule, crops: Any, last: Path
) -> VoicenymError | None:
    """The cure of an error that a user can mend; None for any other."""
    if of_other_training(error):
        return VoicenymError(
            f"{last}: of another training (recipe, configuration, teacher or number of speakers), "
            "and this one cannot go on from it; give the command of that one, or choose another "
            "folder with -o"
        )
    if not out_of_memory(error):
        return None
    fits = fitting(module, next(iter(crops)))
    cure = f"batches of {fits} fit: --batch {fits}" if fits else "not even one crop fits"
    return VoicenymError(f"not enough memory for batches of {crops.batch_size}; {cure}")


def _loader_died(error: BaseException) -> bool:
    """Whether a loading process was killed, rather than raising an error of its own."""
    message = str(error)
    killed = "is killed by signal" in message or "exited unexpectedly" in message
    return isinstance(error, RuntimeError) and "DataLoader worker" in message and killed


def _replaced(restart: int, crops: Any, held_out: Any, say: Callable[[str], None]) -> None:
    """Replaces killed loading processes; the training resumes from its last checkpoint.

    They load random crops from the speech cache, so that no single recording is at fault.

    Raises:
        VoicenymError: too many restarts.
    """
    if restart >= RESTARTS:
        raise VoicenymError(
            f"processes that prepare speech were killed {restart + 1} times (out of memory?); the "
            "last checkpoint is kept: run again with fewer --workers, or with 0"
        ) from None
    say(
        "a process that prepares speech was killed (out of memory?): another takes its place, and "
        "the training goes on from its last checkpoint"
    )
    for loader in (crops, held_out):
        if getattr(loader, "_iterator", None) is not None:
            loader._iterator = None  # of loaders that keep their processes


def _strategy(module: pl.LightningModule, machine: Machine) -> str:
    """Lightning's strategy for several devices.

    With several optimizers, a step of one does not use the others' parameters.
    """
    if machine.devices < 2:
        return "auto"
    return "ddp" if module.automatic_optimization else "ddp_find_unused_parameters_true"


def share_done(module: pl.LightningModule) -> float:
    """Share of its training that a module has completed; 1 outside of a training."""
    trainer: Any = module._trainer
    callbacks = [] if trainer is None else trainer.callbacks
    return next((c.share() for c in callbacks if isinstance(c, RateSchedule)), 1.0)
