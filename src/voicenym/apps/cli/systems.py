"""``voicenym systems``: what there is, what it needs, costs and protects against."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.command_group import command, new_app

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer, Card, Figure

KEY_HOLDER = "key-holder"
"""Attackers with the user's key are no measure of a system."""


app = new_app()


@command(
    app,
    "voicenym systems",
    "voicenym systems recast",
)
def systems(
    name: str | None = typer.Argument(None, help="Show the card of one system."),
    as_json: bool = typer.Option(False, "--json", help="Print the cards as JSON."),
) -> None:
    """List the systems and what they protect against, or show one."""
    from voicenym.anonymizer import available, system_class

    classes = [system_class(n) for n in ([name] if name else available())]
    cards = [cls.card for cls in classes]
    if as_json:
        rows = [
            {
                **dataclasses.asdict(cls.card),
                "revisions": cls.revisions,
                "judge": cls.judge,
                "figures": [dataclasses.asdict(f) for f in cls.card.figures],
            }
            for cls in classes
        ]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif name:
        _show(classes[0])
    else:
        _table(cards)


def _value(figure: Figure) -> str:
    text = f"{figure.value:.3g} {figure.unit}".strip()
    if figure.low is not None and figure.high is not None:
        text += f" ({figure.low:.3g} to {figure.high:.3g})"
    return text


def strongest(card: Card) -> str:
    """The figure of the strongest attacker that was measured."""
    tried = [
        figure
        for figure in card.figures
        if figure.metric == "EER" and not figure.condition.startswith(KEY_HOLDER)
    ]
    if not tried:
        return "not measured"
    top = min(tried, key=lambda figure: figure.value)
    return f"EER {top.value:.0f} % ({top.condition.split(',')[0]})"


def _metric(card: Card, metric: str) -> str:
    for figure in card.figures:
        if figure.metric == metric:
            return f"{figure.value:.3g} {figure.unit}".strip()
    return "not measured"


def _table(cards: list[Card]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("system", no_wrap=True)
    table.add_column("measured", no_wrap=True)
    for column in ("cost", "WER", "needs", "what it is; protects"):
        table.add_column(column)
    for card in cards:
        table.add_row(
            card.name,
            strongest(card).replace(" (", "\n("),
            _metric(card, "RTF"),
            _metric(card, "WER"),
            card.needs.split(";")[0],
            f"{card.title}; protects: {card.protects}",
        )
    console = Console()
    console.print(table)
    console.print(
        "cost: share of real time on one core. measured: the strongest attacker so far; 50 % is "
        "chance, lower is worse. None of these stops an attacker who trains on its output.",
        highlight=False,
    )


def _show(cls: type[Anonymizer]) -> None:
    from rich.console import Console

    card = cls.card
    console = Console(highlight=False)
    console.print(f"[bold]{card.name}[/bold]  {card.title}")
    console.print(f"{card.paper}\n", markup=False)
    console.print(f"Protects against: {card.protects}", markup=False)
    console.print(f"Needs: {card.needs}", markup=False)
    console.print(
        f"Revisions: {', '.join(map(str, cls.revisions))}; a new key takes the last; outputs are "
        f"compared with inputs by: {cls.judge}",
        markup=False,
    )
    for title, lines in (
        ("Where it fails", card.fails),
        ("Promises", card.promises),
        ("Equations and steps", card.equations),
        ("Approximations", card.approximations),
    ):
        if lines:
            console.print(f"\n{title}:")
            for line in lines:
                console.print(f"  - {line}", markup=False)
    console.print("\nMeasured:")
    figures = sorted(card.figures, key=lambda figure: figure.condition.startswith(KEY_HOLDER))
    for figure in figures:
        text = (
            f"  {figure.metric}, {figure.condition}: {_value(figure)}; {figure.data}, {figure.date}"
        )
        console.print(text, markup=False)
    if not figures:
        console.print("  nothing yet: treat its protection as unknown")
