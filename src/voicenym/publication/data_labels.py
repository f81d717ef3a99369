"""Columns of the metadata of a published corpus, shared by all of its manifests."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from voicenym.corpus.readers.id_checks import check_id
from voicenym.errors import CorpusError, quoted
from voicenym.publication.corpus_sources import LABELS
from voicenym.publication.verified_files import Verified
from voicenym.table_cells import is_formula

SOUND = "audio"
"""Folder of the recordings."""


@dataclass(frozen=True)
class Entry:
    """A recording of the publication.

    Args:
        utterance: id without blanks and folders.
        speaker: id without blanks.
        file_name: path below the publication, with ``/``.
        verified: the file.
        labels: that its publisher keeps.
    """

    utterance: str
    speaker: str
    file_name: str
    verified: Verified
    labels: dict[str, str]

    def row(self) -> dict[str, str | float | int]:
        """Metadata by column."""
        one = self.verified
        return {
            "file_name": self.file_name,
            "utterance": self.utterance,
            "speaker": self.speaker,
            "seconds": round(one.seconds, 6),
            "sample_rate": one.rate,
            "channels": one.channels,
            "sha256": one.sha256,
            **self.labels,
        }


def entries(files: Iterable[Verified], keep: Collection[str]) -> list[Entry]:
    """Entries of verified files, sorted by utterance.

    Raises:
        CorpusError: two recordings get one id or file name; a name is no file name, or would be a
            formula in a spreadsheet.
    """
    found = []
    for one in files:
        recording = one.recording
        name = check_id("the corpus", recording.name, folders=True)
        speaker = _word(recording.speaker)
        utterance = _word(name)
        if not utterance.startswith(speaker):
            utterance = f"{speaker}-{utterance}"
        if is_formula(speaker):
            raise CorpusError(
                f"{recording.path}: the name {quoted(speaker)} "
                "begins with a character that spreadsheets take for a formula's, and programs for "
                "an option's; rename it, or anonymize with --rename"
            )
        labels = {label: getattr(recording, label) for label in LABELS if label in keep}
        place = f"{SOUND}/{name}{recording.path.suffix.lower()}"
        found.append(Entry(utterance, speaker, place, one, labels))
    check_unique([e.utterance for e in found])
    check_unique([e.file_name for e in found])
    speakers = {(e.verified.recording.speaker, e.speaker) for e in found}
    check_unique([short for _, short in sorted(speakers)])
    return sorted(found, key=lambda entry: entry.utterance)


def _word(name: str) -> str:
    """An id for tables: blanks and folders become hyphens."""
    return "-".join(name.replace("/", " ").split())


def check_unique(names: Iterable[str], cure: str = "rename one") -> None:
    """Refuses names that some file systems hold for one: without regard to case, and after NFC.

    Raises:
        CorpusError: two names are alike.
    """
    seen: dict[str, str] = {}
    for name in names:
        plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
        if plain in seen:
            other = (
                "" if seen[plain] == name else f" or {seen[plain]}, which some systems hold equal"
            )
            raise CorpusError(
                f"{name}: two recordings or speakers of the corpus would have this name{other}; "
                f"{cure}"
            )
        seen[plain] = name
