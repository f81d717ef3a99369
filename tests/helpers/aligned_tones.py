"""A corpus of tones with a text and its phones, for recipes that train on alignments."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import soundfile

from voicenym.corpus.recordings import recordings
from voicenym.recognition.sphinx_processes.alignment import _name

COLUMNS = "utterance\tpath\tspeaker\tgender\tage\tsplit\tlanguage\tcorpus\ttext\n"
PHONES = [["SIL", 0.0, 0.2], ["S", 0.2, 0.4], ["IY", 0.4, 0.8]]
"""Of the word "see", in seconds."""


def aligned_tones(folder: Path, speakers: int, with_text: int) -> None:
    """Writes ``train.tsv`` and ``alignments.jsonl``: a recording of each speaker.

    Args:
        folder: to write to.
        speakers: number of them.
        with_text: number of the first of them, who say "see".
    """
    time = np.arange(12_800) / 16_000
    rows = []
    for number in range(speakers):
        path = folder / f"{number}.wav"
        soundfile.write(path, 0.2 * np.sin(2 * np.pi * (300 + 90 * number) * time), 16_000)
        text = "see" if number < with_text else ""
        rows.append(f"u{number}\t{path}\ts{number}\t\t\ttrain\ten\tone\t{text}\n")
    (folder / "train.tsv").write_text(COLUMNS + "".join(rows))
    known = [r for r in recordings(folder / "train.tsv", None, None) if r.text]
    lines = [json.dumps({"of": _name(r), "phones": PHONES}) + "\n" for r in known]
    (folder / "alignments.jsonl").write_text("".join(lines))
