"""CTC through transformers, with tiny random weights that are made here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from voicenym.errors import AudioError, VoicenymError
from voicenym.recognition import recogniser

pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

LETTERS = ["<pad>", "<s>", "</s>", "<unk>", "|", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ'"]


@pytest.fixture(scope="module")
def sound():
    rng = np.random.default_rng(0)
    return rng.standard_normal(16000).astype(np.float32) * 0.1


@pytest.fixture(scope="module")
def ctc(tmp_path_factory):
    """A folder with a wav2vec 2.0 of random weights."""
    from transformers import (
        Wav2Vec2Config,
        Wav2Vec2CTCTokenizer,
        Wav2Vec2FeatureExtractor,
        Wav2Vec2ForCTC,
        Wav2Vec2Processor,
    )

    folder = tmp_path_factory.mktemp("ctc")
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({letter: i for i, letter in enumerate(LETTERS)}))
    torch.manual_seed(0)
    model = Wav2Vec2ForCTC(
        Wav2Vec2Config(
            vocab_size=len(LETTERS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            conv_dim=(8,) * 7,
            num_conv_pos_embeddings=8,
            num_conv_pos_embedding_groups=2,
            pad_token_id=0,
        )
    )
    model.save_pretrained(folder)
    Wav2Vec2Processor(
        Wav2Vec2FeatureExtractor(), Wav2Vec2CTCTokenizer(str(vocabulary))
    ).save_pretrained(folder)
    return folder


def test_ctc_writes_its_letters_and_hears_each_recording_alone(ctc, sound):
    listener = recogniser("wav2vec2", weights=ctc)
    assert listener.name == ctc.name
    assert listener.identity == recogniser("wav2vec2", weights=ctc).identity != listener.name
    alone = listener.transcribe([sound])
    beside = listener.transcribe([np.tile(sound, 2), sound, sound[:100], sound[:0]])
    assert alone == [beside[1]]
    assert beside[2:] == ["", ""]
    assert set(alone[0]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ' ") | set("<unk>s/")


def test_ctc_is_the_model_s_own_best_path(ctc, sound):
    from transformers import AutoModelForCTC

    model = AutoModelForCTC.from_pretrained(ctc).eval()
    normal = (sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)
    with torch.inference_mode():
        best = model(torch.from_numpy(normal)[None]).logits[0].argmax(-1).tolist()
    kept = [b for a, b in zip([-1, *best], best, strict=False) if a != b and b > 3]
    transcripts = recogniser("wav2vec2", weights=ctc).transcribe([sound])[0]
    letters = "".join(LETTERS[i] for i in kept).replace("|", " ").strip()
    for token in LETTERS[1:4]:
        transcripts = transcripts.replace(token, "")
    assert transcripts.split() == letters.split()


def test_an_empty_folder_and_no_hub_say_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for weights in (tmp_path, "nobody/no-such-weights"):
        with pytest.raises(VoicenymError, match=r"no usable weights.*hf download"):
            recogniser("wav2vec2", weights=weights)


def test_a_folder_without_a_tokenizer_is_named(ctc, tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((ctc / name).read_bytes())
    with pytest.raises(VoicenymError, match="no usable weights"):
        recogniser("wav2vec2", weights=tmp_path)


def test_a_model_that_writes_no_words_is_refused(tmp_path):
    config = {"model_type": "wav2vec2", "architectures": ["Wav2Vec2Model"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(VoicenymError, match="writes no words"):
        recogniser("wav2vec2", weights=tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "whisper"}))
    with pytest.raises(VoicenymError, match="give it as --recogniser whisper"):
        recogniser("wav2vec2", weights=tmp_path)


def test_two_channels_are_refused(ctc):
    with pytest.raises(AudioError, match="recording 0"):
        recogniser("wav2vec2", weights=ctc).transcribe([np.zeros((2, 16000), np.float32)])


def test_a_model_without_its_output_is_refused(ctc, tmp_path):
    """transformers would give it a random one, which writes random words."""
    from shutil import copytree

    from safetensors.torch import load_file, save_file

    folder = copytree(ctc, tmp_path / "headless")
    state = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in state.items() if not name.startswith("lm_head")}
    assert len(kept) < len(state)
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(VoicenymError, match=r"lm_head\.bias is missing in it"):
        recogniser("wav2vec2", weights=folder)
