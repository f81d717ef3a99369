"""Models of phones: kept in a folder and found again."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
import torch

pytest.importorskip("safetensors")

from voicenym.errors import VoicenymError
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.ctc import Alphabet
from voicenym.nets.words.phone_states.phone_model import PhoneModel, holds_phones
from voicenym.nets.words.phone_states.phones import States

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
    model.save(tmp_path / "small", bits=8)
    small, _ = PhoneModel.load(tmp_path / "small")
    np.testing.assert_allclose(small.log_probs(sound), model.log_probs(sound), atol=0.05)


def test_quantised_weights_differ_by_half_a_step_of_their_row(tmp_path):
    torch.manual_seed(0)
    model = PhoneModel.make(STATES, {"width": 64, "gaps": (1, 1)})
    sizes = {}
    for bits in (0, 6, 8):
        folder = tmp_path / str(bits)
        model.save(folder, bits=bits)
        sizes[bits] = len(zlib.compress((folder / "model.safetensors").read_bytes()))
    assert sizes[6] < sizes[8] < 0.3 * sizes[0]
    saved = PhoneModel.load(tmp_path / "6")[0].net.state_dict()
    for name, value in model.net.state_dict().items():
        if value.ndim > 1:
            largest = value.flatten(1).abs().amax(1)
            errors = (saved[name] - value).flatten(1).abs().amax(1)
            assert (errors <= 1.01 * largest / 31 / 2).all()
            assert errors.max() > 0.0
        else:  # in half precision
            torch.testing.assert_close(saved[name], value, rtol=2.0**-11, atol=1e-6)


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
