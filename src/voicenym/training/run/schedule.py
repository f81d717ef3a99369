"""Learning-rate schedules, and the end of a training after a number of steps or a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.errors import VoicenymError


@dataclass(frozen=True)
class Cyclical:
    """Triangular cycles, each half as high as the one before ("triangular2", Smith, WACV 2017).

    Args:
        cycles: number of cycles.
        rise: share of a cycle in which the rate rises.
        floor: lowest rate, as a share of the peak.
    """

    cycles: int = 1
    rise: float = 0.15
    floor: float = 0.002

    def __post_init__(self) -> None:
        if self.cycles < 1 or not 0.0 <= self.rise <= 1.0 or not 0.0 <= self.floor <= 1.0:
            raise VoicenymError(
                "schedule: needs 1 cycle or more, a rise and a floor from 0 to "
                f"1, not {self.cycles}, {self.rise:g} and {self.floor:g}"
            )

    def __call__(self, share: float) -> float:
        """The rate, as a share of the peak, after a share of the training, 0 to 1."""
        cycle, place = divmod(min(max(share, 0.0), 1.0 - 1e-9) * self.cycles, 1.0)
        height = place / self.rise if place < self.rise else (1.0 - place) / (1.0 - self.rise)
        return self.floor + (0.5**cycle - self.floor) * height


@dataclass(frozen=True)
class Falling:
    """The learning rate falls by a factor every epoch.

    Args:
        factor: an epoch's; the paper's is 0.999.
        epochs: in the whole training. 500,000 steps of 128 are 154 passes over the paper's English
            data, two halves of LibriTTS and LibriSpeech of some 415,500 utterances together.
        rise: share of the training in which the rate rises to its peak first.
    """

    factor: float = 0.999
    epochs: float = 154.0
    rise: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.factor <= 1.0 or self.epochs < 0.0 or not 0.0 <= self.rise <= 1.0:
            raise VoicenymError(
                "schedule: needs a factor above 0 and up to 1, epochs of 0 or more and a rise from "
                f"0 to 1, not {self.factor:g}, {self.epochs:g} and {self.rise:g}"
            )

    def __call__(self, share: float) -> float:
        """The rate, as a share of the peak, after a share of the training, 0 to 1."""
        risen = min(1.0, (share + 1e-3) / self.rise) if self.rise else 1.0
        return risen * self.factor ** (self.epochs * min(max(share, 0.0), 1.0))


class RateSchedule(pl.Callback):
    """Sets learning rates by the share of the training that is done, and ends it.

    The initial rates of the optimizers are the peaks. An interrupted run resumes its schedule; a
    finished run starts another one.

    Args:
        schedule: from share done to share of the peak.
        steps: optimizer steps; the training ends after them.
        seconds: time spent training; whichever limit comes first ends it.
    """

    def __init__(
        self,
        schedule: Callable[[float], float],
        steps: int,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.schedule, self.steps, self.seconds = schedule, steps, seconds
        self.spent = 0.0
        self.done = 0
        self._clock = clock
        self._tick: float | None = None
        self._peaks: list[list[float]] = []

    @property
    def state_key(self) -> str:
        """Key of the state in checkpoints, an earlier name of this class."""
        return "Pace"

    def share(self) -> float:
        """Share of the training that is done, 0 to 1."""
        by_steps = self.done / self.steps
        by_time = self.spent / self.seconds if self.seconds else 0.0
        return min(1.0, max(by_steps, by_time))

    def state_dict(self) -> dict[str, Any]:
        return {"spent": self.spent, "done": self.done, "peaks": self._peaks}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.spent, self.done = state_dict["spent"], state_dict["done"]
        self._peaks = state_dict["peaks"]
        if self.share() >= 1.0:
            self.spent, self.done = 0.0, 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if not self._peaks:
            self._peaks = [[g["lr"] for g in o.param_groups] for o in trainer.optimizers]
        self._tick = self._clock()

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        factor = self.schedule(self.share())
        for optimizer, peaks in zip(trainer.optimizers, self._peaks, strict=True):
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * factor

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        now = self._clock()
        self.spent += now - (self._tick if self._tick is not None else now)
        self._tick = now
        self.done += 1
        over = self.share() >= 1.0
        if trainer.world_size > 1:
            over = trainer.strategy.reduce_boolean_decision(over, all=False)
        if over:
            trainer.should_stop = True


def seeded(device: torch.device, *numbers: int) -> torch.Generator:
    """A generator on a device, from numbers such as seed, rank and step."""
    state = 0
    for number in numbers:
        state = (state * 1_000_003 + number + 1) % (2**63 - 1)
    return torch.Generator(device).manual_seed(state)
