"""Names of speakers that look alike: probably one person, who would get several voices."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from voicenym.corpus.readers.speaker_rule import is_own
from voicenym.errors import printable

FEW = 5
"""Most groups of names that are reported one by one."""


def similar_names(speakers: Iterable[str]) -> list[list[str]]:
    """Groups of different names that are equal but for capitals, blanks and the form of letters.

    Names are compared exactly where voices are drawn. A file system of macOS may give the umlaut of
    a name as two characters (NFD) and one of Linux as one (NFC): people see no difference.

    Args:
        speakers: names, in any order and number; those of single files are left out.
    """
    alike: dict[str, set[str]] = {}
    for speaker in speakers:
        if not is_own(speaker):
            plain = unicodedata.normalize("NFKC", speaker).casefold()
            alike.setdefault(" ".join(unicodedata.normalize("NFKC", plain).split()), set()).add(
                speaker
            )
    return [sorted(names) for _, names in sorted(alike.items()) if len(names) > 1]


def report(speakers: Iterable[str]) -> list[str]:
    """Warnings on names that look alike, each a sentence."""
    groups = similar_names(speakers)
    lines = [
        f"{_shown(names)} are {len(names)} speakers with a voice each, because names are compared "
        "exactly; if they are one person, give the folders or ids one name before"
        for names in groups[:FEW]
    ]
    if len(groups) > FEW:
        lines.append(f"so are {len(groups) - FEW} more groups of names that look alike")
    return lines


def _shown(names: list[str]) -> str:
    """Names in quotation marks; letters outside of ASCII as their numbers where names that are
    equal in Unicode would be shown alike.
    """
    forms = {unicodedata.normalize("NFC", name) for name in names}
    show = repr if len(forms) == len(names) else ascii
    return " and ".join(printable(show(name)) for name in names)
