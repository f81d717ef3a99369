"""Checks of the place of an output: not the input itself, and below the output folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from voicenym.errors import AudioError, CorpusError

if TYPE_CHECKING:
    from voicenym.corpus.plans.file_plan import Item

Source = str | os.PathLike[str] | BinaryIO


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are the same file, also through links."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return Path(one).resolve() == Path(other).resolve()


def check_target(source: Source, target: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuses a target that is the source, a folder, or a file that may not be replaced.

    Raises:
        AudioError: with the reason.
    """
    if not os.path.lexists(target):
        return
    if isinstance(source, (str, os.PathLike)) and same_file(source, target):
        raise AudioError(
            f"{os.fspath(target)}: the output is the input itself; choose another name with -o, "
            "so that the original is never replaced"
        )
    if Path(target).is_dir():
        raise AudioError(f"{os.fspath(target)}: is a folder; give a file name with -o")
    if not overwrite:
        raise AudioError(
            f"{os.fspath(target)}: exists already; add --overwrite to replace it, or choose "
            "another name with -o"
        )


def check_other_inputs(
    targets: Iterable[str | os.PathLike[str]], inputs: Mapping[str, str | os.PathLike[str] | None]
) -> None:
    """Refuses a target that is another input of the command, also if files may be replaced.

    Args:
        targets: files to write.
        inputs: files that the command reads, by the name of their option; None for one that is not
            given.

    Raises:
        AudioError: with the option.
    """
    for target in targets:
        for option, path in inputs.items():
            if path is not None and os.path.lexists(target) and same_file(path, target):
                raise AudioError(
                    f"{os.fspath(target)}: is the file of {option}, which would be lost; choose "
                    "another name"
                )


def check_inside(items: Iterable[Item], output: Path) -> None:
    """Checks that all outputs lie below the output folder, also after resolving links.

    Raises:
        CorpusError: an output lies outside; the message names it and its real path.
    """
    root = output.resolve()
    folders: dict[Path, Path] = {}
    for item in items:
        folder = item.target.parent
        if folder not in folders:
            folders[folder] = folder.resolve()
        if not folders[folder].is_relative_to(root):
            raise CorpusError(
                f"{item.target}: would be written to {folders[folder]}, outside {output}; remove "
                "the link, or choose a new folder with -o"
            )
