"""Manifests of recordings: tables of tab-separated values, with a line of columns."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voicenym.corpus.readers.present_recordings import present
from voicenym.corpus.recording import Recording
from voicenym.corpus.sex_labels import sex_of
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError
from voicenym.special_files import refuse_named_pipe

COLUMNS = ("utterance", "path", "speaker")
"""Required columns of a manifest; ``gender``, ``age``, ``text``, ``split``, ``corpus``, ``emotion``
and ``accent`` are optional."""
_Row = dict[str, Any]  # of csv.DictReader: None where a row is too short


def recordings_of_manifest(
    path: Path, split: str | None, corpus: str | None, left_out: LeftOut
) -> list[Recording]:
    """Recordings of a manifest, in the order of their names.

    Args:
        path: of the manifest; paths in it are relative to its folder.
        split, corpus: keep rows of these only.
        left_out: as of :func:`voicenym.corpus.recordings.recordings`.

    Raises:
        CorpusError: it is no manifest, has no such rows, or names no speaker.
    """
    refuse_named_pipe(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            rows = list(reader)
            columns = reader.fieldnames or []
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    except (UnicodeDecodeError, csv.Error):
        raise CorpusError(
            f"{path}: is no table in UTF-8, so no manifest; give a folder of speakers, each with a "
            "folder of recordings, or a manifest"
        ) from None
    missing = [column for column in COLUMNS if column not in columns]
    if missing:
        raise CorpusError(f"{path}: a manifest needs the column {missing[0]!r} in its first line")
    for column, wanted in (("split", split), ("corpus", corpus)):
        if wanted:
            have = sorted({row.get(column) or "" for row in rows})
            if wanted not in have:
                raise CorpusError(f"{path}: no {column} {wanted!r}; there are: {', '.join(have)}")
            rows = [row for row in rows if row.get(column) == wanted]
    found = [
        Recording(
            row["utterance"],
            row["speaker"],
            path.parent / row["path"],
            sex_of(row.get("gender")),
            row.get("text") or "",
            age=row.get("age") or "",
            corpus=row.get("corpus") or "",
            emotion=(row.get("emotion") or "").strip().lower(),
            accent=(row.get("accent") or "").strip().lower(),
        )
        for row in _readable_rows(path, rows, left_out)
    ]
    nameless = [r for r in found if not r.speaker]
    if nameless:
        raise CorpusError(
            f"{path}: {nameless[0].name} has no speaker ({len(nameless)} such); "
            f"{_with_speakers(rows)}"
        )
    return present(path, found, left_out)


def _readable_rows(path: Path, rows: Sequence[_Row], left_out: LeftOut) -> list[_Row]:
    """Rows that name an utterance and a file."""
    kept = []
    for number, row in enumerate(rows, 1):
        lacking = [
            c for c in COLUMNS if not (row.get(c) or "") and (c != "speaker" or row.get(c) is None)
        ]
        if not lacking:
            kept.append(row)
            continue
        name = row.get("utterance") or f"row {number}"
        left_out.add(name, f"{path}: its row has no {lacking[0]}; mend the row or take it out")
    return kept


def _with_speakers(rows: Sequence[Mapping[str, str | None]]) -> str:
    """Cure for rows without a speaker: leave out their corpora, or name the speakers."""
    nameless = {row.get("corpus") or "" for row in rows if not row["speaker"]}
    known = sorted({row.get("corpus") or "" for row in rows} - nameless)
    if not known:
        return "fill its column"
    return f"fill its column, or leave such out with --corpus, one of: {', '.join(known)}"
