"""Declarations of systems, from their source alone."""

from __future__ import annotations

import ast

import pytest

from voicenym.anonymizer import SYSTEMS, available, declarations, revisions, system_class
from voicenym.anonymizer import declaration as declaration_of
from voicenym.anonymizer.declaration import NotConstantError, _value, of_class, of_source


@pytest.mark.parametrize("name", available())
def test_the_source_says_what_the_class_says(name):
    cls = system_class(name)
    found = of_source(SYSTEMS.place(name))
    assert found == of_class(cls)
    assert found.card.figures == cls.card.figures
    assert found.card.figures_live == cls.card.figures_live
    assert found.card.figures_without == cls.card.figures_without


def test_every_system_is_declared():
    assert list(declarations()) == available()
    assert revisions() == {name: system_class(name).revisions[-1] for name in available()}


@pytest.mark.parametrize(
    "place",
    [
        "",
        "theirs.whisper:Whisper",
        "voicenym.systems.absent:Absent",
        "voicenym.systems.recast:Absent",
        "voicenym.errors:VoicenymError",
        "voicenym.anonymizer.anonymizer:Anonymizer",
    ],
)
def test_a_class_that_is_not_there_or_no_system_has_none(place):
    with pytest.raises(NotConstantError):
        of_source(place)


@pytest.mark.parametrize("text", ["f(1)", "1 + 1", "[1]", "{}", "Card('a')", "Card(**{})", "no"])
def test_what_is_computed_is_not_read(text):
    with pytest.raises(NotConstantError):
        _value("voicenym.systems.recast", ast.parse(text, mode="eval").body)


def test_a_class_that_was_registered_is_asked_itself(monkeypatch):
    """Its module has been imported, and it may have been changed since."""
    cls = system_class("mcadams")
    monkeypatch.setattr(cls, "revisions", (1, 7))
    assert declaration_of("mcadams").revisions == (1, 7)
    assert revisions()["mcadams"] == 7
