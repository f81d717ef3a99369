"""Training in steps as a recipe's configuration says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import lightning.pytorch as pl

from voicenym.training.run.fit import Limits, Outcome, fit
from voicenym.training.run.machine import Machine


class StepConfig(Protocol):
    """Common fields of the configurations of all trainings in steps.

    ``patience``, the validations without improvement after which the training stops, is optional; 0
    is no limit.
    """

    @property
    def steps(self) -> int:
        """Maximum number of optimizer steps."""

    @property
    def every(self) -> int:
        """Steps from one validation to the next."""

    @property
    def seed(self) -> int:
        """Of all random draws."""

    @property
    def schedule(self) -> Callable[[float], float]:
        """Of the learning rate."""


def fit_configured(
    module: pl.LightningModule,
    crops: Any,
    held_out: Any,
    folder: Path,
    config: StepConfig,
    seconds: float | None,
    *,
    monitor: str,
    machine: Machine,
    say: Callable[[str], None],
    clip: float | None = 5.0,
    keep: Literal["best", "last"] = "best",
) -> Outcome:
    """Train by :func:`voicenym.training.run.fit.fit`, with limits, schedule and seed of ``config``.

    Args:
        module, crops, held_out, folder, monitor, machine, say, clip, keep: as of ``fit``.
        config: of the recipe.
        seconds: time limit.

    Raises:
        VoicenymError: as of ``fit``.
    """
    # Patience watches the same figure as the best checkpoint.
    patience = None if keep == "last" else getattr(config, "patience", 0) or None
    return fit(
        module,
        crops,
        held_out,
        folder,
        Limits(config.steps, config.every, seconds, patience),
        monitor=monitor,
        schedule=config.schedule,
        machine=machine,
        keep=keep,
        clip=clip,
        seed=config.seed,
        say=say,
    )
