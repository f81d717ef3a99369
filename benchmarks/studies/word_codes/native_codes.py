r"""How far speakers would be hidden if word codes were those of a native reading: the bound.

    python benchmarks/studies/corpora/read_aloud.py --texts train.txt -o read-train/ --voice piper
    python benchmarks/studies/corpora/read_aloud.py --texts dev.txt -o read-dev/ --voice piper
    python benchmarks/studies/word_codes/native_codes.py --speech DIR --whisper FOLDER --cache DIR \
        --readings-train read-train/ --readings-dev read-dev/

train.txt and dev.txt hold the texts of recordings of speechocean762's train (twelve of each
speaker) and dev (eleven of each), one a line. Recordings whose text nobody read are left out.

Each row is one kind of codes of the same recordings: their own; those of the reading, on the time
axis of the recording (`voicenym.training.content.native_codes.reading_alignment`), with the
recording's own codes in quiet places or one code of silence; their own with one code of silence;
collapsed, without repetitions, so that no length is left; and the reading as it is. Figures:
readers of codes as in `word_code_readers.py`; and words by Whisper's decoder on about 80 recordings
of adults of dev.

Found (95 speakers of dev, 26 November 2026; EER in %, without and with lengths): own codes 29.8 and
26.7; aligned with own silence 34.3 and 29.5; aligned with one code of silence 42.8 and 29.5; own
with one code of silence 30.4 and 25.3; collapsed own 30.6 and 31.2, aligned 42.0 and 40.1. So
native codes hide what the sounds tell, but not the time they take. WER of 86 recordings: own
34.8 %, aligned 49.6 % with own silence, as the decoder repeats itself, and 17.1 % with code 207 in
quiet places (``docs/research/word-codes-native.md``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from word_code_readers import comparisons, found, tried
from word_code_recordings import ADULT, Sample, learnt, manifest
from word_codes import written

from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import ORIGINAL
from voicenym.corpus.workers.cpu_count import cores
from voicenym.metrics import word_errors
from voicenym.nets.content import word_code_bottleneck
from voicenym.nets.words.whisper.whisper_published import published
from voicenym.nets.words.word_codes.codes_and_states import codes_and_states
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.native_codes.native_code_targets import (
    NativeTarget,
    NativeTargets,
    matched,
)
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

ABOUT = 80
"""Recordings whose words are counted."""


def collapsed(codes: np.ndarray) -> np.ndarray:
    """Codes without repetitions."""
    return codes[np.flatnonzero(np.diff(codes, prepend=-1))]


def kinds(target: NativeTarget, silence: int) -> dict[str, np.ndarray]:
    """Codes of a recording, by kind."""
    own, one_silence = target.own, np.where(target.silent, silence, target.own)
    native = target.codes(silence)
    return {
        "own": own,
        "aligned, own silence": np.where(target.silent, own, target.native),
        "aligned, one silence": native,
        "own, one silence": one_silence,
        "collapsed own": collapsed(own),
        "collapsed own, one silence": collapsed(one_silence),
        "collapsed aligned, one silence": collapsed(native),
    }


def recordings(folder: Path) -> list[Recording]:
    return [
        Recording(r["utterance"], r["speaker"], folder / r["path"], text=r["text"])
        for r in manifest(folder)
    ]


def paired(
    samples: Sequence[Sample], readings: Sequence[Recording], cache: SpeechCache
) -> tuple[list[Sample], list[tuple[Utterance, Utterance]]]:
    """Samples that somebody read, with both in the speech cache."""
    made = [Recording(one.name, one.speaker, one.path, text=one.text) for one in samples]
    pairs = matched(made, readings)
    needed = sorted({*pairs, *pairs.values()})
    held = {one.recording: one for one in cache.fill(needed, ORIGINAL, cores())}
    there = [(s, r) for s, r in zip(samples, made, strict=True) if r in pairs]
    return [s for s, _ in there], [(held[r], held[pairs[r]]) for _, r in there]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--readings-train", type=Path, action="append", required=True)
    parser.add_argument("--readings-dev", type=Path, action="append", required=True)
    parser.add_argument("--codes", type=Path, default=word_code_bottleneck.BUNDLED)
    parser.add_argument("--silence", type=int, default=207, help="the code of quiet places")
    parser.add_argument("--learnt", type=int, default=12, help="recordings of each, for readers")
    given = parser.parse_args()
    whisper, codes = published(given.whisper), word_code_bottleneck.load(given.codes)
    content = WordCodeContent.of(whisper.network, codes)
    cache = SpeechCache(given.cache)
    train, train_pairs = paired(
        learnt(given.speech, given.learnt),
        [one for folder in given.readings_train for one in recordings(folder)],
        cache,
    )
    dev, dev_pairs = paired(
        tried(given.speech),
        [one for folder in given.readings_dev for one in recordings(folder)],
        cache,
    )
    pairs, everything = [*train_pairs, *dev_pairs], [*train, *dev]
    targets = NativeTargets(content, given.cache)(pairs, lambda line: print(line, flush=True))
    codes_of = [kinds(target, given.silence) for target in targets]

    ages = {row["utterance"]: int(row["age"] or 0) for row in manifest(given.speech)}
    adults = [i for i, one in enumerate(dev) if ages[one.name] >= ADULT]
    adults = [len(train) + i for i in adults[:: max(1, len(adults) // ABOUT)]]
    who = [everything[i].speaker for i in adults]
    for kind in ("own", "aligned, own silence", "aligned, one silence"):
        windows = [
            codes.decoded(torch.from_numpy(codes_of[i][kind].astype(np.int64))[:, None])
            for i in adults
        ]
        words = word_errors([everything[i].text for i in adults], written(whisper, windows), who)
        low, high = words.interval or (words.value, words.value)
        print(
            f"{kind}, {len(adults)} recordings: WER {100 * words.value:.1f} "
            f"({100 * low:.1f} to {100 * high:.1f}) %, "
            f"insertions {100 * words.insertions / words.length:.1f} %",
            flush=True,
        )

    read: dict[Path, np.ndarray] = {}
    for (_, reading), own in zip(pairs, codes_of, strict=True):
        if reading.path not in read:
            units = codes_and_states(content, torch.from_numpy(reading.samples()))
            read[reading.path] = units.codes[:, 0].numpy()
        own["the reading itself"] = read[reading.path]
    for kind in codes_of[0]:
        numbers = [own[kind].astype(np.int64)[:, None] for own in codes_of]
        for what, parts in comparisons(numbers, codes.sizes.entries):
            print(f"{kind}, {what}: {found(parts, everything, len(train))}", flush=True)


if __name__ == "__main__":
    main()
