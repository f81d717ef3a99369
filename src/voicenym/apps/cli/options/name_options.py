"""Options of ``voicenym anonymize`` about names of files."""

from __future__ import annotations

import typer

RENAME = typer.Option(
    False,
    "--rename",
    rich_help_panel="Names",
    help=(
        "Replace names of folders and files, and ids of a data set, by random ones; "
        "remove order and times."
    ),
)
MAPPING = typer.Option(
    None,
    "--mapping",
    rich_help_panel="Names",
    help="With --rename: write the original of each output to this file.",
)
SHOW_NAMES = typer.Option(
    False,
    "--show-names",
    rich_help_panel="Names",
    help="With --rename: print old and new names side by side.",
)
