"""Models of phones: kept in a folder and found again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import VoicenymError
from voicenym.nets.words.character_model import CharacterModel
from voicenym.nets.words.ctc import Alphabet
from voicenym.nets.words.phone_model import PhoneModel, holds_phones
from voicenym.nets.words.phones import States

STATES = States(("AA", "B"))
TINY = {"width": 8, "gaps": (1,)}


def test_it_comes_back_from_its_folder(tmp_path):
    model = PhoneModel.make(STATES, TINY, np.log([0.5, 0.2, 0.1, 0.1, 0.1]))
    sound = torch.randn(8_000)
    model.save(tmp_path / "asr", training={"anonymized by": "mcadams"})
    again, config = PhoneModel.load(tmp_path / "asr")
    assert again.states == STATES
    assert config["training"] == {"anonymized by": "mcadams"}
    np.testing.assert_allclose(again.priors, model.priors, atol=1e-4)
    np.testing.assert_allclose(again.log_probs(sound), model.log_probs(sound), atol=1e-6)
    np.testing.assert_allclose(np.exp(again.log_probs(sound)).sum(1), 1.0, rtol=1e-5)
    model.save(tmp_path / "half", half=True)
    halved, _ = PhoneModel.load(tmp_path / "half")
    np.testing.assert_allclose(halved.log_probs(sound), model.log_probs(sound), atol=0.05)


def test_priors_are_even_unless_given():
    np.testing.assert_allclose(np.exp(PhoneModel.make(STATES, TINY).priors), 0.2)


def test_another_folder_is_refused(tmp_path):
    letters = {"size": 16, "layers": 1, "heads": 2, "kernel": 3, "channels": 4}
    CharacterModel.make("conformer", Alphabet(" ab"), letters).save(tmp_path / "letters")
    assert not holds_phones(tmp_path / "letters")
    with pytest.raises(VoicenymError, match="no recogniser of phones"):
        PhoneModel.load(tmp_path / "letters")
    with pytest.raises(VoicenymError, match="cannot be read"):
        PhoneModel.load(tmp_path / "nothing")
    with pytest.raises(VoicenymError, match="network of phones"):
        PhoneModel.make(STATES, {"wide": 8})
