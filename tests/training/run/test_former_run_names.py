"""Configurations, run states, files and folders of earlier releases stay readable."""

import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.training.codec.musa_config import MusaConfig
from voicenym.training.content.word_codes.train_word_codes import WordCodesConfig
from voicenym.training.identity.train_householder import HouseholderConfig
from voicenym.training.resynthesis.resynthesis_config import ResynthesisConfig
from voicenym.training.run.config import build, bundled, load
from voicenym.training.run.former_run_names import present_or_former, rename_state
from voicenym.training.run.resume_check import check_resume
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig

SMALL = {"period": {"channels": [4, 8]}}


@pytest.mark.parametrize(
    ("kind", "former", "present"),
    [
        (MusaConfig, {"judges": 0.5}, MusaConfig(discriminator_width=0.5)),
        (MusaConfig, {"judged_by": SMALL}, MusaConfig(discriminators=SMALL)),
        (MusaConfig, {"judged": 0.25}, MusaConfig(discriminator_seconds=0.25)),
        (ResynthesisConfig, {"evened": True}, ResynthesisConfig(normalised=True)),
        (ResynthesisConfig, {"judges": SMALL}, ResynthesisConfig(discriminators=SMALL)),
        (SynthesizerConfig, {"judges": SMALL}, SynthesizerConfig(discriminators=SMALL)),
        (SynthesizerConfig, {"judged": 0.5}, SynthesizerConfig(discriminator_seconds=0.5)),
        (WordCodesConfig, {"judged": 9}, WordCodesConfig(validation_windows=9)),
        (WordCodesConfig, {"taught": 0.1}, WordCodesConfig(distillation=0.1)),
        (HouseholderConfig, {"apart": 0.3}, HouseholderConfig(pair_margin=0.3)),
    ],
)
def test_former_fields_fill_the_present_ones(kind, former, present):
    assert build(kind, former, "mine.yaml") == present


def test_a_field_under_both_names_is_refused():
    with pytest.raises(VoicenymError, match="'discriminators' twice"):
        build(SynthesizerConfig, {"judges": {}, "discriminators": {}}, "mine.yaml")


def test_a_former_bundled_configuration_is_found():
    assert "base-evened.yaml" not in bundled()
    assert load("base-evened", ResynthesisConfig) == load("base-normalised", ResynthesisConfig)
    assert load("base-normalised", ResynthesisConfig).normalised


def test_run_states_with_former_parts_load():
    checkpoint = {"state_dict": {"judges.0.weight": torch.ones(2), "network.judges": torch.ones(1)}}
    rename_state(checkpoint, {"judges.": "discriminators."})
    assert sorted(checkpoint["state_dict"]) == ["discriminators.0.weight", "network.judges"]
    other = {"state_dict": {"judges.1.bias": torch.zeros(1)}}
    Adversarial.on_load_checkpoint(None, other)
    assert list(other["state_dict"]) == ["discriminators.1.bias"]


def test_a_folder_of_an_earlier_release_is_used_on(tmp_path):
    assert present_or_former(tmp_path, "speech", "shelf") == tmp_path / "speech"
    (tmp_path / "shelf").mkdir()
    assert present_or_former(tmp_path, "speech", "shelf") == tmp_path / "shelf"
    (tmp_path / "speech").mkdir()
    assert present_or_former(tmp_path, "speech", "shelf") == tmp_path / "speech"


@pytest.mark.parametrize("name", ["begun.json", "settings.json"])
def test_the_settings_of_a_run_are_compared(tmp_path, name):
    (tmp_path / "last.ckpt").touch(mode=0o600)
    tmp_path.chmod(0o700)
    (tmp_path / name).write_text(json.dumps({"content": "units of base"}))
    with pytest.raises(VoicenymError, match="content units of base, and this is soft"):
        check_resume(tmp_path, {"content": "soft"})
    check_resume(tmp_path, {"content": "units of base"})
    assert json.loads((tmp_path / name).read_text()) == {"content": "units of base"}
