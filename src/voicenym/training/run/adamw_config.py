"""Fields that the configurations of trainings by AdamW have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from voicenym.training.run.schedule import Cyclical


@dataclass(frozen=True)
class AdamWConfig:
    """Optimizer, validation and draws of a training by AdamW (Loshchilov and Hutter, ICLR 2019).

    Args:
        rate: peak of the learning rate.
        decay: of the weights.
        schedule: of the learning rate.
        steps: maximum number of optimizer steps.
        every: steps from one validation, and checkpoint, to the next.
        held_out: share of the speakers held out for validation, which chooses the checkpoint.
        seed: of all random draws.
    """

    rate: float = 1e-3
    decay: float = 0.01
    schedule: Cyclical = field(default_factory=Cyclical)
    steps: int = 20_000
    every: int = 200
    held_out: float = 0.04
    seed: int = 0
