"""A manifest of the synthetic corpus: four speakers to evaluate, two to draw from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from voicenym.corpus.recording import Recording

POOL = ("s4", "s5")
"""Speakers of the split ``train``; the others are in ``dev``."""


def write_split(corpus: Iterable[Recording], root: Path) -> None:
    """Copy recordings into folders of their speakers, with a ``manifest.tsv`` of both splits.

    Args:
        corpus: recordings of files.
        root: the folder.
    """
    rows = ["utterance\tpath\tspeaker\tgender\tsplit"]
    for recording in corpus:
        target = root / recording.speaker / f"{recording.name}.wav"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(recording.path, target)
        split = "train" if recording.speaker in POOL else "dev"
        rows.append(
            f"{recording.name}\t{recording.speaker}/{recording.name}.wav\t{recording.speaker}\t"
            f"{recording.sex}\t{split}"
        )
    (root / "manifest.tsv").write_text("\n".join(rows) + "\n")
