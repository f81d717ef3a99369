"""``voicenym compare``: systems of several reports side by side."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import Column, field
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.evaluation.comparisons.comparison import Comparison
    from voicenym.metrics.metric import Metric

app = new_app()


@command(app, "voicenym compare report-1/ report-2/")
def compare(
    reports: list[Path] = typer.Argument(help="Folders that voicenym evaluate wrote."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Compare the systems of several reports.

    Each difference has an interval and a p-value, from a paired bootstrap where both systems were
    measured on the same speakers.
    """
    from voicenym.evaluation import results_file
    from voicenym.evaluation.comparisons import saved_scores
    from voicenym.evaluation.comparisons.comparison import compared

    found = [(str(path), results_file.load(path), saved_scores.load(path)) for path in reports]
    if sum(len(evaluation.systems) for _, evaluation, _ in found) < 2:
        raise VoicenymError("one system only: name two reports, or one of several systems")
    comparison = compared(found)
    if as_json:
        typer.echo(json.dumps(_finite(_json(comparison)), indent=2, ensure_ascii=False))
    else:
        _show(comparison)


def _show(comparison: Comparison) -> None:
    from voicenym.evaluation.comparisons.comparison import cells, figure

    def column(metric: Metric[Any]) -> Column:
        return Column(metric.column, lambda record: record[metric.column])

    records = [
        {
            "system": system["system"],
            "attacker": system["attacker"],
            **{metric.column: figure(system, metric) for metric in comparison.metrics},
        }
        for system in comparison.systems
    ]
    first, *others = map(column, comparison.metrics)
    attacker = field("attacker", "strongest attacker", prose=True)
    tables.emit(records, (field("system"), first, attacker, *others))
    for what, pairs in comparison.differences.items():
        typer.echo()
        if tables.is_terminal():
            heading = f"Differences of {what}, in points, with 95 % intervals:"
            typer.echo(tables.wrapped(heading, tables.width()))
            typer.echo()
        differences = [{"figure": what, **cells(pair)} for pair in pairs]
        columns = (
            field("pair", prose=True),
            field("points", right=True),
            *(field(name) for name in ("interval", "p", "test")),
            field("verdict", prose=True),
        )
        tables.emit(differences, columns)
    if tables.is_terminal() and comparison.notes:
        typer.echo()
        for note in comparison.notes:
            typer.echo(tables.wrapped(note, tables.width()))
    elif comparison.notes:
        typer.echo("\n".join(comparison.notes), err=True)


def _json(comparison: Comparison) -> dict[str, Any]:
    return {
        "systems": [
            {
                **system,
                "figures": {
                    name: dataclasses.asdict(found) for name, found in system["figures"].items()
                },
            }
            for system in comparison.systems
        ],
        "differences": {
            what: [dataclasses.asdict(pair) for pair in pairs]
            for what, pairs in comparison.differences.items()
        },
        "notes": comparison.notes,
    }


def _finite(value: Any) -> Any:
    """Values with null in place of infinities and NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
