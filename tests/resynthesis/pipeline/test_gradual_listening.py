"""Language scores computed a part at a time: which parts, and when they count."""

import pytest
import torch

from voicenym.resynthesis.pipeline.gradual_listening import GradualListening

LAYERS = 3


class Content:
    """An encoder that counts the parts it computed."""

    def __init__(self):
        self.computed = 0

    def scores_by_layer(self, samples):
        for layer in range(LAYERS):
            self.computed += 1
            yield torch.full((1, 2, 1), float(layer))


class Language:
    """A language check that keeps what it is given."""

    off = False

    def __init__(self):
        self.added = []

    def add(self, scores, samples, speech):
        self.added.append(float(scores.mean()))


@pytest.fixture
def parts():
    content, language = Content(), Language()
    made = GradualListening(content, language, torch.zeros(1, 640), torch.ones(1, 2).bool())
    return made, content, language


@pytest.mark.parametrize("idle", [(), (0,), (0, 1, 2), (1, 3), (0, 0, 1, 1, 2, 2)])
def test_scores_count_at_the_same_step_whatever_is_computed_ahead(parts, idle):
    made, _, language = parts
    for step in range(LAYERS + 1):
        assert language.added == []
        for _ in range(idle.count(step)):
            made.ahead()
        assert made.step() == (step == LAYERS)
    assert language.added == [LAYERS - 1]


def test_nothing_is_left_to_a_step_whose_part_was_computed_ahead(parts):
    made, content, _ = parts
    for step in range(LAYERS):
        made.ahead()
        made.ahead()
        assert content.computed == step + 1
        made.step()
        assert content.computed == step + 1


def test_the_end_computes_what_is_left(parts):
    made, content, language = parts
    made.ahead()
    made.finish()
    assert (content.computed, language.added) == (LAYERS, [LAYERS - 1])


def test_nothing_is_computed_where_there_is_no_verdict(parts):
    _, content, language = parts
    language.off = True
    GradualListening(content, language, torch.zeros(1, 640), torch.ones(1, 2).bool()).finish()
    assert (content.computed, language.added) == (0, [])
