"""Test and training recordings of the studies of word codes, from manifests."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ADULT = 18
SPEAKERS, EACH, ENROLLED = 24, 6, 3


class Sample(NamedTuple):
    """A recording.

    Args:
        name, speaker, text: of the manifest.
        path: of the sound.
        half: of dev.
    """

    name: str
    speaker: str
    text: str
    path: Path
    half: str = ""


def manifest(folder: Path) -> list[dict[str, str]]:
    with (folder / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def spread(rows: Sequence[dict[str, str]], count: int) -> list[dict[str, str]]:
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]


def dev(speech: Path, adults: bool) -> list[Sample]:
    """Recordings of the first adults, or children, of dev; halves are as in other benchmarks."""
    rows = [r for r in manifest(speech) if r["corpus"] == "speechocean762" and r["split"] == "dev"]
    everybody = sorted({r["speaker"] for r in rows})
    found = []
    able = [s for s in everybody if (_age(rows, s) >= ADULT) == adults][:SPEAKERS]
    for speaker in able:
        half = "tune" if everybody.index(speaker) % 2 == 0 else "report"
        for r in spread([r for r in rows if r["speaker"] == speaker], EACH):
            path = speech / r["path"]
            found.append(Sample(r["utterance"], speaker, r["text"], path, half))
    return found


def _age(rows: Sequence[dict[str, str]], speaker: str) -> int:
    return next(int(r["age"]) for r in rows if r["speaker"] == speaker)


def unheard(speech: Path) -> list[Sample]:
    rows = [r for r in manifest(speech) if r["corpus"] == "librispeech"]
    speakers = sorted({r["speaker"] for r in rows})[::5]
    return [
        Sample(r["utterance"], r["speaker"], "", speech / r["path"])
        for r in rows
        if r["speaker"] in speakers
    ]


def aloud(folder: Path) -> list[Sample]:
    return [
        Sample(r["utterance"], r["corpus"], r["text"], folder / r["path"]) for r in manifest(folder)
    ]


def learnt(speech: Path, each: int) -> list[Sample]:
    rows = [
        r for r in manifest(speech) if r["corpus"] == "speechocean762" and r["split"] == "train"
    ]
    return [
        Sample(r["utterance"], speaker, r["text"], speech / r["path"])
        for speaker in sorted({r["speaker"] for r in rows})
        for r in spread([r for r in rows if r["speaker"] == speaker], each)
    ]


def for_training(speech: Path, file: Path) -> None:
    """Write a manifest of English speech without the test recordings."""
    rows = [
        {**row, "path": str((speech / row["path"]).resolve()), "speaker": row["speaker"] or name}
        for row in manifest(speech)
        if (name := row["utterance"])
        and row["split"] == "train"
        and row["corpus"] in ("speechocean762", "librispeech", "picovoice_sti")
    ]
    test_speakers = {one.speaker for one in unheard(speech)}
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(
            out, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None
        )
        writer.writeheader()
        writer.writerows(row for row in rows if row["speaker"] not in test_speakers)
