"""Recordings in columns of batches, for pipelines that other programs run: Ray Data, or the data
sets of Hugging Face.

Such a pipeline hands over columns of a few rows at a time and takes columns back. What
:mod:`voicenym.corpus.shards` promises for rows of a Parquet shard holds for them, too: same bytes,
nothing copied but what is named, no path in a row opened. When it runs, how often a row is tried
and where the results go is the pipeline's.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from voicenym.anonymizer import Anonymizer, load
from voicenym.corpus import DEFAULT_FALLBACK, DEFAULT_SYSTEM
from voicenym.corpus.batches.batch_task import in_words
from voicenym.corpus.batches.fallback import fallback_of
from voicenym.corpus.batches.single_file import anonymize_unnamed
from voicenym.corpus.machine_errors import of_machine
from voicenym.corpus.shards.formats.parquet_shard import UNNAMED, content_of
from voicenym.corpus.shards.formats.shard_sample import (
    MOST_BYTES,
    NamedRecording,
    is_sound,
    speaker_name,
    written_name,
)
from voicenym.errors import (
    CorpusError,
    DependencyError,
    KeyFileError,
    UnknownSystemError,
    WeightsError,
)
from voicenym.pseudonym import Key
from voicenym.temporary import temporary_directory

REASON = "reason"
"""Column of why a row has no recording; empty where it has one."""


class _Ready(NamedTuple):
    """What a process needs once.

    Args:
        key: read from its file.
        system, fallback: loaded.
    """

    key: Key
    system: Anonymizer
    fallback: Anonymizer | None


class ColumnAnonymizer:
    """Anonymizes a column of recordings, batch by batch.

    A recording is the content of a file: ``bytes``, or ``{"bytes": ..., "path": ...}`` as Hugging
    Face has it (``Audio(decode=False)``), whose path gives the container. Rows of a speaker get the
    voice that ``voicenym anonymize`` gives that speaker with the same key. The result has the
    columns of recordings and speakers, those of ``keep`` and :data:`REASON`, and no other.

    A row that cannot be anonymized has ``None`` in place of the recording, and why; nothing of the
    original is in it. The key is read from its file in the process that works, and travels nowhere:
    an object of this class that is sent to another process has the path of the file. PyTorch
    computes with one thread in such a process, as in the workers of voicenym, so that the bytes do
    not depend on it.

    Args:
        system: name of a system.
        key: path of the key file, in the process that works; only its owner may read it.
        audio: column of recordings.
        speaker: column of speakers, text or whole numbers.
        keep: other columns that are copied; text may name people.
        fallback: system for recordings that the first one refuses, or ``none``.
        parameters: of the system.

    Raises:
        KeyFileError: a key in place of its path.

    Example:
        >>> from voicenym import ColumnAnonymizer
        >>> hide = ColumnAnonymizer("mcadams", key="project.key", keep=("text",))
        >>> rows = hide({"audio": [], "speaker": [], "text": []})
        >>> sorted(rows)
        ['audio', 'reason', 'speaker', 'text']
    """

    def __init__(
        self,
        system: str = DEFAULT_SYSTEM,
        *,
        key: str | os.PathLike[str],
        audio: str = "audio",
        speaker: str = "speaker",
        keep: Collection[str] = (),
        fallback: str = DEFAULT_FALLBACK,
        **parameters: Any,
    ) -> None:
        if not isinstance(key, (str, os.PathLike)):
            raise KeyFileError(
                "key: give the path of a key file, which each process reads by itself; a key in "
                "memory would travel with the batches"
            )
        self._system, self._parameters, self._fallback = system, parameters, fallback
        self._key = os.fspath(key)
        self._audio, self._speaker = audio, speaker
        self._kept = (keep,) if isinstance(keep, str) else tuple(keep)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """The columns of a batch, with anonymized recordings.

        Args:
            batch: lists or arrays by the name of the column.

        Raises:
            CorpusError: a column is missing.
            KeyFileError: the key cannot be read.
            VoicenymError: the system cannot be loaded.
            OSError: the disk or the memory is full.
        """
        for column in (self._audio, self._speaker, *self._kept):
            if column not in batch:
                raise CorpusError(
                    f"{column}: no such column; there are: {', '.join(sorted(batch))}"
                )
        rows = zip(batch[self._audio], batch[self._speaker], strict=True)
        found = [self._row(number, *row) for number, row in enumerate(rows)]
        columns = {name: batch[name] for name in (self._speaker, *self._kept)}
        columns[self._audio] = _column_like(batch[self._audio], [sound for sound, _ in found])
        columns[REASON] = _column_like(batch[self._audio], [reason for _, reason in found])
        return columns

    @cached_property
    def _ready(self) -> _Ready:
        import torch

        torch.set_num_threads(1)
        key = Key.load(self._key)
        system = load(self._system, **self._parameters)
        system.check()
        other = fallback_of(self._fallback, system, key)
        return _Ready(
            key, system, None if other is None else load(other.system, **other.parameters)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_ready"}

    def _row(
        self, number: int, cell: Any, speaker: Any
    ) -> tuple[bytes | dict[str, Any] | None, str]:
        """Anonymized recording of a row, or why there is none."""
        ready = self._ready  # outside the row's errors: without a key there are no rows
        place = f"row {number} of the batch"
        try:
            return self._anonymized(ready, place, cell, speaker), ""
        except (WeightsError, DependencyError, UnknownSystemError):
            raise  # no row can be anonymized
        except Exception as error:
            if of_machine(error):
                raise
            reason = in_words(error)
            return None, reason if place in reason else f"{place}: {reason}"

    def _anonymized(
        self, ready: _Ready, place: str, cell: Any, speaker: Any
    ) -> bytes | dict[str, Any]:
        who = speaker_name(place, speaker.item() if hasattr(speaker, "item") else speaker)
        if who is None:
            raise CorpusError(f"{place}: names no speaker; fill in its {self._speaker}")
        data, path = content_of(cell)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise CorpusError(
                f"{place}: has no bytes of a file in {self._audio}; give files, not samples "
                "(Hugging Face: Audio(decode=False)); a path is not opened"
            )
        if len(data) > MOST_BYTES:
            raise CorpusError(f"{place}: is larger than 2 GiB; give it as a file of its own")
        suffix = path.suffix if is_sound(path.suffix) else UNNAMED
        with temporary_directory() as folder:
            made = anonymize_unnamed(
                ready.system,
                ready.key.pseudonym(who),
                NamedRecording(bytes(data), place),
                os.path.join(folder, written_name("sound", suffix)),
                name=place,
                fallback=ready.fallback,
            )
            sound, result = made.taken(), made.result
        for warning in result.warnings:
            said = warning if place in warning else f"{place}: {warning}"
            warnings.warn(said, stacklevel=4)
        if not isinstance(cell, dict):
            return sound
        return {"bytes": sound, "path": written_name(path.stem, suffix) if path.name else None}


def _column_like(column: Sequence[Any], values: list[Any]) -> Any:
    """Values as an array of objects where the column is an array, else as a list."""
    if isinstance(column, list):
        return values
    import numpy as np

    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
