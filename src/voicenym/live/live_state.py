"""States and counters of a live session."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """What a live session does; sound goes out in ``RUNNING`` only."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"
    """By the user (panic); until resumed."""
    OVERLOADED = "overloaded"
    FAILED = "failed"
    LOST = "device lost"
    ENDED = "ended"
    """For good: it failed or was overloaded too often."""


@dataclass(frozen=True)
class LiveStatus:
    """Counters of a live session at one moment.

    Attributes:
        state: what it does.
        muted: whether the user has muted it.
        block: samples that the system gets at once.
        load: share of the time that the system computes, of the last second or so.
        peak_load: largest time of a block by its length.
        blocks: output blocks since the first sound, without those of a stop or a lost device.
        dropouts: those of them with missing samples, all those after overloads and failures.
        skipped: output samples dropped because too many waited (clocks differ).
        overloads, failures, losses: how often each happened.
        level: root mean square of the last output, in dB of full scale.
    """

    state: State
    muted: bool
    block: int
    load: float
    peak_load: float
    blocks: int
    dropouts: int
    skipped: int
    overloads: int
    failures: int
    losses: int
    level: float
