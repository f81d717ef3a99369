"""Shards of synthetic speech for tests, written by other libraries than voicenym's readers."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import soundfile

RATE = 16_000


def sound(number: int, seconds: float = 0.5, kind: str = "WAV") -> bytes:
    """A buzz of a pitch of its own."""
    time = np.arange(round(seconds * RATE)) / RATE
    wave = 0.1 * np.sign(np.sin(2 * np.pi * (100 + 7 * number) * time))
    file = io.BytesIO()
    soundfile.write(file, wave, RATE, format=kind)
    return file.getvalue()


def add(tar: tarfile.TarFile, name: str, data: bytes, **about: object) -> None:
    """A member of a tar, as of an archiver that knows its owner."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.uname = len(data), 1_700_000_000, "anna-private"
    for field, value in about.items():
        setattr(info, field, value)
    tar.addfile(info, io.BytesIO(data))


def web_shard(path: Path, numbers: range, speakers: int = 2, **more: bytes) -> Path:
    """A WebDataset shard: FLAC, JSON with a speaker and a text, and a ``.txt``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for number in numbers:
            key = f"utt{number:03d}"
            about = {"speaker_id": number % speakers, "gender": "f", "text": "Anna lives here",
                     "url": "s3://elsewhere/secret.wav"}  # fmt: skip
            add(tar, f"{key}.flac", sound(number, kind="FLAC"))
            add(tar, f"{key}.json", json.dumps(about).encode())
            add(tar, f"{key}.txt", b"Anna lives here")
            for extension, data in more.items():
                add(tar, f"{key}.{extension}", data)
    return path


def shar(folder: Path, count: int, shard_size: int = 2, speakers: int = 2) -> Path:
    """A Shar as lhotse writes it, of cuts with texts and ids with dots."""
    from lhotse import CutSet, Recording, SupervisionSegment

    cuts = []
    for number in range(count):
        recording = Recording.from_bytes(sound(number), f"anna-take.{number}")
        cut = recording.to_cut()
        cut.id = f"anna-cut.{number}"
        cut.supervisions = [
            SupervisionSegment(
                f"anna-said.{number}", recording.id, 0.1, 0.3, speaker=f"s{number % speakers}",
                text="Anna lives here", gender="f", custom={"mood": "calm"},
            )
        ]  # fmt: skip
        cuts.append(cut)
    folder.mkdir(parents=True)
    CutSet.from_cuts(cuts).to_shar(folder, {"recording": "flac"}, shard_size=shard_size)
    return folder


def parquet_shard(path: Path, numbers: range, speakers: int = 2, group: int = 3) -> Path:
    """A Parquet shard as Hugging Face's library writes it."""
    import pyarrow as arrow
    from pyarrow import parquet

    rows = [
        {
            "audio": {"bytes": sound(n), "path": f"/data/anna/take{n}.wav"},
            "speaker_id": f"s{n % speakers}",
            "text": "Anna lives here",
            "gender": n % 2,
            "vector": [0.25, 0.5],
        }
        for n in numbers
    ]
    table = arrow.Table.from_pylist(rows)
    info = {"info": {"description": "of Anna", "features": {"audio": {"_type": "Audio"}}}}
    table = table.replace_schema_metadata({"huggingface": json.dumps(info)})
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, row_group_size=group)
    return path


def members(path: Path) -> dict[str, bytes]:
    """Members of a tar by name."""
    with tarfile.open(path) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}  # type: ignore[union-attr]


def tree(folder: Path) -> dict[str, bytes]:
    """Files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def said(done) -> str:
    """What a command wrote to standard error."""
    return done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
