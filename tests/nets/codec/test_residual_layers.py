"""Layers of the codec."""

import pytest
import torch

from voicenym.nets.codec.residual_layers import Recurrent, Unit, Up
from voicenym.nets.streaming import Memory


@pytest.mark.parametrize("factor", [2, 5, 8])
@pytest.mark.parametrize("causal", [False, True])
def test_a_step_up_is_the_transposed_convolution_cut_to_length(factor, causal):
    torch.manual_seed(0)
    up = Up(3, 2, factor, causal)
    x = torch.randn(2, 3, 7)
    whole = torch.nn.functional.conv_transpose1d(x, up.weight, up.bias, stride=factor)
    cut = 0 if causal else factor // 2
    torch.testing.assert_close(up(x), whole[:, :, cut : cut + 7 * factor])


@pytest.mark.parametrize("causal", [False, True])
def test_steps_up_in_blocks_are_those_of_the_whole(causal):
    torch.manual_seed(0)
    up, memory = Up(3, 2, 5, causal), Memory()
    x = torch.randn(1, 3, 9)
    parts = [up(part, memory) for part in x.split([1, 3, 0, 5], dim=2)]
    memory.last = True
    parts.append(up(x[:, :, :0], memory))
    torch.testing.assert_close(torch.cat(parts, 2), up(x))


def test_a_causal_step_up_does_not_look_ahead():
    torch.manual_seed(0)
    up, x = Up(1, 1, 4, causal=True), torch.zeros(1, 1, 6)
    later = x.clone()
    later[:, :, 3] = 1.0
    changed = (up(x) != up(later))[0, 0].nonzero()[:, 0]
    assert changed.min() >= 12
    assert changed.max() < 20


def test_a_unit_of_no_weights_changes_nothing():
    unit = Unit(4, 3, 2, causal=False)
    for parameter in unit.second.parameters():
        torch.nn.init.zeros_(parameter)
    x = torch.randn(2, 4, 11)
    assert torch.equal(unit(x), x)
    assert unit.first.out_channels == 2


def test_a_causal_unit_and_recurrence_go_on_from_block_to_block():
    torch.manual_seed(0)
    unit, recurrent, memory = Unit(4, 3, 2, causal=True), Recurrent(4, 2), Memory()
    x = torch.randn(2, 4, 12)
    blocks = [recurrent(unit(b, memory), memory) for b in x.split([5, 1, 6], dim=2)]
    torch.testing.assert_close(torch.cat(blocks, 2), recurrent(unit(x)))
    assert torch.equal(Recurrent(4, 0)(x), x)


@pytest.mark.parametrize("layers", [1, 2])
def test_an_lstm_gate_by_gate_is_torchs(layers):
    torch.manual_seed(0)
    recurrent, x = Recurrent(6, layers), torch.randn(2, 6, 25)
    whole = recurrent(x)
    memory = Memory()
    # a few steps are computed here, many by torch
    parts = [recurrent(part, memory) for part in x.split([3, 1, 14, 7], dim=2)]
    torch.testing.assert_close(torch.cat(parts, 2), whole)
