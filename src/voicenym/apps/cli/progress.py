"""What a long command says of itself: how far it is, and at the end what came of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from voicenym.evaluation.results import Evaluation


class Progress:
    """What is being done, and how far it is: a spinner on a terminal, lines elsewhere."""

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


def summary(evaluation: Evaluation) -> str:
    """Warnings, and a line for each system."""
    lines = [f"warning: {warning}" for warning in evaluation.warnings]
    for system in evaluation.systems:
        top, eer = system.strongest, system.strongest.eer
        lines.append(
            f"{system.name}: EER {eer.value:.1f} % ({eer.low:.1f} to {eer.high:.1f}) against the "
            f"strongest attacker here ({top.attacker}, {top.verifier}); 50 % would be a guess"
        )
    return "\n".join(lines)
