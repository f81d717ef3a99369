r"""Writes corpora of children, of speech in noise and of speech in rooms, for `voicenym evaluate`.

Found: ``docs/research/word-codes-recognisers.md``, Children, noise and rooms.

    python benchmarks/studies/corpora/hard_speech.py --speech DIR --split dev \
        --part speechocean762 --people adults --around noise --decibels 10 -o noisy/
    voicenym evaluate noisy/ --enrolment 1 --tried 6 --sample 102 --attacker ignorant \
        --no-sanity --recogniser-weights whisper-tiny.en -s word-codes -o report/

Noise is coloured, at one ratio of speech to noise; rooms are a direct sound and a decaying tail
(`voicenym.training.speech.augmentation.Surroundings`), drawn for each recording by its name.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from pathlib import Path

import soundfile
import torch

from voicenym.corpus.readers.recording_subsets import halved
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.recordings import recordings
from voicenym.training.speech.augmentation import Surroundings

FIELDS = ("utterance", "path", "speaker", "gender", "age", "language", "text")


def surroundings(kind: str, decibels: float) -> Surroundings:
    """What every recording gets: noise, a room, or nothing."""
    return Surroundings(
        noise=float(kind == "noise"),
        babble=0.0,
        room=float(kind == "room"),
        band=0.0,
        snr=(decibels, decibels),
        reverberation=(0.3, 0.7),
    )


def heard(recording: Recording, around: Surroundings) -> torch.Tensor:
    """Samples ``[time]`` of a recording in its surroundings, at 16 kHz."""
    seed = int.from_bytes(hashlib.sha256(recording.name.encode()).digest()[:7], "big")
    clean = torch.from_numpy(recording.samples())[None]
    return around(clean, torch.Generator().manual_seed(seed))[0].clamp(-1.0, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="folder or manifest")
    parser.add_argument("--split", help="rows of a manifest")
    parser.add_argument("--part", help="corpus of a manifest")
    parser.add_argument("--half", default="report", help="of the speakers: tune or report")
    parser.add_argument("--people", choices=["adults", "children"], default="adults")
    parser.add_argument("--around", choices=["noise", "room", "none"], default="none")
    parser.add_argument("--decibels", type=float, default=10.0, help="speech to noise")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()

    around = surroundings(options.around, options.decibels)
    all_people = halved(recordings(options.speech, options.split, options.part), options.half)
    chosen = [r for r in all_people if r.age_group == options.people]
    options.output.mkdir(parents=True)
    with (options.output / "manifest.tsv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(FIELDS)
        for one in chosen:
            path = f"{one.name}.flac"
            soundfile.write(options.output / path, heard(one, around).numpy(), RATE)
            row = (one.name, path, one.speaker, one.sex, one.age, "en", one.text)
            table.writerow(row)
    print(f"{len(chosen)} recordings of {len({r.speaker for r in chosen})} {options.people}")


if __name__ == "__main__":
    main()
