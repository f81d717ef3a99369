r"""Measures how many of the voices that keys draw are told apart.

Found: ``ecapa-small`` tells 14 of 40 voices of ``word-codes`` apart
(``docs/research/word-codes-vocoder.md``).

    pip install -e .[evaluate]
    python benchmarks/studies/word_codes/drawn_voices.py --speech DIR
        --system word-codes:language=en

Each of `--keys` keys draws a voice, which speaks `--recordings` recordings of different adults of
speechocean762's dev (tune half). A verifier compares the outputs: two recordings in one voice are
targets, two in different voices, of different words, are nontargets. EER (50 % is chance: keys give
no different voices; 0 %: all are told apart), how often the voice of an output is first among all
voices (by their other recordings), and how many voices are told apart: those whose similarity to
all that were counted before is below the threshold of the EER. The mean of
all vectors is subtracted first. Resemblyzer needs `voicenym models pull resemblyzer`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from word_code_recordings import dev

import voicenym
from voicenym.metrics import eer
from voicenym.verification.verifiers import encoder_of


def told_apart(vectors: np.ndarray) -> tuple[float, float, int]:
    """EER in %, first among all in %, and the number of voices told apart.

    Args:
        vectors: ``[voice, recording, element]``, of unit length.
    """
    voices, count, _ = vectors.shape
    table = np.einsum("vre,wse->vwrs", vectors, vectors)
    pairs = list(itertools.permutations(range(count), 2))
    own = np.stack([[table[v, v, r, s] for r, s in pairs] for v in range(voices)]).ravel()
    others = np.stack(
        [
            [table[v, w, r, s] for r, s in pairs]
            for v in range(voices)
            for w in range(voices)
            if v != w
        ]
    ).ravel()
    found = eer(own, others, interval=None)
    # each recording against the mean of every voice's other recordings
    hits = 0
    for r in range(count):
        known = vectors[:, [s for s in range(count) if s != r]].mean(1)
        hits += int(((vectors[:, r] @ known.T).argmax(1) == np.arange(voices)).sum())
    order = np.sort(np.concatenate([own, others]))
    misses = np.searchsorted(np.sort(own), order) / len(own)
    alarms = 1.0 - np.searchsorted(np.sort(others), order) / len(others)
    threshold = float(order[int(np.argmin(np.abs(misses - alarms)))])
    likeness = table.mean((2, 3))
    counted: list[int] = []
    for voice in range(voices):
        if all(likeness[voice, other] < threshold for other in counted):
            counted.append(voice)
    return 100.0 * found.value, 100.0 * hits / (voices * count), len(counted)


def unit(vectors: Sequence[torch.Tensor]) -> np.ndarray:
    table = torch.stack(list(vectors)).double().numpy()
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--system", default="word-codes:language=en")
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--recordings", type=int, default=4)
    parser.add_argument("--verifier", action="append")
    given = parser.parse_args()
    torch.set_num_threads(1)
    anonymize = voicenym.load(given.system)
    tune = [one for one in dev(given.speech, True) if one.half == "tune"]
    speakers = sorted({one.speaker for one in tune})[: given.recordings]
    chosen = [next(one for one in tune if one.speaker == who) for who in speakers]
    audio = [voicenym.read(one.path) for one in chosen]
    outputs = []
    for number in range(given.keys):
        pseudonym = voicenym.Key(bytes([number % 256]) * 32, None).pseudonym("voice")
        outputs += [anonymize(one, pseudonym).samples.reshape(-1) for one in audio]
    for verifier in given.verifier or ["ecapa-small", "resemblyzer"]:
        encoder = encoder_of(verifier)
        vectors = unit([encoder.embed([one])[0] for one in outputs])
        table = vectors.reshape(given.keys, len(audio), -1)
        rate, first, apart = told_apart(table - table.mean((0, 1)))
        print(
            f"{given.system}, {verifier}: {given.keys} voices, {len(audio)} recordings each: EER "
            f"{rate:.1f} %, first {first:.0f} %, told apart {apart} of {given.keys}",
            flush=True,
        )


if __name__ == "__main__":
    main()
