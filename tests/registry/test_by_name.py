"""Registry: registration, lists, objects from text, descriptions, and errors."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import voicenym
from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.registry import Registry, split


@dataclass(frozen=True)
class Filter:
    """A filter
    of a signal.

    Further text.

    Args:
        cutoff: in Hz.
    """

    cutoff: float = 100.0


@dataclass(frozen=True)
class Low(Filter):
    """A low-pass filter.

    Args:
        order: of the filter;
            an even number.
    """

    order: int = 2
    steep: bool = False
    window: Literal["hann", "flat"] = "hann"
    gains: tuple[float, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Chain(Filter):
    """One filter after another."""

    first: Filter = field(kw_only=True)
    second: Filter | None = None
    folder: Filter | str = ""


def filters() -> Registry[Filter]:
    found: Registry[Filter] = Registry(
        "filter", {"low-pass": Low}, base=Filter, error=UnknownSystemError
    )
    found.register("chain", f"{__name__}:Chain")
    found.register("steep", Low, steep=True, order=8)
    return found


def test_things_are_listed_by_name_and_imported_when_asked_for():
    found = filters()
    found.register("absent", "voicenym.no_such:Thing")
    assert found.names() == list(found) == ["absent", "chain", "low-pass", "steep"]
    assert len(found) == 4
    assert "chain" in found
    assert "nothing" not in found
    assert found.get("low-pass") is Low
    with pytest.raises(ModuleNotFoundError):
        found.get("absent")


def test_a_name_is_registered_once():
    found = filters()

    @found.register("decorated")
    def decorated(size: int) -> Filter:
        return Filter(size)

    assert decorated(3) == found.make("decorated", size=3) == Filter(3)
    with pytest.raises(ValueError, match="twice"):
        found.register("chain", Chain)


def test_registered_defaults_stand_in_for_those_of_the_signature():
    found = filters()
    assert found.make("steep") == Low(steep=True, order=8)
    assert found.load("steep:order=4") == Low(steep=True, order=4)
    assert {p.name: p.default for p in found.parameters("steep")}["order"] == 8
    assert {p.name: p.default for p in found.parameters("low-pass")}["order"] == 2


def test_those_whose_library_is_missing_are_not_installed():
    found = filters()
    found.register("scientific", Low, needs="no_such_library")
    found.register("numeric", Low, needs="numpy")
    assert found.installed() == ["chain", "low-pass", "numeric", "steep"]
    assert "scientific" in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("low-pass", Low()),
        (" low-pass : cutoff=50 , order=4", Low(50.0, 4)),
        ("low-pass:cutoff=1e3,steep=True", Low(1000.0, steep=True)),
        ("low-pass:cutoff=inf", Low(float("inf"))),
        ("low-pass:gains=(1,2.5)", Low(gains=(1, 2.5))),
        ("low-pass:window=flat,name=12", Low(window="flat", name="12")),
        ("low-pass:name=none", Low(name="none")),
        ("low-pass:name=a=b:(c,d)", Low(name="a=b:(c,d)")),
        ("chain:first=(low-pass)", Chain(first=Low())),
        (
            "chain:first=(chain:first=( low-pass:order=4 )),second=none",
            Chain(first=Chain(first=Low(order=4))),
        ),
        ("chain:first=(low-pass),folder=7", Chain(first=Low(), folder="7")),
    ],
)
def test_text_is_the_thing_that_it_says(text, expected):
    assert filters().load(text) == expected


def test_whole_numbers_become_the_annotated_type():
    made = filters().load("low-pass:cutoff=50")
    assert type(made.cutoff) is float


def test_options_stand_in_for_those_of_the_text():
    assert filters().load("low-pass:order=4,cutoff=1", order=6) == Low(1.0, 6)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", "no filter ''; there are: chain, low-pass, steep"),
        ("lowpass", r"no filter 'lowpass' \(did you mean low-pass\?\); there are: chain, low-p"),
        ("lowpass:order", r"no filter 'lowpass' \(did you mean"),
        ("low-pass:order", "filter 'low-pass:order': 'order' is not FIELD=VALUE"),
        ("low-pass:order=", "'order=' is not FIELD=VALUE"),
        ("low-pass:order=2,", "'' is not FIELD=VALUE"),
        ("low-pass:order=2,order=4", "order is given twice"),
        ("low-pass:ordre=4", r"no parameter ordre \(did you mean order\?\); it has: cutoff, order"),
        ("low-pass:order=much", "low-pass: order is a whole number, which 'much' is not"),
        ("low-pass:order=2.5", "order is a whole number, which '2.5' is not"),
        ("low-pass:order=true", "order is a whole number"),
        ("low-pass:steep=1", "steep is true or false, which '1' is not"),
        ("low-pass:gains=1", "gains is numbers in parentheses"),
        ("low-pass:gains=({[]:1},)", "gains is numbers in parentheses"),
        ("chain", "chain needs first: chain:first=..."),
        ("chain:first=low-pass", "first is a filter in parentheses, which 'low-pass' is not"),
        ("chain:first=(lowpass)", "no filter 'lowpass'"),
        ("chain:first=(low-pass", "parentheses do not match"),
        ("chain:first=low-pass)", "parentheses do not match"),
    ],
)
def test_mistakes_are_named(text, given):
    with pytest.raises(UnknownSystemError, match=given):
        filters().load(text)


def test_long_words_are_quoted_in_part():
    for text in ("x" * 5000, "low-pass:" + "x" * 5000 + "=1", "low-pass:order=" + "x" * 5000):
        with pytest.raises(VoicenymError) as found:
            filters().load(text)
        assert len(str(found.value)) < 400


def test_values_of_python_are_checked_and_paths_become_text():
    found = Registry("filter", {"low-pass": Low}, path=lambda path: f"<{path}>")
    assert found.make("low-pass", name=Path("a")) == Low(name="<a>")
    numpy = pytest.importorskip("numpy")
    assert found.make("low-pass", order=numpy.int64(4), cutoff=numpy.float32(2)) == Low(2.0, 4)
    with pytest.raises(VoicenymError, match="order is a whole number, which True is not"):
        found.make("low-pass", order=True)
    with pytest.raises(VoicenymError, match="no parameter size"):
        found.make("low-pass", size=3)


def test_a_short_form_gives_the_first_parameter():
    def opened(folder: Path, size: int = 1) -> tuple[Path, int]:
        return folder, size

    found = Registry("model", {"model": opened, "bundled": lambda: None}, short=True)
    assert found.load("model:./a=b,c:(d") == (Path("a=b,c:(d"), 1)
    assert found.load("model:folder=a,size=2") == (Path("a"), 2)
    assert found.load("model:7") == (Path("7"), 1)
    assert found.load("bundled") is None
    for text in ("model", "model:"):
        with pytest.raises(VoicenymError, match=r"model needs folder|not FIELD=VALUE"):
            found.load(text)
    with pytest.raises(VoicenymError, match="is not FIELD=VALUE"):
        found.load("bundled:a")
    with pytest.raises(VoicenymError, match="size is a whole number"):
        found.load("model:size=x")


def test_settings_are_those_of_an_option_that_is_repeated():
    found = filters()
    assert found.settings("low-pass", ["order=4", "name=a=b"]) == {"order": 4, "name": "a=b"}
    assert found.settings("low-pass", ["name=", "name="]) == {"name": ""}
    with pytest.raises(VoicenymError, match="--set name: has two values, 'a' and 'b'"):
        found.settings("low-pass", ["name=a", "name=b"])
    with pytest.raises(VoicenymError, match="--set order: expected NAME=VALUE with NAME one of c"):
        found.settings("low-pass", ["order"])
    with pytest.raises(VoicenymError, match="order is a whole number"):
        found.settings("low-pass", ["order="])


def test_a_description_has_the_summary_and_the_parameters():
    found = filters().describe("low-pass")
    assert (found.name, found.summary, found.package) == (
        "low-pass",
        "A low-pass filter.",
        "voicenym",
    )
    by_name = {item.name: item for item in found.parameters}
    assert list(by_name) == ["cutoff", "order", "steep", "window", "gains", "name"]
    assert by_name["cutoff"].help == "in Hz."
    assert by_name["order"].help == "of the filter; an even number."
    assert by_name["steep"].help == ""
    assert by_name["order"].describe() == "a whole number"
    assert by_name["window"].describe() == "one of hann, flat"
    assert filters().describe("chain").parameters[1].required


def test_functions_and_their_parts_are_things_too():
    def made(size: int, /, cutoff: float, *, order: int = 2, **more: str) -> Filter:
        return Low(cutoff, order, name=more.get("name", str(size)))

    found: Registry[Filter] = Registry("filter", {"made": functools.partial(made, 3)})
    assert [item.name for item in found.parameters("made")] == ["cutoff", "order"]
    assert found.load("made:cutoff=1,name=there") == Low(1.0, 2, name="there")


def test_commas_in_parentheses_separate_nothing():
    assert split("a:b=(c:d=1,e=(f,g)),h=2") == ("a", {"b": "(c:d=1,e=(f,g))", "h": "2"})
    assert split("a") == ("a", {})


@pytest.mark.parametrize("name", [None, 3, b"low-pass", Path("low-pass")])
def test_a_name_is_text(name):
    with pytest.raises(UnknownSystemError, match=f"a name is text, not {type(name).__name__}"):
        filters().load(name)


def test_numbers_of_numpy_become_those_of_python():
    """Their reprs and records would differ from those of equal numbers."""
    for number in (np.float64(0.5), np.float32(0.5), Fraction(1, 2)):
        found = voicenym.load("mcadams", low=number)
        assert type(found.low) is float
        assert repr(found) == repr(voicenym.load("mcadams", low=0.5))
    assert type(voicenym.load("mcadams", order=np.int64(20)).order) is int
