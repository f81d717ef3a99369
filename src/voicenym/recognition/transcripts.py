"""Transcripts from files: references, or the output of another recogniser."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.readers.letter_forms import spelled_as
from voicenym.errors import CorpusError

MOST_NAMES = 5
"""Largest number of names in a message."""


@dataclass(frozen=True)
class Transcripts:
    """Transcripts by utterance.

    Args:
        source: the file or folder.
        texts: by utterance; an empty text means that nothing was recognised. Names are found in
            both forms of letters with accents (NFC and NFD).
    """

    source: Path
    texts: dict[str, str]

    def missing(self, utterances: Iterable[str]) -> list[str]:
        """The utterances without a transcript, in order."""
        asked = list(utterances)
        known = spelled_as(asked, self.texts)
        return [utterance for utterance in asked if utterance not in known]

    def of(self, utterances: Iterable[str]) -> list[str]:
        """The text of each utterance, in order.

        Raises:
            CorpusError: some utterances have none, which would make the figures wrong.

        Example:
            >>> Transcripts(Path("text"), {"a": "yes"}).of(["a"])
            ['yes']
        """
        asked = list(utterances)
        missing = self.missing(asked)
        if missing:
            names = ", ".join(missing[:MOST_NAMES]) + (" ..." if len(missing) > MOST_NAMES else "")
            raise CorpusError(
                f"{self.source}: no transcript of {len(missing)} of {len(asked)} utterances: "
                f"{names}; add them, or leave them out of the measurement by name"
            )
        known = spelled_as(asked, self.texts)
        return [self.texts[known[utterance]] for utterance in asked]


def read_transcripts(
    source: Path | str, *, utterance_column: str = "utterance", text_column: str = "text"
) -> Transcripts:
    """Transcripts from files, encoded in UTF-8.

    Args:
        source: Kaldi's ``text`` (on each line an utterance and its words), or a Kaldi data folder
            with this file; a table ``.tsv`` with a header line; or a folder of
            ``UTTERANCE.txt``, at any depth.
        utterance_column, text_column: names of columns of a table.

    Raises:
        CorpusError: no transcripts, an utterance twice, missing columns, or not UTF-8.
    """
    source = Path(source)
    if source.is_dir() and (source / "text").is_file():
        source = source / "text"
    if source.is_dir():
        pairs = _folder(source)
    elif source.suffix == ".tsv":
        pairs = _table(source, utterance_column, text_column)
    else:
        pairs = _kaldi(source)
    texts: dict[str, str] = {}
    for utterance, text in pairs:
        if utterance in texts:
            raise CorpusError(f"{source}: {utterance} stands here a second time; remove one")
        texts[utterance] = text
    if not texts:
        raise CorpusError(f"{source}: no transcripts here")
    return Transcripts(source, texts)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: not UTF-8; convert it, as with iconv -t utf-8") from None


def _kaldi(path: Path) -> list[tuple[str, str]]:
    # At line feeds only: other separators that Unicode knows may stand within a text.
    parts = [line.split(maxsplit=1) for line in _read(path).split("\n")]
    return [(part[0], part[1].strip() if len(part) > 1 else "") for part in parts if part]


def _table(path: Path, utterance_column: str, text_column: str) -> list[tuple[str, str]]:
    lines = [line for line in _read(path).split("\n") if line.strip()]
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    found = [name.strip() for name in rows.fieldnames or []]
    rows.fieldnames = found
    for column in (utterance_column, text_column):
        if column not in found:
            raise CorpusError(
                f"{path}: no column {column!r}; there are: {', '.join(found) or 'none'}"
            )
    pairs = []
    for number, row in enumerate(rows, 2):
        utterance, text = row[utterance_column], row[text_column]
        if utterance is None or text is None:
            values = [value for value in row.values() if isinstance(value, str)]
            raise CorpusError(f"{path}:{number}: expected {len(found)} columns, found {values}")
        pairs.append((utterance.strip(), text.strip()))
    return pairs


def _folder(path: Path) -> list[tuple[str, str]]:
    return [(file.stem, " ".join(_read(file).split())) for file in sorted(path.rglob("*.txt"))]
