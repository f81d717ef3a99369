"""Words that a codec keeps: sentences, command words, and words compared by their cepstra."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import intelligibility
import numpy as np
import torch

from voicenym.anonymizer import Anonymizer
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform
from voicenym.evaluation.results import Measured
from voicenym.nets.content.units import Cepstra
from voicenym.recognition.speaker_grammar import Pairs, intelligible, recognise_speakers

SCREENED = 4
"""Originals by which readers are chosen whom the recogniser understands."""
Figures = dict[str, Measured]


class Words:
    """Readers and command words of a corpus, and how many are not understood.

    Args:
        rows: of the manifest.
        speech: its folder.
        readers: utterances of each.
        replicates: of the bootstrap.
    """

    def __init__(
        self,
        rows: list[intelligibility.Row],
        speech: Path,
        readers: Mapping[str, list[intelligibility.Row]],
    ) -> None:
        self._speech, self._readers = speech, readers
        self._orders = intelligibility.commands(rows)
        self._prompts = {name: [row["text"] for row in own] for name, own in readers.items()}
        first = {name: own[:SCREENED] for name, own in readers.items()}
        self._clear = intelligible(
            recognise_speakers(self._spoken(None, first), self._prompts, choice=True)
        )

    def __call__(self, system: Anonymizer | None) -> Figures:
        """What is lost through a system; of the originals for None."""
        start = intelligibility.FIRST_HALF
        second = {
            name: own[start : start + intelligibility.MEASURED]
            for name, own in self._readers.items()
        }
        read = self._spoken(system, second)
        picked = recognise_speakers(read, self._prompts, choice=True)
        figures = {"sentences": _rate(_wrong(picked))}
        clear = {name: read[name] for name in self._clear}
        if any(clear.values()):
            heard = recognise_speakers(clear, self._prompts, choice=False)
            figures["WER"] = Measured(*intelligibility.word_error_rate(heard), "%")
        if self._orders:
            six = sorted({row["text"] for row in self._orders})
            spoken = {
                "": [
                    (r["text"], intelligibility.changed(system, self._speech, r, r["utterance"]))
                    for r in self._orders
                ]
            }
            special = intelligibility.PRONUNCIATIONS
            found = recognise_speakers(spoken, {"": six}, choice=True, pronunciations=special)[""]
            figures["command words"] = _rate([intelligibility.wrong([pair]) for pair in found])
        return figures

    def _spoken(
        self, system: Anonymizer | None, rows: Mapping[str, list[intelligibility.Row]]
    ) -> dict[str, list[tuple[str, np.ndarray]]]:
        return {
            name: [(r["text"], intelligibility.changed(system, self._speech, r, name)) for r in own]
            for name, own in rows.items()
        }


def _wrong(heard: Mapping[str, Pairs]) -> list[tuple[int, int]]:
    return [intelligibility.wrong(pairs) for pairs in heard.values()]


def _rate(counts: list[tuple[int, int]]) -> Measured:
    return Measured(*intelligibility.rate(counts), "%")


def repeated(heard: Sequence[Recording], word: str) -> dict[str, list[tuple[Recording, Recording]]]:
    """Two recordings of each word of each speaker, the first two by name.

    Args:
        heard: recordings.
        word: regular expression, searched in their names; its group is the word.
    """
    said: dict[str, dict[str, list[Recording]]] = defaultdict(lambda: defaultdict(list))
    for recording in sorted(heard):
        if found := re.search(word, recording.name):
            said[recording.speaker][found[1]].append(recording)
    pairs = {s: [(w[0], w[1]) for w in own.values() if len(w) > 1] for s, own in said.items()}
    return {speaker: own for speaker, own in pairs.items() if len(own) > 1}


def taken_for_others(
    pairs: Mapping[str, Sequence[tuple[Recording, Recording]]], transform: Transform
) -> Measured:
    """Percent of words whose second recording resembles that of another word of the speaker more
    than its own first, both transformed.
    """
    features, counts = Cepstra(), []
    for own in pairs.values():
        first, second = (
            [features.extract(torch.from_numpy(transform(pair[i]))) for pair in own] for i in (0, 1)
        )
        nearest = warped(second, first).argmin(1)
        counts.append((int((nearest != np.arange(len(own))).sum()), len(own)))
    return _rate(counts)


def warped(rows: Sequence[torch.Tensor], columns: Sequence[torch.Tensor]) -> np.ndarray:
    """Distances ``[row, column]`` of frames ``[frame, size]`` along the best way through time, per
    frame of both.
    """
    a, b = (torch.nn.utils.rnn.pad_sequence(list(x), batch_first=True) for x in (rows, columns))
    apart = torch.cdist(a[:, None], b[None]).double().numpy()
    height, width = apart.shape[2:]
    sums = np.full((len(rows), len(columns), height + 1, width + 1), np.inf)
    sums[:, :, 0, 0] = 0.0
    for i in range(height):
        for j in range(width):
            before = np.minimum(sums[:, :, i, j + 1], sums[:, :, i + 1, j])
            sums[:, :, i + 1, j + 1] = apart[:, :, i, j] + np.minimum(before, sums[:, :, i, j])
    found = [[sums[i, j, len(x), len(y)] / (len(x) + len(y)) for j, y in enumerate(columns)]
             for i, x in enumerate(rows)]  # fmt: skip
    return np.array(found)
