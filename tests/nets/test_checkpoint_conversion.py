"""Published layouts become folders of ours that give the same numbers."""

from __future__ import annotations

import json

import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.content import content_encoders as contents
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.hub import sha256
from voicenym.nets.speakers import speaker_encoders as encoders
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.hifigan_generator import Generator, GeneratorSize
from voicenym.nets.weights.weight_norm import published

SMALL = {
    "ecapa": {"channels": 16, "size": 12, "attention": 8, "squeeze": 8},
    "xvector": {"channels": 16, "pooled": 20, "size": 12},
}


def noise(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", list(SMALL))
def test_a_speaker_encoder(tmp_path, kind):
    torch.manual_seed(0)
    network = encoders.make(kind, SMALL[kind]).eval()
    path = tmp_path / "embedding_model.ckpt"
    torch.save(network.state_dict(), path)
    assert convert(tmp_path, kind, tmp_path / "ours") == "vectors of 12 numbers"
    again = encoders.load(tmp_path / "ours")
    sounds = [noise(8_000)]
    torch.testing.assert_close(again.embed(sounds), network.embed(sounds), rtol=0, atol=0)
    card = configuration(tmp_path / "ours")["card"]
    assert card == {"converted from": "embedding_model.ckpt", "its SHA-256": sha256(path)}


def test_a_soft_encoder(tmp_path):
    torch.manual_seed(0)
    network = HubertSoft(6, 5, 2, 64, 1, 20, 8, 6, 4).eval()
    state = network.state_dict()
    weight = state.pop("positional_embedding.conv.weight")
    state["positional_embedding.conv.weight_g"] = weight.norm(dim=(0, 1), keepdim=True)
    state["positional_embedding.conv.weight_v"] = 2.0 * weight
    torch.save({"hubert": {f"module.{n}": v for n, v in state.items()}}, tmp_path / "soft.pt")
    given = convert(tmp_path / "soft.pt", "hubert-soft", tmp_path / "ours")
    assert given == "2 layers, 6 numbers, 5 units"
    again = contents.load(tmp_path / "ours")
    torch.testing.assert_close(again(noise(1, 3_200)), network(noise(1, 3_200)))
    convert(tmp_path / "soft.pt", "hubert-soft", tmp_path / "cut", {"layers": 1})
    assert contents.load(tmp_path / "cut").config()["layers"] == 1


def test_a_published_generator_is_converted_to_the_same_outputs(tmp_path):
    torch.manual_seed(0)
    size = GeneratorSize(rates=(5, 4, 2, 2, 2), kernels=(11, 8, 4, 4, 4), channels=32)
    generator = Generator(7, size).eval()
    there = tmp_path / "there"
    there.mkdir()
    torch.save({"generator": published(generator)}, there / "g_00000001")
    given = {
        "resblock": "1",
        "upsample_rates": list(size.rates),
        "upsample_kernel_sizes": list(size.kernels),
        "upsample_initial_channel": 32,
        "resblock_kernel_sizes": list(size.block_kernels),
        "resblock_dilation_sizes": [list(d) for d in size.block_dilations],
        "sampling_rate": 16_000,
    }
    (there / "config.json").write_text(json.dumps(given))
    options = {"content": 4, "speaker": 2, "pitch": None}
    for place in (there, there / "g_00000001"):
        converted = convert(place, "hifigan", tmp_path / "ours", options)
        assert converted == "frames of 7 numbers and 160 samples"
    again = synthesizers.load(tmp_path / "ours")
    content, f0, speaker = noise(1, 9, 4), 100.0 + noise(1, 9), noise(1, 2)
    frames = torch.cat([content, f0[..., None], speaker[:, None].expand(-1, 9, -1)], 2)
    torch.testing.assert_close(again(content, f0, speaker), generator(frames.transpose(1, 2)))
    with pytest.raises(VoicenymError, match="its frames have 7 elements"):
        convert(there, "hifigan", tmp_path / "ours")
    (there / "config.json").unlink()
    with pytest.raises(VoicenymError, match=r"config\.json: cannot be read .* give --config"):
        convert(there, "hifigan", tmp_path / "ours", options)
    (there / "g_00000001").write_bytes(b"nothing")
    (tmp_path / "c.json").write_text(json.dumps(given))
    with pytest.raises(VoicenymError, match="damaged, or no checkpoint of tensors alone"):
        convert(there, "hifigan", tmp_path / "ours", {**options, "config": tmp_path / "c.json"})


def test_a_layer_of_wav2vec(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20,
        conv_dim=[8] * 7, num_conv_pos_embeddings=6, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    transformers.Wav2Vec2Model(config).save_pretrained(tmp_path / "there")
    given = convert(tmp_path / "there", "wav2vec2", tmp_path / "ours", {"layers": 1})
    assert given == "layer 1, 16 numbers"
    assert contents.load(tmp_path / "ours")(noise(1, 640)).shape == (1, 2, 16)
    with pytest.raises(VoicenymError, match="give its folder"):
        convert(tmp_path / "there" / "config.json", "wav2vec2", tmp_path / "ours")


def test_what_cannot_be_converted_is_reported(tmp_path):
    with pytest.raises(
        VoicenymError, match="no kind 'waveglow' to convert; there are: ctranslate2, deepspeech2"
    ):
        convert(tmp_path, "waveglow", tmp_path / "ours")
    with pytest.raises(VoicenymError, match="not found"):
        convert(tmp_path / "none", "ecapa", tmp_path / "ours")
    with pytest.raises(VoicenymError, match="ecapa has no option layers; it has none"):
        convert(tmp_path, "ecapa", tmp_path / "ours", {"layers": 3})
    with pytest.raises(VoicenymError, match="holds the checkpoint; choose another folder"):
        convert(tmp_path, "ecapa", tmp_path)


def test_every_kind_names_weights_and_settings_that_do_not_fit(tmp_path):
    """Shapes, types and names that no converter expects are errors of the checkpoint."""
    size = GeneratorSize(rates=(5, 4, 2, 2, 2), kernels=(11, 8, 4, 4, 4), channels=32)
    state = published(Generator(7, size))
    given = {
        "resblock": "1",
        "upsample_rates": list(size.rates),
        "upsample_kernel_sizes": list(size.kernels),
        "upsample_initial_channel": 32,
        "resblock_kernel_sizes": list(size.block_kernels),
        "resblock_dilation_sizes": [list(d) for d in size.block_dilations],
        "sampling_rate": 16_000,
    }

    def refused(kind, weights, settings, match):
        there = tmp_path / "there"
        there.mkdir(exist_ok=True)
        torch.save(weights, there / "weights.pt")
        (there / "config.json").write_text(json.dumps(settings))
        options = {"content": 4, "speaker": 2} if kind == "hifigan" else {}
        with pytest.raises(VoicenymError, match=match):
            convert(there / "weights.pt", kind, tmp_path / "ours", options)
        assert not (tmp_path / "ours").exists()

    direction = "conv_pre.weight_g"
    lacking = {name: value for name, value in state.items() if name != direction}
    refused("hifigan", lacking, given, r"weights\.pt: no hifigan, or damaged .*conv_pre\.weight_g")
    refused("hifigan", {**state, direction: torch.zeros(0, 0, 0)}, given, "no hifigan, or damaged")
    for name in given:
        if name != "resblock":
            refused("hifigan", state, {**given, name: None}, "no hifigan, or damaged")
    for settings in ([1], "x", None):
        refused("hifigan", state, settings, "no hifigan, or damaged")
        refused("whisper", state, settings, "no whisper, or damaged")
    refused("hifigan", state, {**given, "sampling_rate": 0}, "sampling_rate is above 0")
    conv = "positional_embedding.conv."
    flat = {f"{conv}weight_g": torch.zeros(3), f"{conv}weight_v": torch.zeros(3)}
    refused("hubert", flat, {}, "no hubert, or damaged")
