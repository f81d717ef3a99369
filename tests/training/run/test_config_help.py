"""Help on configurations equals that of their dataclasses, without importing them."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest

from voicenym.training.recipes import RECIPES
from voicenym.training.run.config_help import config_fields

pytest.importorskip("lightning")
CONFIGURED = [name for name in RECIPES if RECIPES.get(name).configuration]


@pytest.mark.parametrize("recipe", CONFIGURED)
def test_every_field_is_listed_with_its_help(recipe):
    place = RECIPES.get(recipe).configuration
    module, _, name = place.partition(":")
    kind = getattr(import_module(module), name)
    found = config_fields(place)
    assert {item.name for item in found} == {item.name for item in dataclasses.fields(kind)}
    assert not [item.name for item in found if not item.help]
    assert not [item.name for item in found if ":`" in item.help], "markup in a terminal"


def test_defaults_are_those_of_the_class():
    found = {item.name: item.default for item in config_fields(
        "voicenym.training.content.bottleneck.train_bottleneck:BottleneckConfig"
    )}  # fmt: skip
    assert found["net"] == "'tdnnf'"
    assert found["steps"] == "20000"
    assert found["schedule"] == "Cyclical"


def test_what_is_not_there_is_named():
    with pytest.raises(LookupError, match="no class Nothing"):
        config_fields("voicenym.training.run.fit:Nothing")
