"""Progress of a long command."""

from __future__ import annotations

import sys
from typing import Any

import typer


class Progress:
    """Progress of a long command: a spinner on a terminal, lines elsewhere.

    The spinner's line shows the current step, its time, and the number of finished recordings.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._done = 0
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
        if self._bar is not None:
            self._bar.reset(self._task, description=text, total=None)  # the time starts anew
        elif not self._quiet:
            typer.echo(text, err=True)

    def done(self, count: int) -> None:
        """Counts embedded recordings."""
        self._done += count
        if self._bar is not None:
            self._bar.update(self._task, done=f"{self._done} recordings so far")
