"""Methods take pool and networks of a system's weights where their text names none."""

import pytest

from voicenym.errors import UnknownSystemError
from voicenym.identity import identities, identity
from voicenym.identity.own_parts import POOLED, methods_of, unplaced

METHODS = methods_of(lambda part: f"./weights/{part}")
NESTED = {"half": "half:of=(selection)", "distinct": "distinct:of=(selection)"}


def test_every_method_can_be_made_without_a_folder():
    for name in identities():
        text = NESTED.get(name, name)
        assert METHODS.load(text).name == name
        assert unplaced(text).name == name


def test_parts_are_those_of_the_weights_unless_others_are_named():
    for name in POOLED:
        assert METHODS.load(NESTED.get(name, name)).pool == "./weights/pool"
    assert METHODS.load("mixture").model == "./weights/mixture"
    assert METHODS.load("householder").model == "./weights/loh"
    assert METHODS.load("half:of=(selection)").of.pool == "./weights/pool"
    assert METHODS.load("selection:pool=./mine").pool == "./mine"
    assert METHODS.load("autoencoder:of=(selection:pool=./mine)").of.pool == "./mine"


def test_without_weights_a_pool_is_needed_as_before():
    with pytest.raises(UnknownSystemError, match="selection needs pool"):
        identity("selection")


def test_a_missing_inner_method_is_asked_for_with_an_example():
    with pytest.raises(UnknownSystemError, match=r"half needs of: half:of=\.\.\., a method in"):
        METHODS.load("half")
