"""``voicenym cards``: measured figures onto the systems' cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app

app = new_app()


@command(app, "voicenym cards --update report/")
def update(
    report: Path = typer.Option(..., "--update", help="A report of voicenym evaluate."),
    add: bool = typer.Option(
        False, "--add", help="Keep the cards' figures of the same data; put the attackers in."
    ),
    words: bool = typer.Option(
        False, "--words", help="Put in the figures of words and phones alone."
    ),
    speed: bool = typer.Option(False, "--speed", help="Put in the figures of speed alone."),
    naturalness: bool = typer.Option(
        False, "--naturalness", help="Put in the figures of naturalness alone."
    ),
    file: Path | None = typer.Option(
        None,
        "--file",
        help="figures.json of another package, beside the module of its systems, to write to.",
    ),
    root: Path | None = typer.Option(
        None, "--readme", help="README.md whose table is to be written too."
    ),
) -> None:
    """Write a report's figures to the systems' cards.

    Cards have figures of default settings and bundled weights only: others are left out. Figures
    of evaluate --live stand beside those of whole recordings. With --readme also to the table of a
    README. Figures are never written by hand. The author of another package's system writes its
    figures with --file.
    """
    from voicenym.evaluation import card_figures, card_table, results_file

    if add + words + speed + naturalness > 1:
        raise typer.BadParameter("give one of --add, --words, --speed and --naturalness")
    if file is not None and root is not None:
        raise typer.BadParameter("--readme is of voicenym's own cards; leave it, or --file, out")
    evaluation = results_file.load(report)
    place: dict[str, Any] = {} if file is None else {"file": file}
    if words:
        written = card_figures.write_words(evaluation, **place)
    elif speed:
        written = card_figures.write_speed(evaluation, **place)
    elif naturalness:
        written = card_figures.write_naturalness(evaluation, **place)
    else:
        written = card_figures.write(evaluation, add=add, plugins=file is not None, **place)
    typer.echo(f"wrote {written}")
    if others := card_figures.left_out(evaluation):
        names = ", ".join(others)
        typer.echo(
            "left out, since cards have figures of default settings and bundled weights only: "
            f"{names}"
        )
    if root is not None:
        some = add or words or speed or naturalness
        card_table.write_readme(root, None if some else evaluation)
        typer.echo(f"wrote {root}")
