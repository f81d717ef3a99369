"""Transcribed dataset: omissions, order, and reproducible indices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.training.speech.speech_cache import SpeechCache, Utterance
from voicenym.training.speech.transcribed_dataset import Sentences, collated, transcribed

ALPHABET = Alphabet(" abc")


class Constant:
    """Renders a recording as so many samples as its speaker says, of its own value."""

    def identity(self, recording: Recording) -> str:
        return recording.name

    def __call__(self, recording: Recording) -> np.ndarray:
        level = (1 + int(recording.name)) / 100
        return np.full(int(recording.speaker), level, dtype=np.float32)


def cache_folder(folder: Path, sizes: list[int], texts: list[str]) -> list[Utterance]:
    recordings = [
        Recording(f"{i:02d}", str(size), Path("none.wav"), text=text)
        for i, (size, text) in enumerate(zip(sizes, texts, strict=True))
    ]
    return SpeechCache(folder / "cache").fill(recordings, Constant())


@pytest.fixture
def speech(tmp_path):
    sizes = [16_000 + 1_000 * ((7 * i) % 10) for i in range(10)]
    found, _ = transcribed(cache_folder(tmp_path, sizes, ["ab c"] * 10), ALPHABET)
    return found


def test_texts_are_normalised_and_what_cannot_be_learnt_is_counted(tmp_path):
    sizes = [16_000, 16_000, 16_000, 400_000, 3_200]
    texts = ["A, b!", "", "xyz", "a", "aaaaa"]
    kept, left = transcribed(cache_folder(tmp_path, sizes, texts), ALPHABET)
    assert [one.tokens for one in kept] == [(2, 1, 3)]
    assert left == {
        "without text": 1,
        "with characters that the recogniser does not know": 1,
        "longer than 20 s": 1,
        "too short for their text": 1,
    }


def test_an_empty_training_set_is_reported(tmp_path):
    with pytest.raises(CorpusError, match="2 without text"):
        transcribed(cache_folder(tmp_path, [16_000, 16_000], ["", "?"]), ALPHABET)


def test_played_fast_a_text_needs_more_room(tmp_path):
    utterances = cache_folder(tmp_path, [16_000 * 4 // 25], ["abca"])  # four frames
    assert transcribed(utterances, ALPHABET)[0]
    with pytest.raises(CorpusError, match="too short"):
        transcribed(utterances, ALPHABET, fastest=1.2)


def who(item: tuple[torch.Tensor, torch.Tensor]) -> int:
    return round(float(item[0].median()) * 100) - 1


def test_the_first_round_ascends_and_every_round_holds_all_but_the_rest(speech):
    sentences = Sentences(speech, group=3, count=9)
    first = [sentences[i] for i in range(9)]
    lengths = [len(samples) for samples, _ in first]
    assert lengths == sorted(lengths)
    left = set()
    for epoch in range(1, 12):
        sentences.advance(epoch)
        received = [sentences[i] for i in range(9)]
        names = {who(item) for item in received}
        assert len(names) == 9
        left |= set(range(10)) - names
        for start in range(0, 9, 3):
            sizes = [len(samples) for samples, _ in received[start : start + 3]]
            assert max(sizes) / min(sizes) < 1.6
    assert len(left) > 3  # chance, not length, leaves out


def test_an_index_means_the_same_however_it_is_come_by(speech):
    whole = Sentences(speech, 2, 40, speeds=(0.9, 1.0, 1.1), seed=3)
    parts = Sentences(speech, 2, 8, speeds=(0.9, 1.0, 1.1), seed=3)
    sizes = set()
    for place in (39, 0, 17, 23, 8):
        parts.advance(place // 8)
        one, other = whole[place], parts[place % 8]
        assert torch.equal(one[0], other[0])
        sizes.add(len(one[0]))
    another = Sentences(speech, 2, 40, speeds=(0.9, 1.0, 1.1), seed=4)
    assert any(len(another[i][0]) != len(whole[i][0]) for i in range(20))


def test_speed_changes_length_and_not_text(speech):
    slow = Sentences(speech, 2, 10, speeds=(0.5,))
    plain = Sentences(speech, 2, 10)
    assert len(slow[0][0]) == 2 * len(plain[0][0])
    assert torch.equal(slow[0][1], plain[0][1])


def test_fewer_sentences_than_a_group_repeat(speech):
    sentences = Sentences(speech[:2], 5, 5)
    assert {who(sentences[i]) for i in range(5)} == {0, 1}


def test_a_batch_is_padded(speech):
    samples, lengths, texts, sizes = collated(
        [(torch.ones(3), torch.tensor([1])), (torch.ones(2), torch.tensor([1, 2]))]
    )
    assert samples[:, :4].tolist() == [[1, 1, 1, 0], [1, 1, 0, 0]]
    assert samples.sum() == 5
    assert samples.shape[1] % 4_000 == 0
    assert (lengths.tolist(), texts.tolist(), sizes.tolist()) == ([3, 2], [[1, 0], [1, 2]], [1, 2])
