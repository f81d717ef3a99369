"""Changes of low rank: none at first, of the given rank, and a copy has them."""

from __future__ import annotations

import pytest
import torch
from torch.func import functional_call

from voicenym.nets.weights.low_rank import LowRankChanges, shapes


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv1d(12, 20, 3), torch.nn.GELU(), torch.nn.Conv1d(20, 8, 1)
    )


def drawn(changes):
    with torch.no_grad():
        for value in changes.parameters():
            value.normal_()
    return changes


def test_nothing_changes_at_first(network):
    changes = LowRankChanges(shapes(network), 2)
    for name, value in changes.of(network).items():
        assert torch.equal(value, network.get_parameter(name))


def test_changes_of_matrices_have_the_rank_and_others_are_whole(network):
    changes = drawn(LowRankChanges(shapes(network), 2))
    change = changes.changed(network)[0].weight - network[0].weight
    assert torch.linalg.matrix_rank(change.detach().flatten(1), rtol=1e-5) == 2
    assert set(changes.whole) == {"0/bias", "2/bias"}
    assert changes.down["0/weight"].shape == (2, 36)


def test_a_changed_copy_computes_what_the_changes_say(network):
    changes = drawn(LowRankChanges(shapes(network), 3))
    x = torch.randn(2, 12, 9)
    before = network(x)
    wanted = functional_call(network, changes.of(network), (x,))
    torch.testing.assert_close(changes.changed(network)(x), wanted)
    assert torch.equal(network(x), before)
    assert not torch.allclose(wanted, before)


def test_a_part_of_the_network_may_be_changed(network):
    changes = drawn(LowRankChanges(shapes(network[0], "first."), 2))
    assert set(changes.of(network[0], "first.")) == {"weight", "bias"}
    assert not changes.of(network)
