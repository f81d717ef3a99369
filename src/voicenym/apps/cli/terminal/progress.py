"""Progress of a long command."""

from __future__ import annotations

import sys
from typing import Any

import typer

EACH = 600.0
"""Seconds of a recording after which a line tells how far a step is, where there is no terminal."""


class Progress:
    """Progress of a long command: a spinner on a terminal, lines elsewhere.

    The spinner's line shows the current step, its time, and the number of finished recordings, or
    how far the step is in its recording.

    Args:
        quiet: whether to show nothing.
        what: is counted.
    """

    def __init__(self, quiet: bool, what: str = "recordings") -> None:
        self._quiet, self._what = quiet, what
        self._done = 0
        self._told = 0.0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if not self._quiet and sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.SpinnerColumn(),
                progress.TextColumn("{task.description}", markup=False),
                progress.TimeElapsedColumn(),
                progress.TextColumn("{task.fields[done]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=None, done="")
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, text: str) -> None:
        self._told = 0.0
        if self._bar is not None:
            # the time starts anew
            self._bar.reset(self._task, description=text, total=None, done=self._counted())
        elif not self._quiet:
            typer.echo(text, err=True)

    def reached(self, seconds: float) -> None:
        """Shows how far the current step is.

        Args:
            seconds: of the recording that are done.
        """
        text = f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02} done"
        if self._bar is not None:
            self._bar.update(self._task, done=text)
        elif not self._quiet and seconds >= self._told + EACH:
            self._told = seconds
            typer.echo(f"  {text}", err=True)

    def done(self, count: int) -> None:
        """Counts what is finished."""
        self._done += count
        if self._bar is not None:
            self._bar.update(self._task, done=self._counted())

    def _counted(self) -> str:
        return f"{self._done} {self._what} so far" if self._done else ""
