"""Progress of a long command."""

from __future__ import annotations

import sys
from typing import Any

import typer


class Progress:
    """Progress of a long command: a spinner on a terminal, lines elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._done = 0
        self._text = ""
        self._status: Any = None

    def __enter__(self) -> Progress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, text: str) -> None:
        self._text = text
        if self._status is not None:
            self._status.update(f"{text} ({self._done} recordings so far)")
        elif not self._quiet:
            typer.echo(text, err=True)

    def done(self, count: int) -> None:
        self._done += count
        if self._status is not None:
            self._status.update(f"{self._text} ({self._done} recordings so far)")
