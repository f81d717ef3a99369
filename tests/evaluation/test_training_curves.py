"""Figure of learning curves: a line for each attacker that trains."""

from __future__ import annotations

import dataclasses

from voicenym.evaluation.figures import learning
from voicenym.evaluation.results import Lesson


def test_each_trained_attacker_has_a_line(found):
    evaluation, _ = found
    first, second = evaluation.systems
    curve = (Lesson(100, 60.0, 40.0), Lesson(200, 120.0, 25.0), Lesson(300, 180.0, 20.0))
    trained = dataclasses.replace(first.attacks[0], learning=curve)
    systems = [dataclasses.replace(first, attacks=(trained, *first.attacks[1:])), second]
    palette = {first.name: "C0", second.name: "C1"}
    text = str(learning(systems, palette))
    assert "minutes of training" in text
    shorter = dataclasses.replace(trained, learning=curve[:1])
    systems[0] = dataclasses.replace(first, attacks=(shorter,))
    one = str(learning(systems, palette))
    assert text.count("<use") >= one.count("<use") + 2, "a marker for each point"
