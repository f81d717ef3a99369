"""Published weights as verifiers: found by name, equal in a worker, distinguished by digest."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers.speaker_encoders import make, save
from voicenym.verification.verifiers import encoder_of, verifier

SMALL = {
    "ecapa": {"channels": 16, "size": 12, "attention": 8, "squeeze": 8},
    "xvector": {"channels": 16, "pooled": 20, "size": 12},
}


@pytest.fixture(params=list(SMALL))
def kind(request, tmp_path):
    torch.manual_seed(0)
    save(make(request.param, SMALL[request.param]), tmp_path)
    return request.param


def sounds():
    rng = np.random.default_rng(0)
    return [(0.1 * rng.standard_normal(n)).astype(np.float32) for n in (8_000, 5_000)]


def test_a_published_encoder_is_a_verifier_here_and_in_a_worker(kind, tmp_path):
    received = verifier(f"{kind}:{tmp_path}")
    vectors = received.embed(sounds())
    assert vectors.shape == (2, 12)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3
    content = pickle.dumps(received)
    assert len(content) < 1_000  # the place travels, not the weights
    again = pickle.loads(content)
    assert (again.name, again.version) == (received.name, received.version)
    np.testing.assert_array_equal(again.embed(sounds()), vectors)
    assert tmp_path.name in received.name


def test_other_weights_are_another_version_with_other_vectors(kind, tmp_path):
    before = verifier(f"{kind}:{tmp_path}")
    vectors = before.embed(sounds())
    torch.manual_seed(1)
    save(make(kind, SMALL[kind]), tmp_path)
    after = verifier(f"{kind}:{tmp_path}")
    assert after.version != before.version
    assert np.abs(after.embed(sounds()) - vectors).max() > 1e-3


def test_training_can_go_on_from_it(kind, tmp_path):
    encoder = encoder_of(f"{kind}:{tmp_path}")
    assert encoder.kind == kind
    assert encoder.config().items() >= SMALL[kind].items()


def test_what_does_not_fit_raises_at_construction(kind, tmp_path):
    other = {"ecapa": "xvector", "xvector": "ecapa"}[kind]
    with pytest.raises(VoicenymError, match=f"holds no {other}, but {kind}"):
        verifier(f"{other}:{tmp_path}")
    with pytest.raises(VoicenymError, match="give a folder that holds"):
        verifier(f"{kind}:{tmp_path / 'none'}")
    with pytest.raises(VoicenymError, match="ecapa:PLACE and xvector:PLACE"):
        verifier("resnet:here")
    with pytest.raises(VoicenymError, match="ecapa:PLACE and xvector:PLACE"):
        encoder_of("resnet:here")
