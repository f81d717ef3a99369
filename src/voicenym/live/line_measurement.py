"""Measured line: delay, drop-outs and load of a session over a loopback."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy

from voicenym.errors import VoicenymError, counted
from voicenym.live.live_engine import LiveEngine
from voicenym.live.loopback_chirp import LoopbackProbe


@dataclass(frozen=True)
class LineMeasurement:
    """What was measured over a line.

    Attributes:
        system: its name.
        rate: in Hz.
        seconds: length of the measurement.
        block, margin, algorithm: block, margin and the system's own latency, in milliseconds.
        delay: median of the whole line with both devices, in milliseconds.
        least_delay, most_delay: of all chirps.
        heard, missed: chirps that were found, and not.
        blocks, dropouts: blocks of the output, and those of them with missing samples, all those
            after overloads and failures included.
        gaps: blocks at which a device reported lost samples.
        skipped: samples dropped because too many waited.
        overloads, failures, losses: how often each happened.
        load, peak_load: share of one core that the system needed, lately, and of one block at most.
        processors, machine_load: processors of the machine, and processes that wanted one, on
            average over the last minute; None where the system does not say.
        messages: those of the session.
    """

    system: str
    rate: int
    seconds: float
    block: float
    margin: float
    algorithm: float
    delay: float
    least_delay: float
    most_delay: float
    heard: int
    missed: int
    blocks: int
    dropouts: int
    gaps: int
    skipped: int
    overloads: int
    failures: int
    losses: int
    load: float
    peak_load: float
    processors: int | None
    machine_load: float | None
    messages: list[str]

    def as_record(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """Lines for a terminal."""
        share = self.dropouts / self.blocks if self.blocks else float("nan")
        there = "" if self.processors is None else counted(self.processors, "processor")
        machine = "" if self.machine_load is None else f", {self.machine_load:.1f} wanted"
        lines = [
            f"{self.system} at {self.rate} Hz for {self.seconds:g} s",
            f"delay      {self.delay:.1f} ms ({self.least_delay:.1f} to {self.most_delay:.1f}) by "
            f"{counted(self.heard, 'chirp')}, {self.missed} missed",
            f"of which   {self.algorithm:.1f} ms system, {self.block:g} ms blocks, "
            f"{self.margin:g} ms margin",
            f"drop-outs  {self.dropouts} of {self.blocks} blocks ({share:.2g}); "
            f"{1000 * self.skipped / self.rate:.0f} ms skipped to catch up; "
            f"{counted(self.gaps, 'gap')} of devices",
            f"faults     {counted(self.overloads, 'overload')}, "
            f"{counted(self.failures, 'failure')}, "
            f"{counted(self.losses, 'lost device')}",
            f"load       {100 * self.load:.0f} % of one core, at most {100 * self.peak_load:.0f} % "
            f"of a block ({there or 'processors unknown'}{machine})",
        ]
        return "\n".join([*lines, *self.messages])


def measured_line(
    system: str,
    engine: LiveEngine,
    probe: LoopbackProbe,
    seconds: float,
    gaps: int,
    messages: list[str],
) -> LineMeasurement:
    """What a session has measured.

    Args:
        system: its name.
        engine, probe: of the session.
        seconds: length of the measurement.
        gaps: those that devices reported.
        messages: those of the session.

    Raises:
        VoicenymError: no chirp was heard.
    """
    if not probe.delays:
        raise VoicenymError(
            "no chirp was heard: connect the output with the input (by a cable, a virtual device, "
            "or a loudspeaker before the microphone), or give --virtual-microphone"
        )
    status = engine.status()
    delays = 1000.0 * numpy.array(probe.delays)
    milliseconds = 1000.0 / engine.rate
    return LineMeasurement(
        system,
        engine.rate,
        seconds,
        status.block * milliseconds,
        engine.margin * milliseconds,
        engine.lag * milliseconds,
        float(numpy.median(delays)),
        float(delays.min()),
        float(delays.max()),
        len(delays),
        probe.missed,
        status.blocks,
        status.dropouts,
        gaps,
        status.skipped,
        status.overloads,
        status.failures,
        status.losses,
        status.load,
        status.peak_load,
        os.cpu_count(),
        os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        messages,
    )
