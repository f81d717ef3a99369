"""Figures belong to a corpus by the digests of its files, or are marked, or are refused."""

from __future__ import annotations

import dataclasses

import pytest
from measured_release import evaluation

from voicenym.errors import CorpusError
from voicenym.publication.own_results import of_files, of_system, settings_of

OWN = ("a" * 64, "b" * 64, "c" * 64)


def test_figures_of_the_corpus_say_on_how_many_files(report):
    found = of_files(report(evaluation(files=OWN[:2])), OWN)
    assert found.tied
    assert "2 of the 3 files of this corpus" in found.sentence


def test_figures_of_other_files_are_refused(report):
    place = report(evaluation(files=(OWN[0], "d" * 64)))
    with pytest.raises(CorpusError, match="1 of its 2 evaluated files are not in this corpus"):
        of_files(place, OWN)


def test_figures_that_do_not_name_their_files_are_refused(report):
    with pytest.raises(CorpusError, match=r"does not say which files.*--system-report"):
        of_files(report(evaluation()), OWN)


def test_figures_of_the_system_on_other_outputs_are_marked(report):
    found = of_system(report(evaluation("recast")), {"recast"}, None, 3)
    assert not found.tied
    assert found.sentence.startswith("NOT MEASURED ON THESE FILES")


def test_figures_of_another_system_are_refused(report):
    with pytest.raises(CorpusError, match="holds no figures of the system that made the corpus"):
        of_system(report(evaluation("base")), {"recast"}, None, 3)


@pytest.mark.parametrize(
    ("name", "parameters", "label"),
    [
        ("mcadams", {"low": 0.5, "high": 0.9, "device": "cpu"}, "mcadams"),
        ("mcadams", {"low": 0.5, "high": 1}, "mcadams:high=1"),
        ("base", {"weights": "/elsewhere/mine"}, "base:weights=mine"),
        ("of another package", {"x": 1}, "of another package:x=1"),
        ("of another package", None, "of another package"),
    ],
)
def test_settings_of_a_log_are_named_as_in_a_report(name, parameters, label):
    assert settings_of({"system": name, "parameters": parameters}) == label


def test_one_of_several_systems_must_be_named(report):
    found = evaluation("recast")
    other = dataclasses.replace(found.systems[0], name="recast:bend=0.1")
    place = report(dataclasses.replace(found, systems=(found.systems[0], other)))
    with pytest.raises(CorpusError, match="say which with --system"):
        of_system(place, {"recast"}, None, 3)
    assert of_system(place, {"recast"}, "recast:bend=0.1", 3).system.name == "recast:bend=0.1"
