"""What is drawn depends on seed, epoch and index alone; long takes are drawn more often."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.training.speech.epoch_sampling import Epoch, LongCrops
from voicenym.training.speech.speech_cache import Utterance


class Numbers(Epoch[float]):
    def drawn(self, rng: np.random.Generator) -> float:
        return float(rng.random())


def test_an_item_depends_on_seed_epoch_and_index_alone():
    one, two = Numbers(9, 3), Numbers(9, 3)
    assert len(one) == 9
    first = list(one)
    assert len(set(first)) == 9
    assert [two[i] for i in reversed(range(9))] == first[::-1]
    two.advance(1)
    assert not set(two) & set(first)
    two.advance(0)
    assert list(two) == first
    assert not set(Numbers(9, 4)) & set(first)
    assert not set(Numbers(9, 3, 1)) & set(first)


@pytest.mark.parametrize("index", [-1, 9])
def test_there_are_no_others(index):
    with pytest.raises(IndexError):
        Numbers(9, 3)[index]


@dataclass(frozen=True)
class Heard:
    utterance: Utterance


class Crops(LongCrops[Heard, int]):
    def drawn(self, rng: np.random.Generator) -> int:
        return self.picked(rng)


def crops(*lengths: int, least: int = 5, count: int = 4000) -> Crops:
    per_speaker = [
        Heard(Utterance(Recording(f"r{i}", f"s{9 - i}", Path("x")), Path("x"), length))
        for i, length in enumerate(lengths)
    ]
    return Crops(per_speaker, lambda take: take.utterance.length, least, 0.3, count, 0)


def test_utterances_are_drawn_in_proportion_to_their_length():
    drawn = np.bincount(list(crops(10, 30, 60)), minlength=3) / 4000
    assert drawn == pytest.approx([0.1, 0.3, 0.6], abs=0.03)


def test_short_utterances_are_left_out_and_speakers_numbered():
    found = crops(10, 4, 5)
    assert [take.utterance.length for take in found.items] == [10, 5]
    assert found.speakers == ["s7", "s9"]
    assert found.labels == [1, 0]
    assert set(found) == {0, 1}


def test_nothing_long_enough_is_an_error():
    with pytest.raises(CorpusError, match=r"no recording is 0\.3 s long"):
        crops(1, 4)
