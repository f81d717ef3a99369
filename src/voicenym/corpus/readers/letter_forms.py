"""Names that Unicode counts as one: an accent in its letter (NFC), or as a character (NFD)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def spelled_as(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    r"""The known name of each name, which both may write in another form.

    File systems of macOS and archives made there give letters with accents as two characters, while
    editors mostly write one; both look alike. A name that is known exactly is itself.

    Args:
        names: of lists, to be found.
        known: of recordings, or of their texts.

    Returns:
        Known names by those of ``names``; without names that are not known, and those that may be
        several known ones.

    Example:
        >>> found = spelled_as(["Jose\u0301", "Ann"], ["Jos\u00e9"])
        >>> found == {"Jose\u0301": "Jos\u00e9"}
        True
    """
    exact = set(known)
    composed: dict[str, list[str]] = {}
    found = {}
    for name in names:
        if name in exact:
            found[name] = name
            continue
        if not composed:
            for other in exact:
                composed.setdefault(unicodedata.normalize("NFC", other), []).append(other)
        alike = composed.get(unicodedata.normalize("NFC", name), [])
        if len(alike) == 1:
            found[name] = alike[0]
    return found


def both_forms(names: Iterable[str]) -> set[str]:
    r"""Names, and the same names in both forms.

    Example:
        >>> len(both_forms(["a"])), len(both_forms(["\u00e9"]))
        (1, 2)
    """
    own = set(names)
    return own.union(*({unicodedata.normalize(f, name) for name in own} for f in ("NFC", "NFD")))
