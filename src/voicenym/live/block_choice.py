"""Choice of the block length that a machine holds: a system's time per block, measured."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voicenym.errors import VoicenymError
from voicenym.live.warm_stream import buzz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voicenym.anonymizer.stream import Stream

LENGTHS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
"""Block lengths in seconds, shortest first."""
OF_DEVICES = (0.008, 0.007)
"""Block lengths in seconds that are tried for devices as well: they are hops of some systems
(``vtln`` and ``pv-tsm``; ``pv-tsm`` with a short delay), whose frames are complete sooner than with
blocks of 10 ms.
"""
WORTH = 0.25
"""Share of a block that another length must save: shorter blocks cost more time and are late more
often.
"""
MOST_LOAD = 0.5
"""Share of the time that a system may compute, of all but the slowest tenth of steps."""
TRIALS = 24
"""Blocks of each length that are timed, after the stream has begun to give samples."""
STEPS = 8
"""Of them, those that give samples at least: a system with steps longer than the block computes and
gives at every tenth block, say."""
MOST_TRIALS = 400
"""Blocks after which the others are not waited for."""
AT_ITS_TIME = 1.5
"""Most time of a step that begins when its sound is there, over that of one right after another:
between them other programs get the processor's caches.
"""


@dataclass(frozen=True)
class BlockChoice:
    """A block length and what it costs.

    Attributes:
        block: in samples.
        load: share of the time that the system computed, at the 90th percentile of its steps.
        lag: samples by which the system's output lagged behind blocks of this length, at most. The
            stream's ``latency`` holds for blocks of any length, and may be longer.
        tried: loads of shorter ones that the machine does not hold, by length in samples.
        wait: samples that must be kept because a step of the system takes longer than a block; 0
            for steps of about a block.
    """

    block: int
    load: float
    lag: int
    tried: dict[int, float]
    wait: int = 0

    @property
    def delay(self) -> int:
        """Samples from a sound to its answer: the block that is gathered, lag and wait."""
        return self.block + self.lag + self.wait


def choose_block(
    make_stream: Callable[[], Stream],
    rate: int,
    shortest: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
    others: Sequence[float] = (),
) -> BlockChoice:
    """The shortest block that the system processes in :data:`MOST_LOAD` of its length.

    Where that is the first of :data:`LENGTHS`, ``others`` are tried as well, and that of the least
    delay is chosen, if it saves :data:`WORTH` of a block.

    Args:
        make_stream: makes a stream with one row at ``rate``.
        rate: sample rate in Hz.
        shortest: length in seconds with which to begin; the lengths of :data:`LENGTHS` follow.
        clock: seconds, rising.
        others: lengths in seconds beside the first one; not used with ``shortest``.

    Raises:
        VoicenymError: the machine holds none.
    """
    _load(make_stream, rate, max(1, round(LENGTHS[1] * rate)), clock)  # the first use is slower
    tried: dict[int, float] = {}
    seconds = [shortest] if shortest else []
    for length in [*seconds, *(one for one in LENGTHS if one > shortest)]:
        block = max(1, round(length * rate))
        load, lag, wait = _load(make_stream, rate, block, clock)
        if load <= MOST_LOAD:
            held = BlockChoice(block, load, lag, tried, wait)
            return held if tried or shortest else _soonest(held, make_stream, rate, clock, others)
        tried[block] = load
    least = min(tried.values())
    raise VoicenymError(
        f"this machine needs {least:.2g} s for a second of sound, and {MOST_LOAD:g} s is what a "
        "live line can give without drop-outs; choose a faster system, such as -s mcadams"
    )


def _soonest(
    held: BlockChoice,
    make_stream: Callable[[], Stream],
    rate: int,
    clock: Callable[[], float],
    others: Sequence[float],
) -> BlockChoice:
    """A held block, or one of other lengths with clearly less delay."""
    best = held
    for length in others:
        block = max(1, round(length * rate))
        load, lag, wait = _load(make_stream, rate, block, clock)
        other = BlockChoice(block, load, lag, {}, wait)
        if load <= MOST_LOAD and other.delay <= best.delay - WORTH * best.block:
            best = other
    return best


def _load(
    make_stream: Callable[[], Stream], rate: int, block: int, clock: Callable[[], float]
) -> tuple[float, int, int]:
    """Share of the time that a system computes, at the 90th percentile of its steps; its lag; and
    what must be kept while it computes.
    """
    stream = make_stream()
    sound = buzz(block, rate)
    warming = -(-stream.latency // block) + 3
    times: list[float] = []
    # a step ends with a block that gives samples: some systems compute at every tenth block only
    slowest: list[float] = []
    shares: list[float] = []
    step: list[float] | None = None  # the first may have begun while the stream warmed up
    waiting = lag = number = 0
    while len(times) < TRIALS or (len(slowest) < STEPS and len(times) < MOST_TRIALS):
        begun = clock()
        given = stream.push(sound)
        waiting += block - len(given)
        lag = max(lag, waiting)
        if number >= warming:
            times.append(clock() - begun)
            if step is not None:
                step.append(times[-1])
            if len(given):
                slowest.append(times[-1])
                shares += [sum(step) / len(step)] if step else []
                step = []
        number += 1
    usual, slow = (sorted(x or times)[int(0.9 * len(x or times))] for x in (shares, slowest))
    wait = max(0, math.ceil(AT_ITS_TIME * slow * rate) - block)
    # at least as much as all blocks together took
    return max(usual, sum(times) / len(times)) * rate / block, lag, wait
