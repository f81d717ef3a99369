"""Speakers of long recordings: windows given to the wrong one, whole, in parts, and by spectrum.

Found: docs/measuring/diarization.md.

    python benchmarks/studies/diarization/long_diarization.py --speech DIR [--half report]
        [--cache FILE]

There are no long recordings of few people with known truth here. Substitutes are conversations of
:mod:`diarization_mixtures` with the same people, joined: each has other turns, another order of a
person's twenty utterances, levels and pink noise of 15 to 35 dB of its own. Conversations of
drawn people, two or three of them, are joined as a recording of many. A window counts as right if
its label is that of the person who speaks in its middle, under the best match of labels and people.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from diarization_mixtures import Condition, conversation, speakers_of
from scipy.optimize import linear_sum_assignment

from voicenym.diarization.clustering import clusterings
from voicenym.diarization.clustering.clusterings import CLUSTERINGS, Posteriors, Vectors, by_vbx
from voicenym.diarization.recording_analysis import analyse
from voicenym.nets.speakers.speaker_encoders import SMALL, load

BLOCK = 160_000
SAME_PEOPLE = ((2, 3, 14), (1, 1, 10), (3, 2, 10), (4, 2, 8))
"""People, recordings, and conversations that are joined in each."""
MANY = 24
"""Conversations of drawn people that are joined."""
REPEATED = 150
"""Windows that are repeated exactly, sixteen times."""

Case = tuple[str, Vectors, npt.NDArray[np.int64]]
"""Name, vectors ``[window, d]`` and people ``[window]``, -1 where nobody speaks."""


def cases(speech: Path, half: str) -> Iterator[Case]:
    """Recordings of the same people, and one of many."""
    people = speakers_of(speech, half)
    names, encoder = sorted(people), load(SMALL).eval()

    def joined(parts: list[tuple[list[str], int, float | None]]) -> tuple[Vectors, npt.NDArray]:
        vectors, truth = [], []
        for who, seed, snr in parts:
            condition = Condition(len(who), snr=snr)
            sound, turns = conversation({name: people[name] for name in who}, condition, seed)
            found = analyse(partial(torch.from_numpy(sound).split, BLOCK), encoder)
            middle = found.windows.mean(1)
            labels = np.full(len(middle), -1)
            for turn in turns.turns:
                labels[(middle >= turn.start) & (middle < turn.end)] = names.index(turn.speaker)
            vectors.append(found.vectors)
            truth.append(labels)
        return np.concatenate(vectors), np.concatenate(truth)

    for count, recordings, conversations in SAME_PEOPLE:
        for number in range(recordings):
            rng = np.random.default_rng([number, count])
            who = rng.choice(names, count, replace=False).tolist()
            yield (
                f"{count} adults, {number + 1}",
                *joined(
                    [
                        (who, 100 * number + part, float(rng.uniform(15, 35)))
                        for part in range(conversations)
                    ]
                ),
            )
    rng = np.random.default_rng(7)
    drawn = [
        (rng.choice(names, int(rng.integers(2, 4)), replace=False).tolist(), seed, None)
        for seed in range(MANY)
    ]
    yield "many adults", *joined(drawn)


def wrong(truth: npt.NDArray[np.int64], found: Posteriors) -> tuple[float, int]:
    """Share of wrong windows in percent, and number of labels."""
    spoken = truth >= 0
    people = np.unique(truth[spoken], return_inverse=True)[1]
    labels = np.unique(found.argmax(1)[spoken], return_inverse=True)[1]
    table = np.zeros((people.max() + 1, labels.max() + 1))
    np.add.at(table, (people, labels), 1)
    rows, columns = linear_sum_assignment(-table)
    return 100.0 * (1.0 - table[rows, columns].sum() / len(people)), int(labels.max()) + 1


def whole(vectors: Vectors) -> Posteriors:
    """VBx over all windows at once, whose speakers nobody joins, as until 26 November 2026."""
    return clusterings.refined(vectors, None, None)


def row(name: str, vectors: Vectors, truth: npt.NDArray[np.int64]) -> None:
    """Prints a line."""
    count = len(set(truth[truth >= 0].tolist()))
    ways: dict[str, Callable[[], Posteriors]] = {
        "whole": lambda: whole(vectors),
        "in parts": lambda: by_vbx(vectors),
        "given, spectral": lambda: CLUSTERINGS["spectral"](vectors, count),
        "given, in parts": lambda: by_vbx(vectors, count),
    }
    print(f"{name} ({count}), {len(vectors)} windows", end="")
    for way, cluster in ways.items():
        share, labels = wrong(truth, cluster())
        print(f"; {way} {share:.1f} % wrong, {labels} found", end="", flush=True)
    print()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    some: list[Case]
    if options.cache is not None and options.cache.is_file():
        some = pickle.loads(options.cache.read_bytes())  # noqa: S301, one's own
    else:
        some = list(cases(options.speech, options.half))
        if options.cache is not None:
            options.cache.write_bytes(pickle.dumps(some))
    for name, vectors, truth in some:
        row(name, vectors, truth)
    for name, vectors, truth in some[:3]:
        row(
            f"{name}, {REPEATED} windows repeated",
            np.tile(vectors[:REPEATED], (16, 1)),
            np.tile(truth[:REPEATED], 16),
        )
    name, vectors, truth = some[-1]
    row(f"{name}, twice", np.tile(vectors, (2, 1)), np.tile(truth, 2))


if __name__ == "__main__":
    main()
