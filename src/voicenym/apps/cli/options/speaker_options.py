"""Options about the people in a recording, of ``voicenym anonymize`` and ``voicenym speakers``."""

from __future__ import annotations

import typer

PANEL = "Several speakers"

NAME = typer.Option(
    [],
    "--name",
    metavar="LABEL=NAME",
    rich_help_panel=PANEL,
    help="Name of the speaker with a label, as in speaker-1=anna; may be repeated.",
)
RTTM = typer.Option(
    None,
    "--rttm",
    metavar="FILE",
    rich_help_panel=PANEL,
    help=(
        "Turns of the speakers (.rttm, .TextGrid, .vtt, .txt of Audacity), as voicenym speakers "
        "writes them: people are hidden one by one, each in a voice of their own."
    ),
)
ONLY = typer.Option(
    [],
    "--only",
    metavar="LABEL",
    rich_help_panel=PANEL,
    help="With --rttm: hide this speaker, and none but those named so; may be repeated.",
)
KEEP = typer.Option(
    [],
    "--keep",
    metavar="NAME",
    rich_help_panel=PANEL,
    help=(
        "With --rttm: do not hide this speaker. Of a data set: also copy this table or field, such "
        "as text. May be repeated."
    ),
)
UNSURE = typer.Option(
    None,
    "--unsure",
    metavar="hide|keep|silence",
    rich_help_panel=PANEL,
    help=(
        "With --rttm: what happens to borders of hidden turns, speech in nobody's turn, and turns "
        "of low confidence; hide unless given."
    ),
)
TIMELINE = typer.Option(
    None,
    "--timeline",
    metavar="FILE.html",
    rich_help_panel=PANEL,
    help="With --rttm: draw what happens when to this file; with --dry-run, too.",
)
