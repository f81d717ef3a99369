"""Phones without words: settings of the loop, and their choice on held-out speech."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("safetensors")

from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import States
from voicenym.recognition.phones.phone_loop import (
    BONUSES,
    PRIORS,
    SETTINGS,
    LoopSettings,
    PhoneLoop,
    attach_settings,
    tuned,
)

STATES = States(("A", "B", "C"))
SOUND = np.zeros(1_000, np.float32)


def model(priors=None):
    return PhoneModel.make(STATES, {"width": 8, "gaps": (1,)}, priors)


def frames_of(*shares):
    """Log posteriors of frames, each given as shares of states by name of phone and part."""
    found = np.full((len(shares), len(STATES)), 1e-3)
    for frame, share in zip(found, shares, strict=True):
        for name, value in share.items():
            frame[0 if name == "-" else STATES.first(name[0]) + (name[1] == "2")] = value
    return np.log(found / found.sum(1, keepdims=True))


UNCLEAR = [{"-": 1.0}, {"A1": 1.0}, {"A2": 0.5, "B1": 0.5}, {"C1": 1.0}, {"-": 1.0}]
"""One frame is the end of A or a B of its own; a B adds a phone."""


def test_a_bonus_adds_phones_and_a_fine_removes_them():
    few, many = (PhoneLoop(model(), LoopSettings(bonus=b)) for b in (-2.0, 4.0))
    assert few.decoded(frames_of(*UNCLEAR)) == ["A", "C"]
    assert many.decoded(frames_of(*UNCLEAR)) == ["A", "B", "C"]


def test_priors_divide_posteriors():
    # the network prefers A because A is frequent; divided by the priors, B is likelier
    priors = np.log([0.2, 0.5, 0.1, 0.05, 0.05, 0.05, 0.05])
    said = frames_of({"-": 1.0}, {"A1": 0.6, "B1": 0.4}, {"-": 1.0})
    assert PhoneLoop(model(priors), LoopSettings(0.0, 0.0)).decoded(said) == ["A"]
    assert PhoneLoop(model(priors), LoopSettings(0.0, 1.0)).decoded(said) == ["B"]


@pytest.mark.parametrize(("said", "words"), [("AC", ["A C"]), ("ABC", ["A B", "C"])])
def test_the_settings_with_the_fewest_errors_are_chosen(monkeypatch, said, words):
    monkeypatch.setattr(PhoneModel, "log_probs", lambda self, samples: frames_of(*UNCLEAR))
    net = model()
    settings, rate = tuned(net, [(SOUND, [[word] for word in words])])
    assert rate == 0.0
    assert settings.bonus in BONUSES
    assert settings.priors in PRIORS
    assert PhoneLoop(net, settings).phones([SOUND]) == [list(said)]


def test_settings_come_from_the_folder_or_from_the_search_for_words():
    net = model()
    kept = {"search": {"priors": 0.3}, SETTINGS: {"bonus": 1.0, "priors": 1.0}}
    assert PhoneLoop.of_config(net, kept).settings == LoopSettings(1.0, 1.0)
    del kept[SETTINGS]
    assert PhoneLoop.of_config(net, kept).settings == LoopSettings(0.0, 0.3)
    assert PhoneLoop.of_config(net, {}).settings == LoopSettings()


def test_the_choice_is_stored_beside_the_weights(monkeypatch, tmp_path):
    monkeypatch.setattr(PhoneModel, "log_probs", lambda self, samples: frames_of(*UNCLEAR))
    model().save(tmp_path / "asr", training={"anonymized by": ""})
    messages = []
    rate = attach_settings(tmp_path / "asr", [(SOUND, [["A B"], ["C"]])], say=messages.append)
    assert rate == 0.0
    assert "PER 0.0 % with bonus" in messages[0]
    net, config = PhoneModel.load(tmp_path / "asr")
    assert config["training"] == {"anonymized by": ""}
    assert PhoneLoop.of_config(net, config).phones([SOUND]) == [["A", "B", "C"]]
