"""``voicenym compare``: systems of several reports side by side."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.command_group import command, new_app
from voicenym.errors import VoicenymError

app = new_app()


@command(
    app,
    "voicenym compare report-1/ report-2/",
)
def compare(
    reports: list[Path] = typer.Argument(help="Folders that voicenym evaluate wrote."),
) -> None:
    """Compare the systems of several reports.

    Each difference has an interval and a p-value, from a paired bootstrap where both systems were
    measured on the same speakers.
    """
    from voicenym.evaluation import results, saved_scores
    from voicenym.evaluation.comparison import compare as compared

    found = [(str(path), results.load(path), saved_scores.load(path)) for path in reports]
    if sum(len(evaluation.systems) for _, evaluation, _ in found) < 2:
        raise VoicenymError("one system only: name two reports, or one of several systems")
    typer.echo(compared(found))
