"""Entry points: declarations of this package and of installed ones under a group's name.

A package declares a group in its ``pyproject.toml``, here one system::

    [project.entry-points."voicenym.systems"]
    whisper = "their_package.whisper:Whisper"

Nothing in the current folder is read: a folder of recordings may hold the metadata of a package
that was never installed.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from voicenym.isolation import ROOT, search_path

OURS = "voicenym"
"""The name of this package."""
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
"""Names that can stand in ``name:field=value`` and in key files."""


@dataclass(frozen=True)
class EntryPoint:
    """One declaration.

    Args:
        name: that is declared.
        place: of the object, ``"module:Attribute"``.
        package: that declares it.
    """

    name: str
    place: str
    package: str


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Declarations of a group, those of this package first; imports no package.

    Warns:
        RuntimeWarning: a package's metadata cannot be read; it is left out.
    """
    return (*_own(group), *_others(group, tuple(_folders())))


def _folders() -> list[str]:
    """Folders of installed packages: the search path without the current folder."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = ""
    entries = search_path(sys.path)
    return [entry for entry in entries if entry == ROOT or os.path.realpath(entry) != here]


@cache
def _own(group: str) -> tuple[EntryPoint, ...]:
    """Declarations of this package: a checkout's ``pyproject.toml``, else the installed metadata.

    The metadata of an editable installation may be older than the checkout.
    """
    import tomllib

    project = Path(ROOT).parent / "pyproject.toml"
    if Path(ROOT).name == "src" and project.is_file():
        found = tomllib.loads(project.read_text("utf-8")).get("project", {})
        if found.get("name") == OURS:
            declared = found.get("entry-points", {}).get(group, {})
            return tuple(EntryPoint(name, place, OURS) for name, place in sorted(declared.items()))
    from importlib.metadata import Distribution

    for one in Distribution.discover(name=OURS, path=[ROOT, *_folders()]):
        declared = {item.name: item.value for item in one.entry_points.select(group=group)}
        return tuple(EntryPoint(name, place, OURS) for name, place in sorted(declared.items()))
    return ()


@lru_cache(maxsize=32)
def _others(group: str, folders: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Other packages' declarations, by the package's name."""
    from importlib.metadata import Distribution

    named: set[str] = set()
    for one in Distribution.discover(path=list(folders)):
        try:
            if f"[{group}]" in (one.read_text("entry_points.txt") or ""):
                named.add(one.metadata["Name"])
        except (OSError, ValueError) as error:
            _warn(str(getattr(one, "_path", "a package")), error)
    found = []
    for package in sorted(named - {OURS}):
        # the first of that name on the path is the one that is imported
        for one in Distribution.discover(name=package, path=list(folders)):
            try:
                declared = {item.name: item.value for item in one.entry_points.select(group=group)}
            except (OSError, ValueError) as error:
                _warn(package, error)
                break
            found += [
                EntryPoint(name, place, package)
                for name, place in sorted(declared.items())
                if _is_name(name, package)
            ]
            break
    return tuple(found)


def _is_name(text: str, package: str) -> bool:
    fits = NAME.fullmatch(text) is not None
    if not fits:
        _warn(package, f"no name: {text[:80]!r}")
    return fits


def _warn(package: str, why: object) -> None:
    warnings.warn(
        f"{package}: an entry point cannot be read ({why}) and is left out: update {package}",
        RuntimeWarning,
        stacklevel=2,
    )
