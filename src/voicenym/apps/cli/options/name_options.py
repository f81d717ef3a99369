"""Options of ``voicenym anonymize`` about names of files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class NameOptions:
    """Options about names of files as given.

    Args:
        rename: draw new names.
        mapping: file for the original of each output.
        show_names: print old and new names.
    """

    rename: bool
    mapping: Path | None
    show_names: bool

    @property
    def given(self) -> bool:
        """Whether any of them is."""
        return self.rename or self.mapping is not None or self.show_names
