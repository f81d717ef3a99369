"""Names and labels: which labels name a person, and names that a user gives to labels.

The voice of a named person follows from the key and the name, and is the same in every recording. A
label that a diarizer counts, such as ``speaker-1`` or ``SPEAKER_00``, names nobody: the same label
in another recording is another person, so its voice belongs to this recording alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from voicenym.diarization.speaker_turns import Diarization
from voicenym.errors import DiarizationError

_COUNTED = re.compile(
    r"(?:speaker|spk|spkr|talker|person|participant|voice|channel|cluster|unknown|s|c|sprecher(?:in)?"
    r"|locuteur|locutrice|hablante|falante|parlante|spreker|talare|puhuja)?[\s_.:#-]*"
    r"(?:[0-9]{1,6}|[a-z])?",
    re.IGNORECASE,
)


def is_named(label: str) -> bool:
    """Whether a label names a person, and is not one that a diarizer counts.

    Example:
        >>> [is_named(label) for label in ("anna", "speaker-1", "SPEAKER_00", "B", "7")]
        [True, False, False, False, False]
    """
    return _COUNTED.fullmatch(label) is None


def names_of(options: Sequence[str]) -> dict[str, str]:
    """Names by label, of options ``LABEL=NAME``.

    Raises:
        DiarizationError: an option of another form, or a label that is named twice.
    """
    found: dict[str, str] = {}
    for text in options:
        label, equals, name = text.partition("=")
        label, name = (" ".join(part.split()) for part in (label, name))
        if not equals or not label or not name:
            raise DiarizationError(f"--name {text}: write it as LABEL=NAME, as in speaker-1=anna")
        if label in found:
            raise DiarizationError(f"--name {text}: {label} has a name already; give one")
        found[label] = name
    return found


def renamed(found: Diarization, names: Mapping[str, str]) -> Diarization:
    """Turns with names instead of labels; two labels of one name become one speaker.

    Raises:
        DiarizationError: a label that no turn has.
    """
    for label in names:
        if label not in found.speakers:
            raise DiarizationError(
                f"--name {label}=...: no turn has this label; there are: "
                f"{', '.join(found.speakers)}"
            )
    return found.renamed(dict(names))
