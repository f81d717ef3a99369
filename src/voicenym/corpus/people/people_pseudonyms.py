"""Pseudonyms of the people in one recording."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from voicenym.corpus.readers.speaker_rule import own
from voicenym.diarization.formats.turn_names import is_named
from voicenym.pseudonym import Key, Pseudonym

UNSURE = ""
"""Voice of hidden parts of which nobody knows who speaks; no label is empty."""


def pseudonyms_of(
    people: Iterable[str], key: Key, source: str | os.PathLike[str]
) -> dict[str, Pseudonym]:
    """Pseudonyms of the people in a recording.

    That of a named person follows from the key and the name, as ``--speaker`` does it; that of a
    label which names nobody, from the key, the recording's content and the label.

    Args:
        people: labels, or :data:`UNSURE`.
        key: of the run.
        source: the recording.
    """
    alone = own(Path(source))
    return {
        who: key.pseudonym(who if is_named(who) and who != UNSURE else f"{alone}/{who}")
        for who in people
    }
