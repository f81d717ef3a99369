"""wav2vec 2.0 and its kin as content: the layer that transformers shows, of random small models."""

from __future__ import annotations

import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets import allocation_limit
from voicenym.nets.content.content_encoders import load, save
from voicenym.nets.content.units import Cepstra

transformers = pytest.importorskip("transformers")

from voicenym.nets.content.wav2vec import Wav2Vec  # noqa: E402

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 20,
    "conv_dim": [8] * 7,
    "num_conv_pos_embeddings": 6,
    "num_conv_pos_embedding_groups": 4,
}
XLSR = {"feat_extract_norm": "layer", "do_stable_layer_norm": True, "conv_bias": True}
MODELS = {
    "xls-r": (transformers.Wav2Vec2Config, transformers.Wav2Vec2Model, XLSR),
    "wav2vec2": (transformers.Wav2Vec2Config, transformers.Wav2Vec2Model, {}),
    "hubert": (transformers.HubertConfig, transformers.HubertModel, {}),
    "wavlm": (transformers.WavLMConfig, transformers.WavLMModel, {}),
}


def noise(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=list(MODELS))
def model(request, tmp_path):
    configuration, kind, options = MODELS[request.param]
    torch.manual_seed(0)
    model = kind(configuration(**SIZES, **options)).eval()
    model.save_pretrained(tmp_path)
    return model


def test_a_layer_is_what_transformers_shows(model, tmp_path):
    signal = 3.0 * noise(2, 3_200) + 0.1
    normal = (signal - signal.mean(1, keepdim=True)) / signal.std(1, correction=0, keepdim=True)
    padded = torch.nn.functional.pad(normal, (40, 40))
    with torch.no_grad():
        expected = model(padded, output_hidden_states=True).hidden_states
        for layer in (1, 2):
            found = Wav2Vec.from_published(str(tmp_path), layer)
            assert len(found.model.encoder.layers) == layer
            torch.testing.assert_close(found(signal), expected[layer], atol=2e-5, rtol=1e-3)


def test_the_preprocessor_says_whether_waveforms_are_normalised(model, tmp_path):
    signal = noise(1, 3_200)
    for wanted in (True, False):
        (tmp_path / "preprocessor_config.json").write_text(json.dumps({"do_normalize": wanted}))
        network = Wav2Vec.from_published(str(tmp_path), 1)
        assert network.normalise is wanted
    padded = torch.nn.functional.pad(signal, (40, 40))
    with torch.no_grad():
        expected = model(padded, output_hidden_states=True).hidden_states[1]
        torch.testing.assert_close(network(signal), expected, atol=2e-5, rtol=1e-3)


def test_a_row_is_what_it_is_alone(model, tmp_path):
    network = Wav2Vec.from_published(str(tmp_path), 2)
    batch, lengths = noise(3, 4_000), torch.tensor([4_000, 700, 0])
    with torch.no_grad():
        found = network(batch, lengths)
        assert found.shape == (3, 13, 16)
        for row, length in enumerate((4_000, 700)):
            alone = network(batch[row : row + 1, :length])[0]
            torch.testing.assert_close(found[row, : len(alone)], alone)
            assert not found[row, len(alone) :].any()
    assert not found[2].any()


def test_our_folder_needs_no_other(model, tmp_path):
    network = Wav2Vec.from_published(str(tmp_path), 2)
    save(network, tmp_path / "ours")
    again = load(tmp_path / "ours")
    assert again.config() == network.config()
    signal = noise(1, 3_200)
    torch.testing.assert_close(again(signal), network(signal), rtol=0, atol=0)


def test_our_folder_is_cut_after_a_layer(model, tmp_path):
    """As the published model is; what is no such model, or has too few layers, is refused."""
    save(Wav2Vec.from_published(str(tmp_path), 3), tmp_path / "ours", {})
    signal = noise(1, 3_200)
    expected = Wav2Vec.from_published(str(tmp_path), 2)
    with torch.no_grad():
        found = Wav2Vec.from_published(str(tmp_path / "ours"), 2)
        torch.testing.assert_close(found(signal), expected(signal), atol=2e-3, rtol=2e-2)
    assert len(found.model.encoder.layers) == 2
    with pytest.raises(VoicenymError, match="no layer 9: there are 3"):
        Wav2Vec.from_published(str(tmp_path / "ours"), 9)
    cepstra = tmp_path / "cepstra"
    save(Cepstra(), cepstra, {})
    with pytest.raises(VoicenymError, match="holds a cepstra; give a wav2vec2"):
        Wav2Vec.from_published(str(cepstra), 1)


def test_what_does_not_fit_is_reported(model, tmp_path):
    with pytest.raises(VoicenymError, match="no layer 4: there are 3"):
        Wav2Vec.from_published(str(tmp_path), 4)
    with pytest.raises(VoicenymError, match="no usable weights there"):
        Wav2Vec.from_published(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="model_type 'bert': choose from"):
        Wav2Vec({"model_type": "bert"})
    config = {**model.config.to_dict(), "conv_stride": [5, 2, 2, 2, 2, 2, 1]}
    with pytest.raises(ValueError, match="frames of 160 samples, not 320"):
        Wav2Vec(config)


@pytest.mark.parametrize("size", ["hidden_size", "num_hidden_layers", "intermediate_size"])
def test_enormous_sizes_are_errors(tmp_path, size, monkeypatch):
    """Also of a folder of ours, whose weights are compared with the network later."""
    monkeypatch.setattr(allocation_limit, "FREE", 1 << 20)
    configuration, kind, options = MODELS["xls-r"]
    kind(configuration(**SIZES, **options)).save_pretrained(tmp_path)
    ours = tmp_path / "ours"
    save(Wav2Vec.from_published(str(tmp_path), 2), ours)
    for folder in (tmp_path, ours):
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (config["options"]["model"] if folder is ours else config)[size] = 10**8
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(VoicenymError, match=str(tmp_path)):
        Wav2Vec.from_published(str(tmp_path), 2)
    if size != "num_hidden_layers":  # of which only those before the layer are made
        with pytest.raises(VoicenymError, match="far larger than"):
            Wav2Vec.from_published(str(ours))


def test_weights_that_are_missing_are_not_replaced_by_random_ones(model, tmp_path):
    """transformers would give random weights to a layer that a file lacks, and only warn."""
    from safetensors.torch import load_file, save_file

    state = load_file(tmp_path / "model.safetensors")
    save_file({"other.weight": torch.zeros(3)}, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(VoicenymError, match=r"of another architecture: .* is missing in it"):
        Wav2Vec.from_published(str(tmp_path))
    name = "encoder.layers.1.feed_forward.output_dense.weight"
    some = {key: value for key, value in state.items() if not key.endswith(name)}
    assert len(some) == len(state) - 1
    save_file(some, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(VoicenymError, match=f"{name} is missing in it".replace(".", r"\.")):
        Wav2Vec.from_published(str(tmp_path), 2)
    assert Wav2Vec.from_published(str(tmp_path), 1).layer == 1  # which needs nothing of the second


def test_a_recogniser_s_encoder_is_content(tmp_path):
    torch.manual_seed(0)
    model = transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config(**SIZES)).eval()
    model.save_pretrained(tmp_path)
    own = Wav2Vec.from_published(str(tmp_path)).model.state_dict()
    known = model.wav2vec2.state_dict()
    assert all(torch.equal(value, known[name]) for name, value in own.items())
