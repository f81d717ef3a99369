"""``voicenym anonymize -``: one recording from standard input to standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.apps.cli.batch_report import Messages
    from voicenym.pseudonym import Key

MOST_PIPED = 2 << 30
"""Largest number of bytes of standard input, which is kept in memory and never on disk."""


def anonymize_stream(
    anonymizer: Any,
    key: Key,
    output: Path | None,
    speaker: str | None,
    overwrite: bool,
    lenient: bool,
    say: Messages,
) -> None:
    """Anonymizes standard input to standard output, which stays empty if anything fails."""
    import io
    import shutil
    import tempfile

    from voicenym.corpus.single_file import anonymize_file
    from voicenym.corpus.speaker_rule import own_of

    data = sys.stdin.buffer.read(MOST_PIPED + 1)
    if len(data) > MOST_PIPED:
        raise VoicenymError("standard input: over 2 GiB; give such a recording as a file")
    if not data:
        raise VoicenymError("standard input: empty; pipe a recording in, or give a file name")
    pseudonym = key.pseudonym(speaker or own_of(data))
    if output is not None and str(output) != "-":
        result = anonymize_file(
            anonymizer, pseudonym, io.BytesIO(data), output, overwrite=overwrite, lenient=lenient
        )
    else:
        if sys.stdout.isatty():
            raise VoicenymError(
                "standard output is a terminal; send the sound to a file with > FILE"
            )
        with tempfile.TemporaryFile() as spool:
            result = anonymize_file(anonymizer, pseudonym, io.BytesIO(data), spool, lenient=lenient)
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    for warning in result.warnings:
        say.warn(warning)
