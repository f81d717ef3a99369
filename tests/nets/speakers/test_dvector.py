from itertools import pairwise

import numpy
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers.dvector import HOP, PART_FRAMES, DVector, part_starts
from voicenym.nets.weight_pull import pull
from voicenym.nets.weights import pickles
from voicenym.nets.weights.weights_home import VARIABLE


@pytest.fixture
def checkpoint(tmp_path):
    """Random weights in the published layout, with the extras that the published file has."""
    torch.manual_seed(0)
    state = {k: 0.1 * torch.randn_like(v) for k, v in DVector().state_dict().items()}
    path = tmp_path / "weights.pt"
    extras = {"similarity_weight": torch.ones(1), "similarity_bias": torch.ones(1)}
    torch.save({"step": 3, "model_state": {**state, **extras}}, path)
    return path


@pytest.mark.parametrize("samples", [100, 16000, 25600, 48000, 16000 * 7 + 3])
def test_parts_cover_a_recording_but_for_a_short_rest(samples):
    starts = part_starts(samples // HOP + 1)
    assert starts[0] == 0
    assert all(b - a == 77 for a, b in pairwise(starts))
    end = (starts[-1] + PART_FRAMES) * HOP
    assert end >= samples or samples - end < 77 * HOP


def test_vectors_are_unit_and_do_not_depend_on_level_or_company(checkpoint):
    model = DVector.from_published(pickles.state(checkpoint), checkpoint)
    generator = torch.Generator().manual_seed(1)
    recordings = [0.1 * torch.randn(n, generator=generator) for n in (8000, 40000, 70000)]
    together = model.embed(recordings)
    assert together.shape == (3, 256)
    torch.testing.assert_close(together.norm(dim=1), torch.ones(3))
    for recording, vector in zip(recordings, together, strict=True):
        torch.testing.assert_close(model.embed([0.2 * recording])[0], vector, atol=1e-5, rtol=0)
    assert model.embed([]).shape == (0, 256)


def test_waveforms_and_features_give_the_same_vectors_and_gradients_reach_the_waveform(checkpoint):
    model = DVector.from_published(pickles.state(checkpoint), checkpoint)
    generator = torch.Generator().manual_seed(1)
    waveforms = 0.1 * torch.randn(2, 60_000, generator=generator)
    waveforms[1, 30_000:] = 0.0
    lengths = torch.tensor([60_000, 30_000])
    waveforms.requires_grad_()
    vectors = model(waveforms, lengths)
    expected = model.embed([waveforms[0].detach(), waveforms[1, :30_000].detach()])
    torch.testing.assert_close(vectors, expected, atol=1e-6, rtol=0)
    encoded = model.encode(model.features(waveforms, lengths), lengths // HOP + 1)
    torch.testing.assert_close(encoded, expected, atol=1e-6, rtol=0)
    vectors[:, :8].sum().backward()
    assert (waveforms.grad.abs().amax(1) > 0).all()


def test_other_weights_are_refused(tmp_path):
    torch.save({"model_state": {"conv.weight": torch.zeros(3)}}, tmp_path / "other.pt")
    with pytest.raises(VoicenymError, match=r"lstm\.weight_ih_l0 is missing"):
        DVector.from_published(pickles.state(tmp_path / "other.pt"), "other.pt")
    torch.save({"state": {}}, tmp_path / "other.pt")
    with pytest.raises(VoicenymError, match="holds no tensors by name"):
        pickles.state(tmp_path / "other.pt")


def test_equals_the_package_that_publishes_the_weights(tmp_path, monkeypatch):
    resemblyzer = pytest.importorskip("resemblyzer")
    from voicenym.verification.encoder_verifier import Resemblyzer

    monkeypatch.setenv(VARIABLE, str(tmp_path))
    pull("resemblyzer")
    rng = numpy.random.default_rng(0)
    recording = (0.05 * rng.standard_normal(50_000)).astype(numpy.float32)
    recording *= numpy.float32(10 ** (-30 / 20) / numpy.sqrt(numpy.mean(recording**2)))
    theirs = resemblyzer.VoiceEncoder("cpu", verbose=False).embed_utterance(recording)
    numpy.testing.assert_allclose(Resemblyzer().embed([recording])[0], theirs, atol=1e-5)
