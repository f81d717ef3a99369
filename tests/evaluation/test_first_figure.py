"""First figure of the report: its points, and legible names."""

import dataclasses
import itertools

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from voicenym.evaluation import figures
from voicenym.evaluation.figures import first_figure
from voicenym.evaluation.figures.first_figure import (
    Point,
    cover,
    placed,
    points,
    privacy_and_words,
)
from voicenym.evaluation.results import Measured


def test_points_are_the_strongest_attackers_and_the_words(found):
    evaluation, _ = found
    original, bent, sturdy = points(evaluation)
    assert original.name == "(original)"
    assert original.eer == evaluation.unprotected[0].eer
    assert bent.eer == evaluation.systems[0].strongest.eer
    assert bent.words == Measured(40.0, 30.0, 50.0, "%")
    assert sturdy.words is None
    keys = [dataclasses.replace(a, holds_key=True) for a in evaluation.systems[0].attacks]
    lost = dataclasses.replace(evaluation.systems[0], attacks=tuple(keys))
    only = dataclasses.replace(evaluation, systems=(lost,))
    assert [point.name for point in points(only)] == ["(original)"]
    assert figures.first(only) is None


def test_the_arms_of_a_cross_are_the_intervals(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        first_figure, "paper", lambda height: drawn.append(Figure()) or (drawn[0], _axes(drawn[0]))
    )
    point = Point("one", Measured(20.0, 15.0, 26.0), Measured(40.0, 30.0, 55.0))
    privacy_and_words([point, Point("two", Measured(30.0), None)], {})
    lines = [np.asarray(line.get_xydata()).tolist() for line in drawn[0].axes[0].lines]
    assert [[40.0, 15.0], [40.0, 26.0]] in lines
    assert [[30.0, 20.0], [55.0, 20.0]] in lines


def _axes(figure):
    return figure.subplots(1, 1, squeeze=False)


def test_without_words_there_is_no_scale_of_words(monkeypatch):
    """A point beside an empty scale of errors looks like one with many errors."""
    drawn = []
    monkeypatch.setattr(
        first_figure, "paper", lambda height: drawn.append(Figure()) or (drawn[0], _axes(drawn[0]))
    )
    privacy_and_words([Point("one", Measured(20.0, 15.0, 26.0), None)], {})
    axis = drawn[0].axes[0]
    assert axis.get_xlabel() == "words were not measured"
    assert not len(axis.get_xticks())
    assert not axis.texts or all("not measured" not in text.get_text() for text in axis.texts)


@pytest.mark.parametrize("seed", range(5))
def test_names_cover_neither_points_nor_one_another(seed):
    spots = np.random.default_rng(seed).uniform((0.05, 0.02), (0.7, 0.4), (12, 2)).tolist()
    spots[1] = spots[0]  # two systems with the same figures
    boxes = placed(spots, [f"system-{number}" for number in range(12)])
    assert not any(cover(one, other) for one, other in itertools.combinations(boxes, 2))
    for left, right, bottom, top in boxes:
        assert 0 <= left < right <= 1
        assert 0 <= bottom < top <= 1
        assert not any(left < x < right and bottom < y < top for x, y in spots)


def test_a_name_without_neighbours_stands_beside_its_point():
    ((left, _, bottom, top),) = placed([(0.5, 0.5)], ["alone"])
    assert 0.5 < left < 0.52
    assert abs((bottom + top) / 2 - 0.5) < 0.1
