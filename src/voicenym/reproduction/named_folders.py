"""Folders that options of ``voicenym reproduce`` name, as ``NAME=FOLDER``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from voicenym.errors import VoicenymError


def named_folders(texts: Sequence[str], option: str, names: Collection[str]) -> dict[str, Path]:
    """Folders by name, from ``NAME=FOLDER``.

    Args:
        texts: values of the option.
        option: for messages.
        names: that are known.

    Raises:
        VoicenymError: another name, or no folder.

    Example:
        >>> named_folders(["M1=own/"], "--pipeline", ("M1", "M1c1"))
        {'M1': PosixPath('own')}
    """
    found = {}
    for text in texts:
        name, _, place = text.partition("=")
        if name not in names or not place:
            raise VoicenymError(
                f"{option} {text}: give NAME=FOLDER, NAME being one of {', '.join(names)}"
            )
        found[name] = Path(place)
    return found
