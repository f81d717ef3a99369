"""Recordings of a corpus: folders of speakers, Kaldi folders, lhotse and TSV manifests, shards."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path

from voicenym.corpus.plans import lhotse_manifest
from voicenym.corpus.readers import kaldi_utterances, lhotse_cuts
from voicenym.corpus.readers.folder_walk import SkippedFile, walk
from voicenym.corpus.readers.kaldi_recordings import data_folders, kaldi_recordings
from voicenym.corpus.readers.present_recordings import present
from voicenym.corpus.readers.speaker_folders import recordings_of_folders
from voicenym.corpus.readers.tsv_manifest import recordings_of_manifest
from voicenym.corpus.recording import Recording
from voicenym.corpus.shards import shard_plan
from voicenym.corpus.shards.stores import store_locations
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import CorpusError, VoicenymError, check_path

FILES = "files"
"""Name of files of another anonymizer."""


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
        source: a folder ``SPEAKER/.../UTTERANCE.wav``, as
            :mod:`voicenym.corpus.readers.speaker_rule` reads it (a ``manifest.tsv`` within it has
            priority, or the ``cuts.jsonl.gz`` that voicenym writes for lhotse), a Kaldi data
            folder, a folder of such folders (as the VoicePrivacy Challenges lay them out), a lhotse
            manifest of cuts, or a TSV manifest (:mod:`voicenym.corpus.readers.tsv_manifest`), whose
            paths are relative to it; or a shard, a folder of shards, or a URL of an object store,
            whose recordings become private copies
            (:mod:`voicenym.corpus.shards.stores.private_copies`).
        split: only rows of this split; needs a manifest.
        corpus: only rows of this corpus; needs a manifest.
        left_out: collects recordings whose files are missing, incomplete rows, and folders that
            may not be read; the default raises at the first one.
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
    check_path(source)
    if not source.exists():
        raise CorpusError(f"{source}: no such file or folder; check the name")
    if source.is_dir() and kaldi_utterances.is_kaldi(source):
        found = _kaldi([source], left_out, allow_pipes, only)
    elif lhotse_manifest.is_manifest(source):
        found = present(source, lhotse_cuts.utterances(source), left_out)
    elif source.is_file():
        return recordings_of_manifest(source, split, corpus, left_out)
    elif (source / "manifest.tsv").is_file():
        return recordings_of_manifest(source / "manifest.tsv", split, corpus, left_out)
    elif (cuts := source / lhotse_manifest.OUTPUT_NAME).is_file():
        found = present(cuts, lhotse_cuts.utterances(cuts), left_out)
    elif folders := data_folders(source, without=without):
        found = _kaldi(folders, left_out, allow_pipes, only)
    else:
        found = recordings_of_folders(source, level, left_out)
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
    """Private copies of recordings in shards, and of files in a store, by their folders or
    tables.
    """
    from voicenym.corpus.shards.shard_recordings import copied

    copies = copied(location, left_out, level=level, field=field)
    files = copies.files
    if files is None:
        if split or corpus:
            raise CorpusError(f"{location}: --split and --corpus need a manifest with such columns")
        return present(location, copies.shards, left_out)
    inner = LeftOut(left_out.fail_fast)
    try:
        found = recordings(files, split, corpus, inner, level=level)
    except VoicenymError as error:
        raise type(error)(str(error).replace(str(files), location)) from None
    for one in inner:
        left_out.add(one.name, one.reason.replace(str(files), location), one.step)
    kept = []
    for recording in found:
        if recording.path.resolve().is_relative_to(files.resolve()):
            place = recording.path.relative_to(files).as_posix()
            kept.append(replace(recording, origin=store_locations.join(location, place)))
        else:  # a manifest of a stranger
            why = f"{location}: its manifest names a file outside of its folder"
            left_out.add(recording.name, why)
    return present(location, [*copies.shards, *kept], left_out)


def shards_in(source: Path) -> str | None:
    """Path or URL of shards or of a store that a path names; None for other corpora."""
    if (url := store_locations.url_in(source)) is not None:
        return url
    if not shard_plan.concerns([str(source)], None):
        return None
    tables = source.is_dir() and (
        kaldi_utterances.is_kaldi(source)
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
    """Files below a folder of speakers that :func:`recordings` does not read, without those that
    it leaves out as missing.

    Args:
        source: as of :func:`recordings`. Tables name their recordings, so that none is skipped.
        output: a folder within ``source`` that is not searched.
    """
    if not source.is_dir() or shards_in(source) is not None:
        return []
    if kaldi_utterances.is_kaldi(source) or lhotse_manifest.is_manifest(source):
        return []
    if any((source / name).is_file() for name in ("manifest.tsv", lhotse_manifest.OUTPUT_NAME)):
        return []
    if data_folders(source):
        return []
    found = walk(source, output, links=True)
    texts = {path.with_suffix(".txt") for path in found.recordings}
    return [p for p in found.skipped if p.path not in texts and not p.reason.hides]


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
    return present(folders[0] if len(folders) == 1 else folders[0].parent, [*places], left_out)
