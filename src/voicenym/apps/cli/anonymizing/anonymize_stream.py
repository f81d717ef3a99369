"""``voicenym anonymize -``: one recording from standard input to standard output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.apps.cli.anonymizing.batch_report import fallback_sentence
from voicenym.apps.cli.terminal.standard_output import for_sound_alone
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.corpus.batches.fallback import Fallback
    from voicenym.pseudonym import Key

MOST_PIPED = 2 << 30
"""Largest number of bytes of standard input, which is kept in memory and never on disk."""


def check_options(given: Mapping[str, object]) -> None:
    """Refuses options that do nothing on standard input.

    Args:
        given: values of options of files and folders, by name; those that were not given are false.

    Raises:
        VoicenymError: one of them was given.
    """
    for name, value in given.items():
        if value:
            raise VoicenymError(f"{name} is for files and folders, and not for -; leave it out")


def anonymize_stream(
    anonymizer: Any,
    key: Key,
    output: Path | None,
    speaker: str | None,
    overwrite: bool,
    lenient: bool,
    say: Messages,
    fallback: Fallback | None = None,
) -> None:
    """Anonymizes standard input to standard output, which stays empty if anything fails."""
    import io
    import shutil
    import tempfile
    from functools import partial

    from voicenym.anonymizer import load
    from voicenym.audio.atomic import write_failed
    from voicenym.corpus.batches.single_file import anonymize_file
    from voicenym.corpus.readers.speaker_rule import own_of

    data = sys.stdin.buffer.read(MOST_PIPED + 1)
    if len(data) > MOST_PIPED:
        raise VoicenymError("standard input: over 2 GiB; give such a recording as a file")
    if not data:
        raise VoicenymError("standard input: empty; pipe a recording in, or give a file name")

    class Recording(io.BytesIO):
        name = "standard input"  # in messages

    pseudonym = key.pseudonym(speaker or own_of(data))
    other = None if fallback is None else load(fallback.system, **fallback.parameters)
    make = partial(anonymize_file, anonymizer, pseudonym, lenient=lenient, fallback=other)
    if output is not None and str(output) != "-":
        result = make(Recording(data), output, overwrite=overwrite)
    else:
        if sys.stdout.isatty():
            raise VoicenymError(
                "standard output is a terminal; send the sound to a file with > FILE"
            )
        with for_sound_alone() as output_file, tempfile.TemporaryFile() as spool:
            result = make(Recording(data), spool)
            spool.seek(0)
            try:
                shutil.copyfileobj(spool, output_file)
                output_file.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise write_failed("standard output", error) from error
    if result.refusal is not None and other is not None:
        say.warn(fallback_sentence("standard input", result.refusal, anonymizer.card, other.card))
    for warning in result.warnings:
        say.warn(warning)
