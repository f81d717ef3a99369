"""Configurations of bundled weights with a value of another type: an error that names the folder.

A folder of weights may be another's work, or edited by hand.
"""

from __future__ import annotations

import copy as copies
import json
from importlib import import_module
from pathlib import Path

import pytest

import voicenym
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, copy

PACKAGE = Path(voicenym.__file__).parent
PIPELINE = "resynthesis/pipeline/bundled/ssl"
LOADERS = {
    "nets/identity/bundled/autoencoder-small": "nets.identity.vector_autoencoder:load",
    "nets/identity/bundled/ecapa-small": "nets.identity.householder_checkpoint:load",
    "nets/words/bundled/phones-small": "nets.words.phone_states.phone_model:PhoneModel.load",
    "nets/cloak/bundled/vcloak-small": "nets.cloak.cloak:Cloak.load",
    "resynthesis/codec/bundled/musa": "nets.codec.codec:Codec.load",
    "resynthesis/bundled/base": "resynthesis.bundled.model_parts:Parts.load",
    f"{PIPELINE}/register": "resynthesis.pipeline.f0_regression:Register.load",
    f"{PIPELINE}/pool": "identity.pools.speaker_pool:load",
    f"{PIPELINE}/durations": "nets.synthesis.duration_predictor:load",
}
"""Folders of weights, and the functions that load them."""
SETTINGS = ("options", "content", "synthesizer", "rank", "phones", "priors", "size", "speakers")
MISSING = object()


def found(place):
    module, _, name = place.partition(":")
    value = import_module(f"voicenym.{module}")
    for part in name.split("."):
        value = getattr(value, part)
    return value


def changed(config):
    """Configurations of which one setting, or one option, is another."""
    for name in SETTINGS:
        if name not in config:
            continue
        inside = config[name] if isinstance(config[name], dict) else {}
        for value in (None, "x", [], {}, MISSING):
            for option in (None, *list(inside)[:2]):
                made = copies.deepcopy(config)
                where, what = (made, name) if option is None else (made[name], option)
                if value is MISSING:
                    del where[what]
                else:
                    where[what] = value
                yield made


@pytest.mark.parametrize("folder", list(LOADERS))
def test_a_setting_of_another_type_is_an_error_of_the_folder(folder, tmp_path):
    place = tmp_path / "weights"
    copy(PACKAGE / folder, place)
    load = found(LOADERS[folder])
    load(place)
    config = json.loads((place / CONFIG).read_text("utf-8"))
    refused = []
    for one in changed(config):
        (place / CONFIG).write_text(json.dumps(one), "utf-8")
        try:
            load(place)  # options that have a default may be missing
        except VoicenymError as error:
            refused.append(str(error))
    assert refused
    assert [message for message in refused if str(place) not in message] == []
