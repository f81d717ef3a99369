"""HuBERT from others' files: the soft encoder's layout, and transformers', number by number."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.content.hubert_published import from_hubert, from_published, located
from voicenym.nets.weights import pickles

LAYERS, WIDTH, INNER, CHANNELS, KERNEL, GROUPS = 2, 16, 20, 8, 6, 4


def noise(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


def soft_state(new=True):
    """A random state, name by name as the soft encoder is published."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape):
        return 0.3 * torch.randn(shape, generator=generator)

    length, direction = (
        ("parametrizations.weight.original0", "parametrizations.weight.original1")
        if new
        else ("weight_g", "weight_v")
    )
    state = {
        "masked_spec_embed": draw(WIDTH),
        "feature_extractor.conv0.weight": draw(CHANNELS, 1, 10),
        "feature_extractor.norm0.weight": draw(CHANNELS),
        "feature_extractor.norm0.bias": draw(CHANNELS),
        "feature_projection.norm.weight": draw(CHANNELS),
        "feature_projection.norm.bias": draw(CHANNELS),
        "feature_projection.projection.weight": draw(WIDTH, CHANNELS),
        "feature_projection.projection.bias": draw(WIDTH),
        "positional_embedding.conv.bias": draw(WIDTH),
        f"positional_embedding.conv.{length}": draw(1, 1, KERNEL),
        f"positional_embedding.conv.{direction}": draw(WIDTH, WIDTH // GROUPS, KERNEL),
        "norm.weight": draw(WIDTH),
        "norm.bias": draw(WIDTH),
        "proj.weight": draw(6, WIDTH),
        "proj.bias": draw(6),
        "label_embedding.weight": draw(5, 6),
    }
    for i, kernel in enumerate((3, 3, 3, 3, 2, 2), start=1):
        state[f"feature_extractor.conv{i}.weight"] = draw(CHANNELS, CHANNELS, kernel)
    for i in range(LAYERS):
        for name, shape in {
            "self_attn.in_proj_weight": (3 * WIDTH, WIDTH),
            "self_attn.in_proj_bias": (3 * WIDTH,),
            "self_attn.out_proj.weight": (WIDTH, WIDTH),
            "self_attn.out_proj.bias": (WIDTH,),
            "linear1.weight": (INNER, WIDTH),
            "linear1.bias": (INNER,),
            "linear2.weight": (WIDTH, INNER),
            "linear2.bias": (WIDTH,),
            "norm1.weight": (WIDTH,),
            "norm1.bias": (WIDTH,),
            "norm2.weight": (WIDTH,),
            "norm2.bias": (WIDTH,),
        }.items():
            state[f"encoder.layers.{i}.{name}"] = draw(*shape)
    return state


def transformers_model(**options):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.HubertConfig(
        hidden_size=WIDTH,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=INNER,
        conv_dim=(CHANNELS,) * 7,
        num_conv_pos_embeddings=KERNEL,
        num_conv_pos_embedding_groups=GROUPS,
        **options,
    )
    model = transformers.HubertModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # biases and scales that are not what they begin with
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def soft(place, **options):
    """What ``models convert`` makes."""
    path = located(place)
    return from_published(pickles.state(path), path, **options)


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_the_soft_encoders_layout_loads(tmp_path, new, prefix):
    state = soft_state(new)
    path = tmp_path / "hubert-soft.pt"
    torch.save({"hubert": {prefix + n: v for n, v in state.items()}, "step": 25_000}, path)
    network = soft(path, heads=2)
    assert network.config()["layers"] == LAYERS
    assert (network.size, network.units) == (6, 5)
    assert len(network.state_dict()) == len(state) - 1
    names = [n for n in state if "weight.original" in n or n.endswith(("weight_g", "weight_v"))]
    g, v = sorted((state[n] for n in names), key=torch.numel)
    for step in range(KERNEL):
        expected = g[0, 0, step] * v[:, :, step] / v[:, :, step].norm()
        found = network.positional_embedding.conv.weight[:, :, step]
        torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        network.encoder.layers[1].self_attn.in_proj_weight,
        state["encoder.layers.1.self_attn.in_proj_weight"],
        rtol=0,
        atol=0,
    )
    again = soft(tmp_path, heads=2)
    torch.testing.assert_close(again(noise(1, 2_000)), network(noise(1, 2_000)), rtol=0, atol=0)


def test_layers_can_be_cut_off(tmp_path):
    torch.save(soft_state(), tmp_path / "soft.pt")
    cut = soft(tmp_path / "soft.pt", layers=1, heads=2)
    whole = soft(tmp_path / "soft.pt", heads=2)
    signal = noise(1, 3_200)
    torch.testing.assert_close(cut.hidden(signal), whole.hidden(signal, layer=1))
    with pytest.raises(VoicenymError, match="has 2 transformer layers, of which 3 were asked"):
        soft(tmp_path / "soft.pt", layers=3, heads=2)


@pytest.mark.parametrize("safe", [True, False])
def test_it_gives_what_transformers_gives(tmp_path, safe):
    model = transformers_model()
    if safe:
        model.save_pretrained(tmp_path)
        assert (tmp_path / "model.safetensors").is_file()
    else:
        torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
        with pytest.raises(VoicenymError, match=r"voicenym models convert \S+ --as hubert -o"):
            from_hubert(tmp_path)
        convert(tmp_path, "hubert", tmp_path / "ours")
        tmp_path = tmp_path / "ours"
    network = from_hubert(tmp_path, size=6, units=5, heads=2).eval()
    signal = noise(2, 6_400)
    padded = torch.nn.functional.pad(signal, (40, 40))
    with torch.no_grad():
        found = model(padded, output_hidden_states=True).hidden_states
        assert len(found) == 4
        for layer, expected in enumerate(found):
            assert expected.shape == (2, 20, WIDTH)
            ours = network.hidden(signal, layer=layer)
            torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)
    cut = from_hubert(tmp_path, layers=2, heads=2).eval()
    torch.testing.assert_close(cut.hidden(signal), network.hidden(signal, layer=2))
    assert cut(signal).shape == (2, 20, 256)


def test_a_recogniser_over_hubert_is_hubert_too(tmp_path):
    model = transformers_model()
    state = {f"hubert.{n}": v for n, v in model.state_dict().items()}
    save_file({**state, "lm_head.weight": torch.zeros(3, WIDTH)}, tmp_path / "model.safetensors")
    network = from_hubert(tmp_path, heads=2).eval()
    signal = noise(1, 3_200)
    with torch.no_grad():
        expected = model(torch.nn.functional.pad(signal, (40, 40))).last_hidden_state
        torch.testing.assert_close(network.hidden(signal), expected, atol=1e-5, rtol=1e-4)


def test_the_new_projection_is_the_seeds(tmp_path):
    save_file(soft_state(), tmp_path / "soft.safetensors")
    one, same, other = (from_hubert(tmp_path, heads=2, seed=s) for s in (0, 0, 1))
    torch.testing.assert_close(one.proj.weight, same.proj.weight, rtol=0, atol=0)
    assert not torch.equal(one.proj.weight, other.proj.weight)
    assert isinstance(one, HubertSoft)
    assert one.size == 256


def test_what_is_no_soft_encoder_is_reported(tmp_path):
    model = transformers_model()
    path = tmp_path / "pytorch_model.bin"
    torch.save(model.state_dict(), path)
    with pytest.raises(VoicenymError, match="holds no soft encoder"):
        soft(path)
    state = soft_state()
    del state["encoder.layers.1.linear2.bias"]
    torch.save(state, path)
    with pytest.raises(VoicenymError, match=r"encoder\.layers\.1\.linear2\.bias is missing in it"):
        soft(path, heads=2)
    del state["norm.weight"]
    torch.save(state, path)
    with pytest.raises(VoicenymError, match=r"norm\.weight is missing in it"):
        soft(path, heads=2)


def test_nothing_else_is_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "made"), "w"))

    torch.save({"hubert": soft_state(), "args": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(VoicenymError, match="nothing else is unpickled"):
        soft(tmp_path / "evil.pt")
    assert not (tmp_path / "made").exists()


def test_a_name_that_lies_nowhere_or_twice_is_reported(tmp_path):
    with pytest.raises(VoicenymError, match="not found"):
        located(tmp_path / "none")
    with pytest.raises(VoicenymError, match="holds no checkpoint"):
        located(tmp_path)
    for name in ("a.pt", "b.pt"):
        torch.save({}, tmp_path / name)
    with pytest.raises(VoicenymError, match="holds 2 checkpoints; give the file"):
        located(tmp_path)
    with pytest.raises(VoicenymError, match="no tensors by name"):
        pickles.state(tmp_path / "a.pt")
