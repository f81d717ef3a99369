"""Terminal view of ``voicenym live``: state, level, load, drop-outs, delay."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from voicenym.errors import counted

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.live.live_state import LiveStatus

KEYS = "m mute   space stop   r resume   q end"
WITHOUT = "without the devices (--measure measures all)"
METER = 30
"""Width of the level meter in characters."""
QUIETEST = -60.0
"""Level in dB of full scale at which the meter is empty."""


class LiveView:
    """Shows a session in one panel; messages are printed above it.

    Where standard error is no terminal, only messages are printed.

    Args:
        system: its name.
        rate: sample rate in Hz.
        margin: samples that wait for late blocks.
        say: where messages go.
        without: what the shown delay leaves out.
    """

    def __init__(
        self, system: str, rate: int, margin: int, say: Messages, without: str = WITHOUT
    ) -> None:
        self._system, self._rate, self._margin, self._say = system, rate, margin, say
        self._without = without
        self._live: Any = None

    def __enter__(self) -> LiveView:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=10)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, status: LiveStatus, latency: int, messages: list[str]) -> None:
        """Show a moment.

        Args:
            status: of the engine.
            latency: of the system, in samples.
            messages: new ones.
        """
        for message in messages:
            self._say.warn(message)
        if self._live is not None:
            self._live.update(
                panel(self._system, self._rate, self._margin, status, latency, self._without)
            )


def panel(
    system: str,
    rate: int,
    margin: int,
    status: LiveStatus,
    latency: int,
    without: str = WITHOUT,
) -> Any:
    """The view of one moment, for rich."""
    from rich.panel import Panel
    from rich.table import Table

    state = status.state.value + (", muted" if status.muted else "")
    sounds = state == "running"
    grid = Table.grid(padding=(0, 2))
    inner = 1000 * (latency + 2 * status.block + margin) / rate
    rows = (
        ("state", f"[{'green' if sounds else 'red'}]{state}[/]"),
        ("level", meter(status.level)),
        ("delay", f"{inner:.0f} ms {without}"),
        ("load", f"{100 * status.load:.0f} % of one core, at most {100 * status.peak_load:.0f} %"),
        ("drop-outs", f"{status.dropouts} of {status.blocks} blocks"),
        (
            "faults",
            f"{counted(status.overloads, 'overload')}, {counted(status.failures, 'failure')}, "
            f"{counted(status.losses, 'lost device')}",
        ),
    )
    for row in rows:
        grid.add_row(*row)
    return Panel(grid, title=f"voicenym live: {system}", subtitle=KEYS, expand=False)


def meter(level: float) -> str:
    """Bar of a level in dB of full scale."""
    if math.isinf(level):
        return "·" * METER + " silence"
    full = round(METER * min(1.0, max(0.0, 1.0 - level / QUIETEST)))
    return "█" * full + "·" * (METER - full) + f" {level:.0f} dB"
