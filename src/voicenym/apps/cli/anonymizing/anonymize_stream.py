"""``voicenym anonymize -``: one recording from standard input to standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.apps.cli.anonymizing.batch_report import fallback_sentence
from voicenym.apps.cli.terminal.standard_output import for_sound_alone
from voicenym.errors import VoicenymError
from voicenym.temporary import folder_for_temporary_files

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem

MOST_PIPED = 2 << 30
"""Largest number of bytes of standard input, which is kept in memory and never on disk."""


def anonymize_stream(
    system: RunSystem, options: RunOptions, output: Path | None, speaker: str | None
) -> None:
    """Anonymizes standard input to standard output, which stays empty if anything fails.

    Args:
        system, options: of the run.
        output: file to write instead; None and ``-`` for standard output.
        speaker: who speaks; None for a speaker of this recording alone.

    Raises:
        VoicenymError: no recording, or one that cannot be anonymized or written.
    """
    import io
    import shutil
    import tempfile
    from functools import partial

    from voicenym.audio.atomic import write_failed
    from voicenym.corpus.batches.single_file import anonymize_file
    from voicenym.corpus.readers.name_encoding import check_encoding
    from voicenym.corpus.readers.speaker_rule import own_of

    check_encoding([speaker or ""])
    data = sys.stdin.buffer.read(MOST_PIPED + 1)
    if len(data) > MOST_PIPED:
        raise VoicenymError("standard input: over 2 GiB; give such a recording as a file")
    if not data:
        raise VoicenymError("standard input: empty; pipe a recording in, or give a file name")

    class Recording(io.BytesIO):
        name = "standard input"  # in messages

    pseudonym = system.key.pseudonym(speaker or own_of(data))
    anonymizer, other = system.anonymizer, system.loaded_fallback()
    make = partial(anonymize_file, anonymizer, pseudonym, lenient=options.lenient, fallback=other)
    if output is not None and str(output) != "-":
        result = make(Recording(data), output, overwrite=options.overwrite)
    else:
        if sys.stdout.isatty():
            raise VoicenymError(
                "standard output is a terminal; send the sound to a file with > FILE"
            )
        with (
            for_sound_alone() as output_file,
            tempfile.TemporaryFile(dir=folder_for_temporary_files()) as spool,
        ):
            result = make(Recording(data), spool)
            spool.seek(0)
            try:
                shutil.copyfileobj(spool, output_file)
                output_file.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise write_failed("standard output", error) from error
    say = options.say
    if result.refusal is not None and other is not None:
        say.warn(fallback_sentence("standard input", result.refusal, anonymizer.card, other.card))
    for warning in result.warnings:
        say.warn(warning)
    system.conclude(say, 1, int(result.refusal is not None))
