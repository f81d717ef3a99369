"""Manifests of a published corpus: CSV, Kaldi, lhotse, WebDataset and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from voicenym.corpus.plans.timestamps import CONSTANT
from voicenym.corpus.readers import kaldi_tables
from voicenym.errors import DependencyError
from voicenym.libraries import library
from voicenym.publication.data_labels import Entry, check_unique
from voicenym.table_cells import stored

METADATA = "metadata.csv"
"""Table of all recordings, as Hugging Face's ``audiofolder`` reads it."""
SHARD_BYTES = 500_000_000
"""Sound of a shard of WebDataset or Parquet, in bytes."""
GROUP_BYTES, GROUP_ROWS = 32_000_000, 100
"""Most sound, in bytes, and most recordings of a row group, which is held in memory."""


def write_csv(folder: Path, entries: Sequence[Entry]) -> None:
    """Writes ``metadata.csv``; labels that spreadsheets would take for formulas get an apostrophe.

    Other manifests have the labels as they are.
    """
    rows = [{name: stored(cell) for name, cell in entry.row().items()} for entry in entries]
    with (folder / METADATA).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_kaldi(folder: Path, entries: Sequence[Entry]) -> None:
    """Writes ``kaldi/``, whose paths are relative to the publication."""
    people: dict[str, list[str]] = {}
    for entry in entries:
        people.setdefault(entry.speaker, []).append(entry.utterance)
    tables = {
        "wav.scp": {entry.utterance: entry.file_name for entry in entries},
        "utt2spk": {entry.utterance: entry.speaker for entry in entries},
        "spk2utt": {who: " ".join(sorted(said)) for who, said in people.items()},
        "utt2dur": {e.utterance: f"{e.verified.seconds:.6f}" for e in entries},
        "text": {e.utterance: words for e in entries if (words := e.labels.get("text"))},
        "spk2gender": {e.speaker: sex for e in entries if (sex := e.labels.get("sex"))},
    }
    for name, rows in tables.items():
        if rows:
            kaldi_tables.write(folder / "kaldi" / name, rows)


def write_lhotse(folder: Path, entries: Sequence[Entry]) -> None:
    """Writes ``lhotse/recordings.jsonl.gz`` and ``supervisions.jsonl.gz``.

    Raises:
        DependencyError: lhotse is not installed.
    """
    try:
        lhotse = library("lhotse")
    except ImportError:
        raise DependencyError(
            "manifests of lhotse need lhotse: pip install 'voicenym[lhotse]', or choose others "
            "with --format"
        ) from None
    recordings, supervisions = [], []
    for entry in entries:
        one = entry.verified
        channels = list(range(one.channels))
        sources = [lhotse.AudioSource("file", channels=channels, source=entry.file_name)]
        samples = round(one.seconds * one.rate)
        recordings.append(
            lhotse.Recording(entry.utterance, sources, one.rate, samples, samples / one.rate)
        )
        supervisions.append(
            lhotse.SupervisionSegment(
                entry.utterance, entry.utterance, 0.0, samples / one.rate,
                channel=0 if one.channels == 1 else channels, speaker=entry.speaker,
                text=entry.labels.get("text") or None, gender=entry.labels.get("sex") or None,
            )
        )  # fmt: skip
    (folder / "lhotse").mkdir()
    for name, items in (("recordings", recordings), ("supervisions", supervisions)):
        path = folder / "lhotse" / f"{name}.jsonl.gz"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            for item in items:
                packed.write(json.dumps(item.to_dict(), ensure_ascii=False).encode() + b"\n")


def write_webdataset(folder: Path, entries: Sequence[Entry]) -> None:
    """Writes ``webdataset/shard-NNNNNN.tar``: sound and ``.json`` of each utterance.

    Raises:
        CorpusError: two utterances would have one key.
    """
    keys = {entry.utterance: _webdataset_key(entry) for entry in entries}
    check_unique(keys.values(), "rename one, or name other formats with --format")
    (folder / "webdataset").mkdir()
    for number, shard in enumerate(_shards(entries)):
        path = folder / "webdataset" / f"shard-{number:06}.tar"
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            for entry in shard:
                sound = folder / entry.file_name
                label = json.dumps(entry.row(), ensure_ascii=False, sort_keys=True).encode()
                key = keys[entry.utterance]
                suffix = Path(entry.file_name).suffix
                with sound.open("rb") as file:
                    for name, size, content in (
                        (f"{key}{suffix}", sound.stat().st_size, file),
                        (f"{key}.json", len(label), io.BytesIO(label)),
                    ):
                        info = tarfile.TarInfo(name)
                        info.size, info.mtime = size, CONSTANT
                        tar.addfile(info, content)


def _webdataset_key(entry: Entry) -> str:
    """Name of an utterance's members; WebDataset ends a key at its first dot."""
    return entry.utterance.replace(".", "_")


def write_parquet(folder: Path, entries: Sequence[Entry]) -> None:
    """Writes ``data/train-NNNNN-of-NNNNN.parquet`` with the sound in a column ``audio``.

    Raises:
        DependencyError: pyarrow is not installed.
    """
    try:
        pa, parquet = library("pyarrow"), library("pyarrow.parquet")
    except ImportError:
        raise DependencyError(
            "Parquet needs pyarrow: pip install 'voicenym[stores]', or choose others with --format"
        ) from None
    columns = {name: _arrow_type(pa, value) for name, value in entries[0].row().items()}
    audio = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    fields = [pa.field("audio", audio), *(pa.field(*item) for item in columns.items())]
    features = {"audio": {"_type": "Audio"}}
    features |= {n: {"dtype": str(t), "_type": "Value"} for n, t in columns.items()}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    schema = pa.schema(fields, metadata=about)
    (folder / "data").mkdir()
    shards = list(_shards(entries))
    for number, shard in enumerate(shards):
        path = folder / "data" / f"train-{number:05}-of-{len(shards):05}.parquet"
        with parquet.ParquetWriter(str(path), schema, write_page_checksum=True) as writer:
            for group in _shards(shard, GROUP_BYTES, GROUP_ROWS):
                rows = [
                    {
                        "audio": {
                            "bytes": (folder / entry.file_name).read_bytes(),
                            "path": Path(entry.file_name).name,
                        },
                        **entry.row(),
                    }
                    for entry in group
                ]
                writer.write_table(pa.Table.from_pylist(rows, schema))


def _arrow_type(pa: Any, value: object) -> Any:
    kinds = {str: pa.string, float: pa.float64, int: pa.int64}
    return kinds[type(value)]()


def _shards(
    entries: Sequence[Entry], most: int | None = None, count: int | None = None
) -> Iterator[list[Entry]]:
    """Entries in their order, in parts of limited size, or of one recording.

    Args:
        entries: of the publication.
        most: bytes of sound in a part; None for those of a shard.
        count: most recordings of a part; None for any number.
    """
    most = SHARD_BYTES if most is None else most
    shard: list[Entry] = []
    size = 0
    for entry in entries:
        if shard and (size + entry.verified.size > most or len(shard) == count):
            yield shard
            shard, size = [], 0
        shard.append(entry)
        size += entry.verified.size
    if shard:
        yield shard


FORMATS: dict[str, Callable[[Path, Sequence[Entry]], None]] = {
    "kaldi": write_kaldi,
    "lhotse": write_lhotse,
    "webdataset": write_webdataset,
    "parquet": write_parquet,
}
"""Formats besides ``metadata.csv``; the last two hold the sound once more."""
