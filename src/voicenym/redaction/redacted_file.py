"""Writes a recording from which intervals are removed; the file appears when it is complete."""

from __future__ import annotations

import os

from voicenym.audio import open_reader, open_writer
from voicenym.corpus.batches.single_file import Progress, block_size
from voicenym.corpus.plans.output_target import check_target
from voicenym.corpus.recording_checks import changes
from voicenym.redaction.removal import Removal
from voicenym.redaction.sound_removal import removed


def write_redacted(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    removal: Removal,
    way: str,
    *,
    overwrite: bool = False,
    lenient: bool = False,
    progress: Progress | None = None,
) -> tuple[str, ...]:
    """Writes a recording without the intervals of a removal, and without metadata.

    Args:
        source: the recording.
        target: the output; container, codec, rate and channels are kept where it has them.
        removal: after its check.
        way: ``silence`` or ``beep``, also where no word can stand for removed ones.
        overwrite: whether an existing target may be replaced.
        lenient: accept an Ogg without an end mark.
        progress: called with the seconds done after each block.

    Returns:
        Warnings for the user.

    Raises:
        AudioError: a faulty recording or target; nothing is written then.
    """
    check_target(source, target, overwrite)
    with open_reader(source, lenient=lenient) as reader:
        edited = removed(reader, removal.intervals, removal.frames, way, removal.words)
        picture = source if reader.has_picture else None
        writer = open_writer(
            target, reader.format, reader.rate, reader.channels,
            picture=picture, overwrite=overwrite,
        )  # fmt: skip
        with writer:
            done = 0
            for block in edited.blocks(block_size(reader.rate, reader.channels)):
                writer.write(block)
                done += block.shape[1]
                if progress is not None:
                    progress(done / reader.rate)
            return (*reader.warnings, *changes(os.fspath(source), reader, writer, removal.frames))
