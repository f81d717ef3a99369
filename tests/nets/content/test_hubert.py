"""HuBERT-soft: padding, layers, logits, and equality with transformers' HuBERT."""

from __future__ import annotations

import math

import pytest
import torch

from voicenym.nets.content.content_encoders import load, make, save
from voicenym.nets.content.hubert import HubertSoft

TINY = {
    "size": 6,
    "units": 5,
    "layers": 3,
    "width": 16,
    "heads": 2,
    "inner": 20,
    "channels": 8,
    "kernel": 6,
    "groups": 4,
}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return HubertSoft(**TINY).eval()


def noise(*shape, seed=1):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_the_default_is_the_published_size():
    with torch.device("meta"):
        network = HubertSoft()
    state = network.state_dict()
    # 166 tensors in the published layout, in which the positional weight is two
    assert len(state) == 165
    assert state["encoder.layers.11.self_attn.in_proj_weight"].shape == (2304, 768)
    assert state["positional_embedding.conv.weight"].shape == (768, 48, 128)
    assert state["label_embedding.weight"].shape == (100, 256)
    hubert = sum(p.numel() for n, p in state.items() if not n.startswith(("proj", "label")))
    # 94,371,712 parameters of transformers' HubertModel, whose positional lengths are folded here
    assert hubert == 94_371_712 - 128


@pytest.mark.parametrize("samples", [1, 319, 320, 321, 800, 5_000])
def test_a_frame_for_every_320_samples(network, samples):
    assert network(noise(2, samples)).shape == (2, math.ceil(samples / 320), 6)


def test_a_row_is_what_it_is_alone(network):
    batch, lengths = noise(3, 9_000), torch.tensor([9_000, 3_333, 500])
    found = network(batch, lengths)
    for i, length in enumerate(lengths.tolist()):
        alone = network(batch[i : i + 1, :length])[0]
        torch.testing.assert_close(found[i, : len(alone)], alone, atol=2e-6, rtol=1e-4)
        assert not found[i, len(alone) :].any()


def test_half_precision_is_near(network):
    batch, lengths = noise(2, 9_000), torch.tensor([9_000, 3_333])
    whole = network(batch, lengths)
    with torch.autocast("cpu", torch.bfloat16):
        half = network(batch, lengths)
    assert (half - whole).abs().max() < 0.05 * whole.abs().max()


def test_layers_follow_one_another(network):
    signal = noise(1, 3_200)
    torch.manual_seed(0)
    cut = HubertSoft(**{**TINY, "layers": 2}).eval()
    cut.load_state_dict({n: v for n, v in network.state_dict().items() if "layers.2." not in n})
    torch.testing.assert_close(cut.hidden(signal), network.hidden(signal, layer=2))
    found = network.encoder.layers[2](network.hidden(signal, layer=2))
    torch.testing.assert_close(network.proj(found), network(signal))
    with pytest.raises(ValueError, match="no layer 4: there are 3"):
        network.hidden(signal, layer=4)


def test_logits_are_cosines_over_a_tenth(network):
    soft = 3.0 * network.label_embedding.weight[2]
    found = network.logits(soft)
    assert found[2].item() == pytest.approx(10.0, rel=1e-5)
    assert found.abs().max() <= 10.0 + 1e-4


def test_masked_frames_have_no_effect(network):
    one, other = noise(1, 3_200), noise(1, 3_200, seed=2)
    everything = torch.ones(1, 10, dtype=torch.bool)
    same = [network.hidden(x, masked=everything) for x in (one, other)]
    torch.testing.assert_close(*same)
    half = everything.clone()
    half[:, 5:] = False
    different = [network.hidden(x, masked=half) for x in (one, other)]
    assert (different[0] - different[1]).abs().max() > 1e-3


def test_windows_are_near_the_whole_away_from_their_edges(network):
    signal = noise(40_000)
    whole = network(signal[None])[0]
    network.most_samples, network.context = 20_480, 6_400
    parts = network.extract(signal)
    assert parts.shape == whole.shape
    off = (parts - whole).square().mean().sqrt() / (whole - whole.mean(0)).square().mean().sqrt()
    assert off < 0.3
    network.context = 0
    cut = network.extract(signal)
    assert (cut - whole).square().mean() > (parts - whole).square().mean()


def test_it_does_not_stream(network):
    with pytest.raises(ValueError, match="needs a recording as a whole"):
        network.stream()


def test_a_folder_holds_it(network, tmp_path):
    pytest.importorskip("safetensors")
    save(network, tmp_path, {"data": "none"})
    again = load(tmp_path)
    assert again.config() == network.config()
    torch.testing.assert_close(again(noise(1, 2_000)), network(noise(1, 2_000)), rtol=0, atol=0)
    assert make("hubert-soft", TINY).size == 6


def test_heads_divide_the_width():
    with pytest.raises(ValueError, match="multiple of heads"):
        HubertSoft(width=16, heads=3)
