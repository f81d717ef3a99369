"""What can go wrong for a user, said in words that name the file and the cure.

Every error that a user can cause or mend is a :class:`VoicenymError`; the command line prints its
message and exits with a status other than zero. Anything else that is raised is a defect of ours.
"""

from __future__ import annotations

import re

LONGEST = 255
"""Characters of a word in a message: the name of a file has no more; what an input says may."""


class VoicenymError(Exception):
    """Base of all errors that a user can mend; the message names the thing and the cure.

    Words of an input that are longer than a file's name can be are quoted in part.
    """

    def __str__(self) -> str:
        return _LONG.sub(lambda found: f"{found[0][:60]}...", super().__str__())


_LONG = re.compile(rf"[^\s/]{{{LONGEST + 1},}}")


def quoted(text: str, most: int = 80) -> str:
    """Words of an input for a message: as they are where they are plain and short.

    Args:
        text: from a file, or from the command line.
        most: characters; of a longer text the beginning is quoted.
    """
    if len(text) > most:
        return f"{text[:most]!r}..."
    return text if text.isprintable() else repr(text)


class AudioError(VoicenymError):
    """A recording that cannot be read, written or anonymized as it is."""


class KeyFileError(VoicenymError):
    """A key file that is missing, malformed, or would be overwritten."""


class UnknownSystemError(VoicenymError):
    """A system name or a parameter that the registry does not know."""


class WeightsError(VoicenymError):
    """Weights that a system needs are not there; the message names the command that makes them."""


class CorpusError(VoicenymError):
    """A folder, Kaldi data folder or manifest that does not hold together."""


class DependencyError(VoicenymError):
    """An optional dependency is missing; the message names the extra that brings it."""


class ScoreError(VoicenymError):
    """Scores that no metric can be computed from; the message names the trial."""
