"""LDA and PLDA of a network's embeddings, on embeddings whose space is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.xvector import XVector
from voicenym.verification.embedding_plda import ENCODER, EmbeddingPlda, save
from voicenym.verification.ivector import SpeakerSpace
from voicenym.verification.plda import PLDA


def embeddings(rng, people=80, per_speaker=6, given=3, size=8):
    """Speakers differ in the first dimensions alone; noise is louder in the others."""
    speaker = np.repeat(np.arange(people), per_speaker)
    vectors = (
        rng.normal(size=(people * per_speaker, size)) * np.r_[np.ones(given), 9.0 * np.ones(5)]
    )
    vectors[:, :given] += 4.0 * rng.normal(size=(people, given))[speaker]
    return vectors + 5.0, speaker


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    speaker_encoders.save(XVector(8, 8, 8), tmp_path / ENCODER)
    return tmp_path


def test_lda_keeps_speaker_directions_and_plda_finds_speakers(folder):
    vectors, speakers = embeddings(np.random.default_rng(0))
    space = SpeakerSpace.learn(vectors, [str(s) for s in speakers], most=3)
    kept = np.abs(space.projection)
    assert kept[:, :3].max(1).min() > 20 * kept[:, 3:].max(), "the told dimensions, and no other"
    save(space, folder)
    verifier = EmbeddingPlda(folder, "x")
    tested, who = embeddings(np.random.default_rng(1), people=12)
    enrolment = [tested[who == person][:3] for person in range(12)]
    trials = np.stack([tested[who == person][5] for person in range(12)])
    scores = verifier.score(enrolment, trials)
    assert (scores.argmax(0) == np.arange(12)).mean() >= 0.75
    wanted = PLDA.train(vectors, speakers, lda=3).score(enrolment, trials)
    np.testing.assert_allclose(scores, wanted, rtol=1e-6, atol=1e-6)
    assert verifier.concentration == 1.0


def test_embeddings_are_the_networks_own_and_versions_follow_both(folder):
    vectors, speakers = embeddings(np.random.default_rng(0))
    save(SpeakerSpace.learn(vectors, [str(s) for s in speakers], most=3), folder)
    verifier = EmbeddingPlda(folder)
    sound = np.random.default_rng(2).normal(size=8_000).astype(np.float32)
    np.testing.assert_array_equal(verifier.embed([sound]), verifier.network.embed([sound]))
    save(SpeakerSpace.learn(vectors, [str(s) for s in speakers], most=2), folder)
    assert EmbeddingPlda(folder).version != verifier.version
    with pytest.raises(VoicenymError, match="train them anew"):
        EmbeddingPlda(folder / ENCODER)
