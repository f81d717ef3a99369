"""Samples of a shard: what is read of them, what is written, and which fields travel.

As in tables of corpora (:mod:`voicenym.corpus.readers.lhotse_fields`), free text and anything
computed from the original voices stay behind: the speaker and one-word labels are copied, other
fields only if the user names them, and only plain values.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from voicenym.audio.container_files.containers import output_suffix
from voicenym.corpus.readers.encoded_data import is_encoded
from voicenym.corpus.readers.folder_walk import EXTENSIONS
from voicenym.corpus.readers.id_checks import check_word, printable
from voicenym.corpus.readers.lhotse_fields import LABELS
from voicenym.errors import CorpusError
from voicenym.pseudonym import Pseudonym

SPEAKER_FIELDS = ("speaker", "speaker_id", "spk_id", "spk", "client_id", "speakerid")
"""Names of the field of the speaker, in the order in which they are looked for."""
MOST_SAMPLES = 1_000_000
"""Most samples of a shard."""
MOST_BYTES = 1 << 31
"""Largest recording within a shard, in bytes; it is read into memory."""
MOST_TEXT = 1 << 20
"""Largest text or JSON of a sample, in bytes."""


@dataclass(frozen=True)
class FieldChoice:
    """Fields that travel.

    Args:
        speaker: name of the field of the speaker; None for the first of :data:`SPEAKER_FIELDS`.
        keep: fields to copy besides the speaker and the labels.
    """

    speaker: str | None = None
    keep: tuple[str, ...] = ()

    def speaker_field(self, names: Iterable[str]) -> str | None:
        """The field of the speaker among these."""
        there = set(names)
        wanted = SPEAKER_FIELDS if self.speaker is None else (self.speaker,)
        return next((name for name in wanted if name in there), None)

    def labels(self, names: Iterable[str]) -> list[str]:
        """Fields that travel besides the speaker, in their order."""
        speaker = self.speaker_field(names)
        return [n for n in names if n != speaker and (n in LABELS or n in self.keep)]

    def check(self, where: str, names: Iterable[str]) -> None:
        """Refuses fields that are not there.

        Raises:
            CorpusError: with the names that are there.
        """
        there = sorted(set(names))
        listed = ", ".join(map(printable, there[:30])) or "none"
        for name in self.keep:
            if name not in there:
                raise CorpusError(
                    f"{where}: --keep {printable(name)} is no field of this shard; it has: {listed}"
                )
        if self.speaker is not None and self.speaker not in there:
            raise CorpusError(
                f"{where}: --speaker-field {printable(self.speaker)} is no field of this shard; it "
                f"has: {listed}"
            )

    def value(self, where: str, name: str, value: Any) -> Any:
        """A value that travels, checked.

        Raises:
            CorpusError: a label is free text, or the value is neither number nor text.
        """
        plain = value is None or isinstance(value, (str, int, float, bool))
        if not plain or (isinstance(value, str) and is_encoded(value)):
            raise CorpusError(
                f"{where}: its {printable(name)} is neither number nor text, and may be of the "
                f"original voice; leave out --keep {printable(name)}"
            )
        if name not in self.keep and isinstance(value, str) and not re.fullmatch(r"\S*", value):
            raise CorpusError(
                f"{where}: its {printable(name)} has more than one word, which may be free text; "
                f"mend it, or add --keep {printable(name)}"
            )
        return value


@dataclass(frozen=True)
class Sample:
    """A recording of a shard, or several of one moment, with what is known of its speaker.

    Args:
        name: unique within the shard.
        speaker: of a field; None without one.
    """

    name: str
    speaker: str | None


@dataclass(frozen=True)
class Assignment:
    """What a sample becomes.

    Args:
        pseudonym: of its new voice.
        name: its name in the new shard.
        speaker: in the field of the speaker; None keeps the value.
    """

    pseudonym: Pseudonym
    name: str
    speaker: str | None = None


@dataclass
class Rewritten:
    """Outcome of a shard.

    Args:
        recordings: number of those written.
        seconds: of audio in them.
        failures: reason by sample, of those left out.
        warnings: for the user.
        behind: names of fields that stayed behind.
        refused: number of those that the fall-back made.
        form: sample rate in Hz and channels of a recording that is a file of its own; None for
            shards.
    """

    recordings: int = 0
    seconds: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    behind: set[str] = field(default_factory=set)
    refused: int = 0
    form: tuple[int, int] | None = None


Voice = Callable[[str, bytes, str, Pseudonym, Rewritten], bytes]
"""Anonymizes a recording: place for messages, content, suffix, voice, and the outcome to add to."""
Assignments = Mapping[str, Assignment]


class NamedRecording(io.BytesIO):
    """A recording of a shard, with its place as the name in messages."""

    def __init__(self, data: bytes, place: str) -> None:
        super().__init__(data)
        self.name = place


def speaker_name(where: str, value: Any) -> str | None:
    """Speaker from a value of a field; None if it is empty.

    Raises:
        CorpusError: it is neither number nor text.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise CorpusError(f"{where}: its speaker is neither text nor a whole number; mend it")
    return check_word(f"{where}: speaker", str(value))


def is_sound(suffix: str) -> bool:
    """Whether an extension is that of a recording."""
    return suffix.lower() in EXTENSIONS


def written_name(name: str, suffix: str) -> str:
    """Name of a recording with the extension of a format that can be written."""
    return f"{name}{output_suffix(suffix)}"


def base_name(path: object) -> PurePosixPath:
    """Last part of a path of any system; where it lay names people, and does not travel."""
    return PurePosixPath(str(path or "").replace("\\", "/").rsplit("/", 1)[-1])


def in_new_order(samples: Sequence[Any], assigned: Assignments, opaque: bool) -> list[Any]:
    """Samples in the order of the shard; by their new names if the old order must not show."""
    return sorted(samples, key=lambda s: assigned[s.name].name) if opaque else list(samples)
