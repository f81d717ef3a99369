"""i-vectors as a verifier: from recordings to scores, through files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read, write
from voicenym.training.speakers.train_ivector import IVectorConfig
from voicenym.training.speakers.verifier_training import train_verifier
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.verification.ivector import IVector, SpeakerSpace
from voicenym.verification.plda import PLDA
from voicenym.verification.scoring import Cosine, unit

CEPSTRA = Cepstra(coefficients=10, bands=20, slopes=0, window=0)
OPTIONS = TrainingOptions(IVectorConfig(CEPSTRA, components=8, rank=12))


@pytest.fixture(scope="module")
def verifier(voice, tmp_path_factory):
    voices = [voice(s, take) for s in range(20) for take in range(4)]
    return train_verifier(
        IVector, voices, tmp_path_factory.mktemp("ivector"), options=OPTIONS
    ).verifier


def test_finds_speakers_that_it_was_not_trained_on(verifier, voice):
    vectors = verifier.embed([voice(s, take).samples() for s in range(50, 60) for take in range(4)])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    models = [vectors[4 * s : 4 * s + 3] for s in range(10)]
    for backend in (Cosine(), verifier.backend()):
        scores = backend.score(models, vectors[3::4])
        assert (scores.argmax(0) == np.arange(10)).mean() >= 0.7
    assert isinstance(verifier.backend(), PLDA)


def test_nobody_is_like_nobody(verifier, voice):
    vectors = verifier.embed([np.zeros(8_000, np.float32), voice(1, 9).samples()])
    assert not vectors[0].any()
    assert vectors[1].any()
    assert np.isfinite(verifier.backend().score([vectors[1:]], vectors)).all()


def test_without_the_speaker_space_they_are_plain(verifier, voice, tmp_path):
    config, tensors = read(verifier.folder)
    write(tmp_path, {n: t for n, t in tensors.items() if not n.startswith("space.")}, config)
    plain = IVector(tmp_path)
    assert plain.version != verifier.version
    vectors = plain.embed([voice(1, 9).samples()])
    assert vectors.shape == (1, 12)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert isinstance(plain.backend(), Cosine)


def test_is_pickled_and_read_again(verifier, voice):
    samples = [voice(1, 9).samples()]
    for other in (pickle.loads(pickle.dumps(verifier)), IVector(verifier.folder)):
        assert (other.name, other.version) == (verifier.name, verifier.version)
        np.testing.assert_array_equal(other.embed(samples), verifier.embed(samples))


def test_the_space_is_plda_s_and_comes_back():
    rng = np.random.default_rng(0)
    speakers = [f"s{i}" for i in np.repeat(np.arange(30), 5)]
    x = 2 * rng.normal(size=(30, 8)).repeat(5, 0) + rng.normal(size=(150, 8)) + 3.0
    space = SpeakerSpace.learn(x, speakers, most=6)
    again = SpeakerSpace.of({**space.tensors(), "other": torch.ones(1)})
    np.testing.assert_array_equal(again(x), space(x))
    assert SpeakerSpace.of({"other": torch.ones(1)}) is None
    plda = PLDA.train(x, speakers, lda=6)
    projected = (x - plda.centre) @ plda.projection.T
    np.testing.assert_allclose(space(x), unit(projected))
    # with one vector a model there is nothing to average: scores are those of PLDA on i-vectors
    models = [x[i : i + 1] for i in range(5)]
    found = again.backend().score([space(m) for m in models], space(x))
    np.testing.assert_allclose(found, plda.score(models, x), rtol=1e-6, atol=1e-6)


def test_says_what_is_wrong(voice, tmp_path):
    with pytest.raises(VoicenymError, match="one speaker only"):
        train_verifier(IVector, [voice(0, take) for take in range(3)], tmp_path, options=OPTIONS)
    with pytest.raises(VoicenymError, match="one of them with two recordings"):
        train_verifier(IVector, [voice(s, 0) for s in range(3)], tmp_path, options=OPTIONS)
    with pytest.raises(VoicenymError, match="cannot be read"):
        IVector(tmp_path / "nowhere")
