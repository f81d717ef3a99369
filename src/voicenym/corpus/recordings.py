"""Recordings of a corpus: folders of speakers, Kaldi folders, lhotse and TSV manifests, shards."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from voicenym.corpus import kaldi, lhotse_cuts, lhotse_manifest
from voicenym.corpus.folder_walk import SkippedFile, walk
from voicenym.corpus.kaldi_recordings import data_folders, kaldi_recordings
from voicenym.corpus.recording import Recording
from voicenym.corpus.shards import object_store, shard_plan
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.corpus.speaker_rule import by_folders
from voicenym.errors import CorpusError

FILES = "files"
"""Name of files of another anonymizer."""
COLUMNS = ("utterance", "path", "speaker")
"""Required columns of a manifest; ``gender``, ``age``, ``text``, ``split``, ``corpus``, ``emotion``
and ``accent`` are optional."""


_Row = dict[str, Any]  # of csv.DictReader: None where a row is too short
CURE = "Say which, or list the recordings in a manifest.tsv there, with the columns " + ", ".join(
    COLUMNS
)


def collect(
    sources: Sequence[Path],
    split: str | None = None,
    corpora: Sequence[str] = (),
    left_out: LeftOut = STRICT,
    *,
    level: int | None = None,
    allow_pipes: bool = False,
    field: str | None = None,
) -> list[Recording]:
    """All recordings of several sources; names may occur in more than one of them.

    Args:
        sources, split, left_out, level, allow_pipes, field: as for :func:`recordings`.
        corpora: of a manifest; all where there is none.

    Raises:
        CorpusError: as of :func:`recordings`.
    """
    return [
        recording
        for source in sources
        for corpus in (corpora or [""])
        for recording in recordings(
            source,
            split,
            corpus or None,
            left_out,
            level=level,
            allow_pipes=allow_pipes,
            field=field,
        )
    ]


def recordings(
    source: Path,
    split: str | None = None,
    corpus: str | None = None,
    left_out: LeftOut = STRICT,
    *,
    level: int | None = None,
    allow_pipes: bool = False,
    only: Container[str] | None = None,
    without: str = "",
    field: str | None = None,
) -> list[Recording]:
    """All utterances of a corpus, in the order of their names.

    Args:
        source: a folder ``SPEAKER/.../UTTERANCE.wav``, as :mod:`voicenym.corpus.speaker_rule` reads
            it (a ``manifest.tsv`` within it has priority), a
            Kaldi data folder, a folder of such folders (as the VoicePrivacy Challenges lay them
            out), a lhotse manifest of cuts, or a TSV manifest with the columns of :data:`COLUMNS`,
            whose paths are relative to it; or a shard, a folder of shards, or a URL of an object
            store, whose recordings become private copies
            (:mod:`voicenym.corpus.shards.private_copies`).
        split: only rows of this split; needs a manifest.
        corpus: only rows of this corpus; needs a manifest.
        left_out: collects recordings whose files are missing and incomplete rows; the default
            raises at the first one.
        level: which folder below ``source`` names the speaker, where no table does.
        allow_pipes: run the commands of a Kaldi ``wav.scp``, with your rights, when their
            recordings are read.
        only: names of the utterances to return from Kaldi folders; None for all.
        without: suffix of Kaldi folders that are left out, such as those of anonymized speech.
        field: of the speaker in shards, and of nothing else; None for the usual names.

    Raises:
        CorpusError: no recordings, missing columns, duplicate names, or all files missing.
    """
    if (shards := shards_in(source)) is not None:
        return _of_shards(shards, split, corpus, left_out, level, field)
    if not source.exists():
        raise CorpusError(f"{source}: no such file or folder; check the name")
    if source.is_dir() and kaldi.is_kaldi(source):
        found = _kaldi([source], left_out, allow_pipes, only)
    elif lhotse_manifest.is_manifest(source):
        found = _checked(source, lhotse_cuts.utterances(source), left_out)
    elif source.is_file():
        return _manifest(source, split, corpus, left_out)
    elif (source / "manifest.tsv").is_file():
        return _manifest(source / "manifest.tsv", split, corpus, left_out)
    elif folders := data_folders(source, without=without):
        found = _kaldi(folders, left_out, allow_pipes, only)
    else:
        found = _tree(source, level, left_out)
    if split or corpus:
        raise CorpusError(f"{source}: --split and --corpus need a manifest with such columns")
    return found


def _of_shards(
    location: str,
    split: str | None,
    corpus: str | None,
    left_out: LeftOut,
    level: int | None,
    field: str | None,
) -> list[Recording]:
    """Private copies of recordings in shards, and of files in a store, by their folders or a
    manifest.
    """
    from voicenym.corpus.shards.shard_recordings import copied

    copies = copied(location, left_out, level=level, field=field)
    files = copies.files
    if files is None:
        if split or corpus:
            raise CorpusError(f"{location}: --split and --corpus need a manifest with such columns")
        return _checked(location, copies.shards, left_out)
    try:
        found = recordings(files, split, corpus, left_out, level=level)
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(files), location)) from None
    kept = []
    for one in found:
        if one.path.resolve().is_relative_to(files.resolve()):
            place = one.path.relative_to(files).as_posix()
            kept.append(replace(one, origin=object_store.join(location, place)))
        else:  # a manifest of a stranger
            left_out.add(one.name, f"{location}: its manifest names a file outside of its folder")
    return _checked(location, [*copies.shards, *kept], left_out)


def shards_in(source: Path) -> str | None:
    """Path or URL of shards or of a store that a path names; None for other corpora."""
    if (url := object_store.url_in(source)) is not None:
        return url
    if not shard_plan.concerns([str(source)], None):
        return None
    tables = source.is_dir() and (
        kaldi.is_kaldi(source)
        or (source / "manifest.tsv").is_file()
        or bool(data_folders(source))  # whose recordings may lie elsewhere
    )
    return None if tables else str(source)


def check_field(field: str | None, sources: Sequence[Path]) -> None:
    """Refuses a field of the speaker where no source has fields.

    Raises:
        CorpusError: none of the sources is of shards.
    """
    if field is not None and not any(shards_in(source) for source in sources):
        raise CorpusError("--speaker-field is for shards (.tar, .parquet); leave it out")


def skipped(source: Path, output: Path | None = None) -> list[SkippedFile]:
    """Files below a folder of speakers that :func:`recordings` does not read.

    Args:
        source: as of :func:`recordings`. Tables name their recordings, so that none is skipped.
        output: a folder within ``source`` that is not searched.
    """
    if not source.is_dir() or shards_in(source) is not None:
        return []
    if kaldi.is_kaldi(source) or lhotse_manifest.is_manifest(source):
        return []
    if (source / "manifest.tsv").is_file() or data_folders(source):
        return []
    found = walk(source, output, links=True)
    texts = {path.with_suffix(".txt") for path in found.recordings}
    return [part for part in found.skipped if part.path not in texts]


def _checked(source: Path | str, found: Sequence[Recording], left_out: LeftOut) -> list[Recording]:
    """Recordings in the order of their names, without those whose files are missing.

    Raises:
        CorpusError: there are none, all files are missing, or two have one name.
    """
    if not found:
        raise CorpusError(f"{source}: no recordings in it; check the folder, or the split")
    twice = [name for name, count in Counter(r.name for r in found).items() if count > 1]
    if twice:
        raise CorpusError(f"{source}: {twice[0]} names two utterances; make names unique")
    missing = [r for r in found if not r.command and not _is_file(r.path)]
    if missing and (left_out.fail_fast or len(missing) == len(found)):
        raise CorpusError(
            f"{missing[0].path}: missing ({len(missing)} of {len(found)} files of {source} are); "
            "restore them or take their lines out"
        )
    for recording in missing:
        left_out.add(
            recording.name,
            f"{recording.path}: missing; restore it or take its line out of {source}",
        )
    absent = {recording.name for recording in missing}
    return sorted(recording for recording in found if recording.name not in absent)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return False


def _tree(root: Path, level: int | None, left_out: LeftOut) -> list[Recording]:
    """``SPEAKER/.../UTTERANCE.wav``: the first folder below the root is the speaker."""
    paths = walk(root, links=True).recordings
    inner = [path.relative_to(root) for path in paths]
    if level is None and inner and all(len(path.parts) == 1 for path in inner):
        raise CorpusError(
            f"{root}: its recordings lie in no speaker's folder, so that nobody knows who speaks; "
            f"arrange them as {root}/SPEAKER/UTTERANCE{paths[0].suffix}, or list them in a "
            "manifest.tsv there"
        )
    people = by_folders(root, inner, level or _least(inner), alone=False, cure=CURE)
    found = []
    for path, place, speaker in zip(paths, inner, people, strict=True):
        if speaker is None:
            raise CorpusError(
                f"{path}: lies in no speaker's folder; arrange the recordings as "
                f"{root}/SPEAKER/UTTERANCE{path.suffix}"
            )
        words = _words(path.with_suffix(".txt"))
        found.append(Recording(place.with_suffix("").as_posix(), speaker, path, text=words))
    return _checked(root, found, left_out)


def _least(inner: Sequence[Path]) -> int | None:
    """Default level: a recording in no folder does not make folders ambiguous here; it is refused
    by name.
    """
    return 1 if any(len(path.parts) == 1 for path in inner) else None


def _words(path: Path) -> str:
    """Transcript from a file beside a recording; empty without a readable file."""
    try:
        return path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    except OSError:
        return ""


def _manifest(
    path: Path, split: str | None, corpus: str | None, left_out: LeftOut
) -> list[Recording]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            rows = list(reader)
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"{path}: cannot be read as a TSV manifest ({error})") from None
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
            (row.get("gender") or "")[:1].lower(),
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
    return _checked(path, found, left_out)


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


def _kaldi(
    folders: Sequence[Path],
    left_out: LeftOut,
    allow_pipes: bool = False,
    only: Container[str] | None = None,
) -> list[Recording]:
    """Utterances of data folders, each once, even if it occurs in several of them."""
    places: dict[Recording, Path] = {}
    for folder in folders:
        for recording in kaldi_recordings(folder, allow_pipes=allow_pipes, only=only):
            places.setdefault(recording, folder)
    by_name: dict[str, Path] = {}
    for recording, folder in places.items():
        other = by_name.setdefault(recording.name, folder)
        if other != folder:
            raise CorpusError(
                f"{recording.name} is another recording in {other} than in {folder}; make names "
                "unique, or, where anonymized speech lies beside the original, name the suffix of "
                "its folders with --anonymized-suffix"
            )
    return _checked(folders[0] if len(folders) == 1 else folders[0].parent, [*places], left_out)
