"""Names of speakers that a locale of another encoding than UTF-8 would turn into other texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from voicenym.errors import CorpusError, printable


def check_encoding(names: Iterable[str], encoding: str | None = None) -> None:
    """Refuses names that were decoded by another encoding than that of their bytes.

    A voice follows from the text of a name. In a locale such as ``de_DE@euro``, Python takes the
    two bytes of an umlaut in UTF-8 for two letters, so that one folder would have one voice here
    and another one on other machines.

    Args:
        names: of speakers, from folders or the command line.
        encoding: that decoded them; by default that of this process.

    Raises:
        CorpusError: the encoding is not UTF-8, and the bytes of a name are.
    """
    encoding = encoding or sys.getfilesystemencoding()
    if encoding.lower().replace("-", "") == "utf8":
        return
    for name in names:
        if not name.isascii() and _is_utf_8(name, encoding):
            raise CorpusError(
                f"{printable(name)}: this name is in UTF-8, and the locale in {encoding}, so that "
                "its speaker would have another voice than on other machines; run the command with "
                "PYTHONUTF8=1 in the environment, or with LC_ALL=C.UTF-8"
            )


def _is_utf_8(name: str, encoding: str) -> bool:
    """Whether the bytes of a name are UTF-8, but for a locale without letters beyond ASCII: its
    surrogates give the same voice as the text.
    """
    if any("\udc80" <= letter <= "\udcff" for letter in name):
        return False
    try:
        name.encode(encoding, sys.getfilesystemencodeerrors()).decode("utf-8")
    except (UnicodeError, LookupError):
        return False
    return True
