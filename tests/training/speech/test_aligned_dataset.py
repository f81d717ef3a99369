"""Dataset with phone alignments: usable utterances, and states aligned with sounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.nets.words.phone_states.phone_state_network import FRAME
from voicenym.nets.words.phone_states.phones import QUIET, SILENCE, Phone, States
from voicenym.training.speech.aligned_dataset import (
    NONE,
    AlignedSentences,
    WholeUtterances,
    aligned,
    collated,
    shares,
)
from voicenym.training.speech.speech_cache import SpeechCache

STATES = States(("AA", "B"))
PHONES = [
    Phone(SILENCE, 0.0, 1.0),
    Phone("AA", 1.0, 1.6),
    Phone("B", 1.6, 2.0),
    Phone(SILENCE, 2.0, 3.0),
]


class Loud:
    """Loud where a phone is, and silent where none is."""

    def identity(self, recording):
        return recording.name

    def __call__(self, recording):
        samples = np.zeros(48_000, dtype=np.float32)
        samples[16_000:25_600] = 0.5
        samples[25_600:32_000] = 0.25
        return samples


@pytest.fixture
def shelved(tmp_path):
    recordings = [Recording(str(i), f"s{i}", Path("none.wav"), text="a b") for i in range(6)]
    return SpeechCache(tmp_path / "cache").fill(recordings, Loud())


def test_what_has_no_alignment_is_counted(shelved):
    silence = [Phone(SILENCE, 0.0, 3.0)]
    kept, left = aligned(shelved[:3], [PHONES, None, silence], 20.0)
    assert [one.speech for one in kept] == shelved[:1]
    assert kept[0].speech_interval == (1.0, 2.0)
    assert left == {"whose text could not be laid along their speech": 2}
    with pytest.raises(CorpusError, match="longer than 2 s"):
        aligned(shelved, [PHONES] * 6, 2.0)


def test_speech_that_lost_time_is_refused(shelved):
    with pytest.raises(CorpusError, match="keep time"):
        aligned(shelved[:1], [[Phone("AA", 0.0, 4.0)]], 20.0)


def test_states_stay_where_sounds_are_at_any_speed(shelved):
    kept, _ = aligned(shelved, [PHONES] * 6, 20.0)
    sentences = AlignedSentences(kept, STATES, 2, 30, (0.8, 1.25), 1)
    lengths = set()
    for i in range(30):
        samples, labels = sentences[i]
        lengths.add(len(samples))
        assert len(labels) == (1 + len(samples) // 160 + 2) // 3
        places = np.minimum(np.arange(len(labels)) * round(FRAME * 16_000), len(samples) - 1)
        loud = samples.numpy()[places]
        expected = np.select([loud > 0.375, loud > 0.125], [1, 3], QUIET)
        # edges ring by the resampling
        levels = np.where(labels > 0, (labels.numpy() - 1) // 2 * 2 + 1, QUIET)
        assert (levels != expected).sum() <= 3
        pause = int((labels != QUIET).nonzero()[0])
        assert 0.05 < pause * FRAME < 0.55
        again, same = sentences[i]
        torch.testing.assert_close(samples, again, rtol=0, atol=0)
        assert torch.equal(labels, same)
    assert len(lengths) > 10


def test_batches_have_nothing_behind_their_utterances(shelved):
    kept, _ = aligned(shelved[:2], [PHONES] * 2, 20.0)
    whole = WholeUtterances(kept, STATES)
    assert len(whole) == 2
    samples, labels = whole[0]
    speech, lengths, targets = collated([(samples, labels), (samples[:16_000], labels[:34])])
    assert lengths.tolist() == [48_000, 16_000]
    assert targets.shape[1] == (1 + speech.shape[1] // 160 + 2) // 3
    assert torch.equal(targets[0, : len(labels)], labels)
    assert (targets[1, 34:] == NONE).all()


def test_shares_are_those_of_states(shelved):
    kept, _ = aligned(shelved, [PHONES] * 6, 20.0)
    found = np.exp(shares(kept, STATES))
    assert found.sum() == pytest.approx(1.0)
    # 0.25 s of silence on both sides, 0.6 s of AA, 0.4 s of B
    np.testing.assert_allclose(found, [0.333, 0.2, 0.2, 0.133, 0.133], atol=0.03)
    # what targets are on average, once a tenth of each is spread over all
    spread = np.exp(shares(kept, STATES, 0.1))
    np.testing.assert_allclose(spread, 0.9 * found + 0.1 / 5)
