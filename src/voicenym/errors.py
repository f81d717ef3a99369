"""Exceptions for errors that a user can mend; messages name the file and the cure.

Every error that a user can cause or mend is a :class:`VoicenymError`; the command line prints its
message and exits with a status other than zero. Anything else that is raised is a defect of ours.
"""

from __future__ import annotations

import errno
import os
import re

LONGEST = 255
"""Longest quoted word of an input: the length limit of file names."""


class VoicenymError(Exception):
    """Base class of errors that a user can mend; the message names the object and the cure.

    Quoted input longer than a file name is shortened.

    Attributes:
        details: lines of the message, where it has several; those of a file's name are none.
    """

    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _LONG.sub(lambda found: f"{found[0][:60]}...", super().__str__())


_LONG = re.compile(rf"[^\s/]{{{LONGEST + 1},}}")


def quoted(text: str, most: int = 80) -> str:
    """Text of an input, quoted for a message; plain short text is unchanged.

    Args:
        text: from a file, or from the command line.
        most: characters; longer text is cut.
    """
    if len(text) > most:
        return f"{text[:most]!r}..."
    return text if text.isprintable() else repr(text)


def counted(number: int, one: str, several: str = "") -> str:
    """A number and what it counts, in the singular for one.

    Args:
        number: how many.
        one: noun, or noun and verb, in the singular.
        several: the same in the plural; empty for ``one`` with an s.

    Example:
        >>> counted(1, "channel"), counted(2, "channel"), counted(0, "file was", "files were")
        ('1 channel', '2 channels', '0 files were')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def printable(text: str) -> str:
    """Text for messages and lists, with control characters escaped: a stranger's file name would
    else write lines of its own, or move the cursor of a terminal.
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable_page(page: str) -> str:
    """A page of many lines, such as HTML, with the characters of names in it escaped that no page
    may have: control characters, halves of characters, and those that turn the direction of text.
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], page)


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


_CURES = {
    errno.EACCES: "ask its owner for permission, or choose another place",
    errno.EPERM: "ask its owner for permission, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOTDIR: "a part of the path is a file; check the name",
    errno.ELOOP: "its links lead in a circle; check where they lead",
    errno.EEXIST: "a file is in the way; choose another name",
    errno.ENOSPC: "free some space and run again",
    errno.EDQUOT: "free some space and run again",
}


def of_path(error: OSError) -> VoicenymError | None:
    """Message on a path that the system refuses, for what no other message foresaw; None if the
    error names no path, or its cause may be a defect of ours.
    """
    cure = _CURES.get(error.errno or 0)
    if cure is None or error.filename is None:
        return None
    return VoicenymError(f"{os.fsdecode(error.filename)}: {error.strerror}; {cure}")


def check_path(path: str | os.PathLike[str]) -> None:
    """Checks that the system can tell what lies at a path, if anything: from Python 3.14 on,
    ``Path.exists`` and ``is_dir`` take a path that it refuses for one where nothing lies.

    Raises:
        OSError: the name is too long, or a folder may not be searched.
    """
    try:
        os.stat(path)
    except ValueError:  # a character that no path has
        return
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.EACCES):
            raise


class AudioError(VoicenymError):
    """A recording that cannot be read, written or anonymized as it is."""


class DiskFullError(AudioError):
    """A file that cannot be written, since its disk is full, or its owner's share of it."""


FULL = (errno.ENOSPC, errno.EDQUOT)
"""Numbers of errors of a disk that is full."""


class KeyFileError(VoicenymError):
    """A key file that is missing, malformed, or would be overwritten."""


class UnknownSystemError(VoicenymError):
    """A system name or a parameter that the registry does not know."""


class WeightsError(VoicenymError):
    """Weights of a system are missing; the message names the command that creates them."""


class RefusedError(VoicenymError):
    """A recording that its system does not suit; the message names the reason and the cure."""


class CorpusError(VoicenymError):
    """Inconsistent folder, Kaldi data folder or manifest."""


class DependencyError(VoicenymError):
    """An optional dependency is missing; the message names the extra that brings it."""


class ScoreError(VoicenymError):
    """Scores for which no metric can be computed; the message names the trial."""


class UnmeasurableError(ScoreError, ValueError):
    """Texts or signals of which a figure cannot be computed: an evaluation leaves it out, and says
    so.
    """


class DiarizationError(VoicenymError):
    """Turns of speakers that cannot be read, found, or do not fit their recording."""


class RedactionError(VoicenymError):
    """Words that cannot be found, placed in time or removed for certain; nothing is written."""
