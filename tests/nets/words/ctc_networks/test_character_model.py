"""A recogniser's folder: what was saved is loaded, and what does not fit is named."""

from __future__ import annotations

import json

import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import VoicenymError
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.nets.words.ctc_networks.deepspeech import LABELS, DeepSpeech2, DeepSpeech2Config

TINY = {"size": 16, "layers": 1, "heads": 2, "kernel": 3, "channels": 4}


@pytest.mark.parametrize(
    ("kind", "options"),
    [("conformer", TINY), ("deepspeech2", {"size": 8, "layers": 2, "cell": "gru", "channels": 2})],
)
def test_a_model_survives_saving(tmp_path, kind, options):
    torch.manual_seed(0)
    model = CharacterModel.make(kind, Alphabet(" 'aé"), options)
    model.save(tmp_path / "asr", decoding={"beam": 0})
    again, config = CharacterModel.load(tmp_path / "asr")
    assert config["decoding"] == {"beam": 0}
    assert again.alphabet == model.alphabet
    assert again.net.config == model.net.config
    recording = torch.randn(6_000)
    assert (again.log_probs(recording) == model.log_probs(recording)).all()
    assert abs(len(model.log_probs(torch.zeros(160_000))) * model.frame - 10.0) < 0.1


def test_a_net_that_came_from_elsewhere_is_kept_with_its_labels(tmp_path):
    net = DeepSpeech2(DeepSpeech2Config(size=4, layers=1, channels=1)).eval()
    model = CharacterModel("deepspeech2", net, Alphabet(LABELS[1:].lower()))
    model.save(tmp_path)
    again, _ = CharacterModel.load(tmp_path)
    recording = torch.randn(2_000)
    assert (again.log_probs(recording) == model.log_probs(recording)).all()
    assert again.alphabet.decode([1, 2, 27, 28]) == "'az "


def test_a_named_size_is_saved_as_numbers(tmp_path):
    model = CharacterModel.make("conformer", Alphabet("ab"), {"size": "laptop", "layers": 1})
    assert model.config()["options"]["size"] == 96
    assert model.config()["options"]["layers"] == 1


def test_weights_of_another_model_are_named_by_their_first_key(tmp_path):
    CharacterModel.make("conformer", Alphabet("ab"), TINY).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["options"]["channels"] = 5
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(VoicenymError, match=r"subsampling\.first\.weight is \[4, 1, 3, 3\]"):
        CharacterModel.load(tmp_path)


def test_folders_that_hold_no_recogniser(tmp_path):
    with pytest.raises(VoicenymError, match="cannot be read"):
        CharacterModel.load(tmp_path / "nothing")
    CharacterModel.make("conformer", Alphabet("ab"), TINY).save(tmp_path)
    digest = json.loads((tmp_path / "config.json").read_text())["sha256"]
    (tmp_path / "config.json").write_text(json.dumps({"sha256": digest}))
    with pytest.raises(VoicenymError, match="holds no recogniser"):
        CharacterModel.load(tmp_path)
