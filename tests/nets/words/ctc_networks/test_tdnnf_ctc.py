"""TDNN-F with CTC: frames, padding, and the bottleneck as content."""

from __future__ import annotations

import torch

from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.nets.words.ctc_networks.tdnnf_ctc import FRAME

TINY = {"size": 6, "bands": 10, "width": 12, "narrow": 4, "strides": [1, 0, 3]}


def model():
    torch.manual_seed(0)
    model = CharacterModel.make("tdnnf", Alphabet(" ab"), TINY)
    model.net.eval()
    return model


def noise(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_a_frame_of_scores_for_every_30_ms():
    assert model().frame == FRAME == 0.03
    assert model().log_probs(noise(16_000)).shape == (34, 4)


def test_a_recording_in_a_batch_is_what_it_is_alone():
    net = model().net
    batch, lengths = noise(2, 9_000), torch.tensor([9_000, 4_001])
    batch[1, 4_001:] = 0.0
    logits, frames = net(batch, lengths)
    assert frames.tolist() == [19, 9]
    alone, _ = net(batch[1:, :4_001], lengths[1:])
    torch.testing.assert_close(logits[1, :9], alone[0], atol=1e-5, rtol=1e-4)


def test_the_bottleneck_is_the_contents():
    net = model().net
    signal = noise(1, 8_000)
    features, frames = net.features(signal, torch.tensor([8_000]))
    torch.testing.assert_close(net.bottleneck(features, frames), net.content(signal))


def test_a_folder_holds_it(tmp_path):
    one = model()
    one.save(tmp_path)
    again, config = CharacterModel.load(tmp_path)
    assert config["net"] == "tdnnf"
    assert (again.log_probs(noise(8_000)) == one.log_probs(noise(8_000))).all()
