"""Decoding to timed phones and words."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym import read
from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.recognition.sphinx_processes.segment_decoding import SegmentDecoder

pytest.importorskip("pocketsphinx")


@pytest.fixture(scope="module")
def samples(sample):
    return read(sample).samples.numpy().reshape(-1)


@pytest.fixture(scope="module")
def phones():
    with SegmentDecoder("phones") as decoder:
        yield decoder


def test_phones_follow_each_other_without_gaps(phones, samples):
    found = phones.decode(samples)
    ends = [segment.first + segment.frames for segment in found]
    assert [segment.first for segment in found] == [0, *ends[:-1]]
    assert ends[-1] == pytest.approx(len(samples) / 160, abs=5)
    spoken = [segment for segment in found if segment.name != SILENCE]
    assert 5.0 < len(spoken) / (len(samples) / 16_000) < 20.0


def test_a_recording_does_not_depend_on_the_one_before(phones, samples):
    alone = phones.decode(samples)
    phones.decode(np.random.default_rng(0).normal(scale=0.05, size=16_000).astype(np.float32))
    assert phones.decode(samples) == alone


def test_slow_speech_has_longer_phones(phones, samples):
    slow = np.interp(np.arange(0, len(samples), 0.8), np.arange(len(samples)), samples)
    usual, longer = (
        np.mean([s.frames for s in phones.decode(x.astype(np.float32)) if s.name != SILENCE])
        for x in (samples, slow)
    )
    assert longer > 1.1 * usual


def test_words_are_words(samples):
    with SegmentDecoder("words") as decoder:
        names = [s.name for s in decoder.decode(samples) if s.name != SILENCE]
        assert decoder.decode(np.empty(0, np.float32)) == []
    assert "nobody" in names
