"""Measures how well a recogniser understands the outputs of the systems, on real speech.

Found: of six command words ``recast`` loses 8 % and ``base`` 23 %, of originals 0.7 %.

    pip install -e .[evaluate]
    python benchmarks/studies/synthesis/intelligibility.py --speech DIR [--system NAME ...] [--copy]
        [--commands]

One recogniser, pocketsphinx with its own model of American English, transcribes the originals and
the outputs of each system with a fixed key. It fails on free text by speakers with an accent, so
its vocabulary is limited in three ways:

- ``words``: six command words, 50 recordings each (picovoice_ww), voices of many people without
  speaker labels, so each recording gets a voice of its own. One of the six is picked. Figure: share
  that was not picked right.
- ``sentences``: every adult of speechocean762, natives of Mandarin who read English. One of the 20
  sentences of this speaker is picked, or nothing. Figure: share that was not picked right.
- ``WER``: those adults whom the recogniser understands. Words are recognised by a bigram of the
  speaker's 20 sentences. Figure: word error rate. A speaker is in if, of the first half of the
  utterances, the first four originals are picked right; measured is on the second half alone, as in
  ``sentences``.

Sentences with a word that the recogniser cannot pronounce are left out for all systems, and
counted. Intervals are of 95 %, by bootstrap over speakers; of ``words`` over recordings, as its
speakers are not known, and so too narrow.

With ``--copy``, ``base`` also synthesizes each speaker's own voice and pitch: the words that its
parts lose without anonymization. ``--commands`` measures command words alone.

These figures compare systems by one recogniser that was made for untouched speech and is not
adapted; they are no figures of what people understand.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from copy_synthesis import of, own, spoken

import voicenym
from voicenym.anonymizer import usable
from voicenym.metrics import word_errors
from voicenym.recognition.interface import RATE
from voicenym.recognition.speaker_grammar import Pairs, intelligible, recognise_speakers
from voicenym.resynthesis.bundled.base_core import scaled
from voicenym.systems.base import Base
from voicenym.verification.verifiers import encoder_of

ADULT = 18
FIRST_HALF = 10
SCREENED, MEASURED = 4, 2
"""Number of utterances of each speaker, of the first half and of the second."""
COMMANDS = 50
PRONUNCIATIONS = {"snowboy": "S N OW B OY"}
REPLICATES = 1000

Row = dict[str, str]
Rate = tuple[float, float, float]


def manifest(speech: Path) -> list[Row]:
    with (speech / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def adults(rows: list[Row], split: str) -> dict[str, list[Row]]:
    """Utterances of each adult who reads sentences, in the manifest's order."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if (
            row["corpus"] == "speechocean762"
            and int(row["age"] or 0) >= ADULT
            and (split in ("all", row["split"]))
        ):
            found[row["speaker"]].append(row)
    return dict(found)


def commands(rows: list[Row]) -> list[Row]:
    """As many recordings of each command word, evenly from the whole list."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["corpus"] == "picovoice_ww":
            found[row["text"]].append(row)
    return [
        group[place]
        for group in found.values()
        for place in np.linspace(0, len(group) - 1, min(COMMANDS, len(group))).astype(int)
    ]


def changed(system: Any, speech: Path, row: Row, speaker: str) -> np.ndarray:
    """A recording ``[time]`` through a system; as it is for None."""
    samples, rate = soundfile.read(speech / row["path"], dtype="float32")
    assert rate == RATE
    if system is None:
        return samples
    # A benchmark's key is no secret: everyone must get the same figures.
    key = voicenym.Key(hashlib.sha256(b"voicenym benchmark intelligibility").digest(), None)
    audio = voicenym.Audio(torch.from_numpy(samples), RATE)
    return system(audio, key.pseudonym(speaker)).samples.numpy()


class Copy:
    """``base`` in the speaker's own voice; whose pseudonym it is told makes no difference."""

    def __init__(self) -> None:
        self._parts, self._encoder = Base().parts, encoder_of("ecapa-small")

    def __call__(self, audio: voicenym.Audio, pseudonym: voicenym.Pseudonym) -> voicenym.Audio:
        signal = audio.samples.reshape(1, -1)
        known = of(signal, self._parts)
        voice = own(scaled(self._encoder.embed([signal[0]]))[0], known)
        copy = spoken(self._parts, signal, voice, known)
        return voicenym.Audio(copy.reshape(audio.samples.shape), audio.rate)


def wrong(pairs: Pairs) -> tuple[int, int]:
    """Utterances that were not picked right, and utterances."""
    return sum(said != heard for said, heard in pairs), len(pairs)


def word_error_rate(heard: dict[str, Pairs]) -> Rate:
    """WER in percent and its 95 % interval by bootstrap over speakers."""
    rows = [(speaker, *pair) for speaker, pairs in heard.items() for pair in pairs]
    speakers, said, found = zip(*rows, strict=True)
    result = word_errors.word_errors(said, found, speakers)
    low, high = result.interval or (np.nan, np.nan)
    return 100 * result.value, 100 * low, 100 * high


def rate(counts: list[tuple[int, int]]) -> Rate:
    """Errors in percent of ``[speaker, (errors, of)]``, pooled, and its 95 % interval."""
    table = np.array(counts, dtype=float)
    drawn = np.random.default_rng(0).integers(0, len(table), (REPLICATES, len(table)))
    sums = table[drawn].sum(1)
    low, high = np.percentile(100 * sums[:, 0] / sums[:, 1], [2.5, 97.5])
    errors, of = table.sum(0)
    return 100 * errors / of, float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--system", action="append", help="default: all systems")
    parser.add_argument(
        "--split",
        choices=["all", "train", "dev"],
        default="all",
        help="of the sentences; dev for a system that was trained on train",
    )
    parser.add_argument("--copy", action="store_true", help="base in the speaker's own voice too")
    parser.add_argument("--commands", action="store_true", help="command words alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # What is left out is counted at the end, once and not for each system.
    warnings.filterwarnings("ignore", message=".*cannot pronounce")
    rows = manifest(options.speech)
    readers = {} if options.commands else adults(rows, options.split)
    orders = commands(rows)
    prompts = {speaker: [r["text"] for r in group] for speaker, group in readers.items()}
    six = sorted({r["text"] for r in orders})

    def said(system: Any, part: slice) -> dict[str, list[tuple[str, np.ndarray]]]:
        return {
            speaker: [(r["text"], changed(system, options.speech, r, speaker)) for r in group[part]]
            for speaker, group in readers.items()
        }

    started = time.perf_counter()
    clear = intelligible(recognise_speakers(said(None, slice(0, SCREENED)), prompts, choice=True))
    print(f"{len(orders)} command words")
    if readers:
        print(
            f"{len(readers)} readers (split {options.split}), of whom {len(clear)} are understood; "
            f"{time.perf_counter() - started:.0f} s"
        )
    measured = ["words, %", *(["sentences, %", "WER, %"] if readers else [])]
    print(f"{'system':16s} {' '.join(f'{one:>20s}' for one in measured)} {'seconds':>8s}")
    systems: dict[str, Any] = {"original": None}
    systems |= {name: voicenym.load(name) for name in options.system or usable()}
    if options.copy:
        systems["base, a copy"] = Copy()
    for name, system in systems.items():
        started = time.perf_counter()
        commanded = [
            (r["text"], changed(system, options.speech, r, r["utterance"])) for r in orders
        ]
        picked = recognise_speakers(
            {"": commanded}, {"": six}, choice=True, pronunciations=PRONUNCIATIONS
        )[""]
        rates = [rate([wrong([pair]) for pair in picked])]
        if readers:
            read = said(system, slice(FIRST_HALF, FIRST_HALF + MEASURED))
            chosen = recognise_speakers(read, prompts, choice=True)
            spoken = recognise_speakers({s: read[s] for s in clear}, prompts, choice=False)
            rates += [rate([wrong(p) for p in chosen.values()]), word_error_rate(spoken)]
        cells = " ".join(f"{'{:.1f} ({:.1f} to {:.1f})'.format(*r):>20s}" for r in rates)
        print(f"{name:16s} {cells} {time.perf_counter() - started:8.0f}", flush=True)
    if not readers:
        return
    total, kept = sum(map(len, read.values())), sum(map(len, chosen.values()))
    print(
        f"sentences: {kept} of {total} recordings, {total - kept} left out whose words the "
        f"recogniser cannot pronounce; WER: {sum(map(len, spoken.values()))} recordings"
    )


if __name__ == "__main__":
    main()
