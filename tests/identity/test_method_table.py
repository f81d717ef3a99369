"""Identity methods by name, and in a line of text."""

import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest
import torch

import voicenym.identity
from voicenym import Key, load
from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import METHODS, Identity, identities, identity
from voicenym.identity.copy import Copy, Half
from voicenym.identity.distinct import Distinct
from voicenym.identity.formant_pitch import FormantPitch
from voicenym.identity.lookup import Lookup
from voicenym.identity.mixture import Mixture
from voicenym.identity.selection import Selection

KEY = Key(bytes(range(32)))


def test_a_method_is_made_by_its_name_and_its_repr_rebuilds_it():
    blank = identity("blank", strength=0.25)
    vector = torch.arange(1.0, 5.0)
    assert torch.allclose(blank(vector, KEY.pseudonym("a")), 0.75 * vector)
    assert repr(blank) == "Blank(strength=0.25)"
    assert "blank" in identities()


def test_values_may_be_paths_and_numbers_of_numpy():
    from pathlib import Path

    import numpy as np

    method = identity("selection", pool=Path("a") / "b", world=np.int64(7), region=np.int32(3))
    assert method == identity("selection", pool="a/b", world=7, region=3)
    assert identity("blank", strength=np.float32(0.5)) == identity("blank", strength=0.5)
    with pytest.raises(UnknownSystemError, match="world is a whole number"):
        identity("selection", pool="p", world=True)


def test_what_is_not_known_is_named():
    with pytest.raises(UnknownSystemError, match=r"there are: .*blank"):
        identity("nobody")
    with pytest.raises(UnknownSystemError, match="it has: strength"):
        identity("blank", power=1)
    with pytest.raises(UnknownSystemError, match="selection needs pool"):
        identity("selection")
    with pytest.raises(UnknownSystemError, match="0 to 1"):
        identity("blank", strength=2.0)


@pytest.mark.parametrize("wrong", [torch.zeros(4), torch.tensor([1.0, float("nan"), 0, 0])])
def test_vectors_that_mean_nothing_are_refused(wrong):
    with pytest.raises(VoicenymError, match="leave"):
        identity("blank")(wrong, KEY.pseudonym("a"))


def test_every_method_of_the_room_is_in_the_table():
    found = {}
    for item in iter_modules(voicenym.identity.__path__, "voicenym.identity."):
        for value in vars(import_module(item.name)).values():
            if isinstance(value, type) and issubclass(value, Identity) and "name" in vars(value):
                found[value.name] = value
    assert {name: METHODS.get(name) for name in identities()} == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("selection:pool=a/b", Selection("a/b")),
        (
            "selection:pool=p,choice=near,world=20, region=5",
            Selection("p", "near", "cosine", 20, 5),
        ),
        ("mixture:model=m,theta=none", Mixture("m")),
        ("mixture:model=m,theta=0.9", Mixture("m", 0.9)),
        ("formant-pitch:pitch=(1.1,1.2)", FormantPitch((1.1, 1.2))),
        (
            "distinct:angle=5.0,of=(selection:pool=p,world=7,region=7),pool=p",
            Distinct(Selection("p", world=7, region=7), "p", 5.0),
        ),
        ("half:of=(copy)", Half(Copy())),
        ("half:part=vocoder,of=( copy )", Half(Copy(), "vocoder")),
        ("lookup:pool=2026,nobody=(1,2.5)", Lookup("2026", nobody=(1, 2.5))),
    ],
)
def test_text_is_the_method_that_it_says(text, expected):
    assert identity(text) == expected


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("nobody", "there are"),
        ("selection:pool", "not FIELD=VALUE"),
        ("selection:pool=p,", "not FIELD=VALUE"),
        ("blank:power=1", "it has: strength"),
        ("distinct:of=(copy", "parentheses"),
        ("distinct:of=copy)", "parentheses"),
        ("half:of=copy", "of is a method in parentheses"),
        ("blank:strength=much", "strength is a number, which 'much' is not"),
        ("formant-pitch:pitch=1.2", "pitch is numbers in parentheses"),
        ("formant-pitch:pitch=(1.1,1.2,1.3)", "pitch is numbers in parentheses"),
        ("selection:pool=p,world=2.5", "world is a whole number"),
        ("indistinguishable:pool=p,published=1", "published is true or false"),
        ("mixture:model=m,theta=true", "theta is a number"),
    ],
)
def test_what_cannot_be_read_is_named(text, given):
    with pytest.raises(UnknownSystemError, match=given):
        identity(text)


def test_a_package_adds_a_method_as_ours_are(plugged):
    assert "shuffled" in identities()
    assert "whispered_voice.shuffled" not in sys.modules, "names alone import nothing"
    assert METHODS.package("shuffled") == "whispered-voice"
    method, vector = identity("shuffled"), torch.arange(1.0, 65.0)
    found = method(vector, KEY.pseudonym("a"))
    assert torch.equal(found.sort().values, vector)
    assert torch.equal(found, method(vector, KEY.pseudonym("a")))
    assert not torch.equal(found, method(vector, KEY.pseudonym("b")))
    half = identity("shuffled:strength=0.5")(vector, KEY.pseudonym("a"))
    assert torch.allclose(half, (vector + found) / 2)
    assert identity("half:of=(shuffled)").of == method, "within another method"
    with pytest.raises(UnknownSystemError, match="no parameter size; it has: strength"):
        identity("shuffled:size=3")


def test_systems_take_a_method_of_another_package(plugged):
    system = load("base:identity=shuffled")
    system.check()
    assert system.drawn(KEY.pseudonym("a")) == KEY.pseudonym("a")
    with pytest.raises(UnknownSystemError, match="strength needs 0 to 1, not 2"):
        load("base", identity="shuffled:strength=2")


def test_a_method_keeps_the_shape_of_vectors(monkeypatch):
    method = identity("copy")
    monkeypatch.setattr(type(method), "anonymize", lambda self, vectors, *rest: vectors[:, 1:])
    with pytest.raises(VoicenymError, match=r"copy: the method gives \(1, 3\) for .* \(1, 4\)"):
        method(torch.arange(1.0, 5.0), KEY.pseudonym("a"))
