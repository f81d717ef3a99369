"""``voicenym compare``: systems of several reports side by side."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.errors import VoicenymError


def compare(
    reports: list[Path] = typer.Argument(help="Folders that voicenym evaluate wrote."),
) -> None:
    """Systems of several reports side by side, with the significance of each difference.

    Differences are tested pair by pair where systems were tried on the same people.
    """
    from voicenym.evaluation import results, saved_scores
    from voicenym.evaluation.comparison import compare as compared

    found = [(str(path), results.load(path), saved_scores.load(path)) for path in reports]
    if sum(len(evaluation.systems) for _, evaluation, _ in found) < 2:
        raise VoicenymError("one system only: name two reports, or one of several systems")
    typer.echo(compared(found))
