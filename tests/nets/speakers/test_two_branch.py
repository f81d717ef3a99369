"""The two-branch encoder: its start from an ECAPA-TDNN, its gradients, its frozen weights."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.two_branch import TwoBranch

SIZES = {"channels": 16, "size": 12, "scale": 4, "attention": 8, "squeeze": 8}


def encoder(tiny_whisper, **changed):
    options = {"place": str(tiny_whisper), "layers": (0, 2), "width": 16, "second": 8, **SIZES}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return TwoBranch(**{**options, **changed}).eval()


@pytest.fixture
def sound():
    return 0.1 * torch.randn(2, 9_000, generator=torch.Generator().manual_seed(1))


def varied(network):
    """Batch normalisations with statistics of their own."""
    generator = torch.Generator().manual_seed(2)
    for name, value in network.state_dict().items():
        if name.endswith(("running_mean", "running_var", "norm.weight", "norm.bias")):
            value.copy_(0.5 + torch.rand(value.shape, generator=generator))
    return network.eval()


def test_it_begins_as_the_ecapa_that_it_is_given(tiny_whisper, sound):
    ecapa, two = varied(Ecapa(**SIZES)), varied(encoder(tiny_whisper))
    with torch.inference_mode():
        assert not torch.allclose(two(sound), ecapa(sound), atol=1e-2)
        two.begin_from(ecapa)
        torch.testing.assert_close(two(sound), ecapa(sound), atol=1e-4, rtol=1e-4)
    with pytest.raises(VoicenymError, match="of other sizes"):
        two.begin_from(Ecapa(**{**SIZES, "channels": 32}))


def test_training_reaches_the_second_branch_after_such_a_start(tiny_whisper, sound):
    two = encoder(tiny_whisper)
    two.begin_from(Ecapa(**SIZES))
    streams = two.streams(sound)
    two.train()
    two.join(*streams).square().sum().backward()
    assert two.fc.conv.weight.grad[:, two.first :][:, : two.second].abs().sum() > 0
    with torch.no_grad():  # a step later, what leads to it is no longer zero
        two.fc.conv.weight -= 0.1 * two.fc.conv.weight.grad
    two.zero_grad()
    two.join(*streams).square().sum().backward()
    for part in (two.weighted.scores, two.second_blocks[0].conv.conv.weight):
        assert part.grad.abs().sum() > 0
    assert not any(value.requires_grad for value in streams)


def test_layers_are_mixed_by_weights_that_sum_to_one(tiny_whisper, sound):
    two = encoder(tiny_whisper)
    _, states = two.streams(sound)
    torch.testing.assert_close(two.weighted(states), states.mean(1))
    with torch.no_grad():
        two.weighted.scores.copy_(torch.tensor([40.0, 0.0]))
    torch.testing.assert_close(two.weighted(states), states[:, 0])
    assert two.weighted.weights.sum().item() == pytest.approx(1.0)


def test_packed_features_are_the_streams(tiny_whisper, sound):
    two = varied(encoder(tiny_whisper))
    fbank, states = two.streams(sound)
    assert fbank.shape == (2, 57, 80)
    assert states.shape == (2, 2, 29, 16)
    with torch.inference_mode():
        packed = two.features(sound)
        assert packed.shape == (2, 57, 80 + 2 * 16)
        torch.testing.assert_close(two.encode(packed), two.join(fbank, states))


def test_a_vector_does_not_depend_on_the_batch(tiny_whisper, sound):
    two = varied(encoder(tiny_whisper))
    rows = [sound[0], sound[1, :5_000], sound[1, :1_000]]
    together = two.embed(rows)
    alone = torch.cat([two.embed([row]) for row in rows])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


def test_a_folder_names_the_frozen_weights_and_does_not_hold_them(tiny_whisper, sound, tmp_path):
    two = varied(encoder(tiny_whisper))
    wanted = two.embed(list(sound))
    speaker_encoders.save(two, tmp_path / "kept")
    found = speaker_encoders.load(tmp_path / "kept")
    assert isinstance(found, TwoBranch)
    torch.testing.assert_close(found.embed(list(sound)), wanted)
    assert found.digest == two.digest != ""
    _, stored = read(tmp_path / "kept")
    assert set(stored) == set(two.state_dict())
    assert not any(name.startswith(("encoder", "conv")) for name in stored)


def test_other_frozen_weights_are_refused(tiny_whisper, sound):
    with pytest.raises(VoicenymError, match="other weights than those"):
        encoder(tiny_whisper, digest="0123456789abcdef").embed(list(sound))
    with pytest.raises(VoicenymError, match="states of 16 numbers, not 24"):
        encoder(tiny_whisper, width=24).embed(list(sound))
    with pytest.raises(ValueError, match="one layer"):
        encoder(tiny_whisper, layers=())
