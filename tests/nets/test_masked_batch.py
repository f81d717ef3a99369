"""Padding: it is not counted, and it comes out as zeros."""

from __future__ import annotations

import torch

from voicenym.nets.masked_batch import MaskedBatchNorm, padded, valid


def test_statistics_are_those_of_what_is_there():
    torch.manual_seed(0)
    norm, plain = MaskedBatchNorm(3), torch.nn.BatchNorm1d(3)
    first, second = torch.randn(5, 3), 4.0 + torch.randn(2, 3)
    batch = torch.nn.utils.rnn.pad_sequence([first, second], batch_first=True, padding_value=99.0)
    mask = valid(torch.tensor([5, 2]), 5)
    found = norm(batch, mask)
    wanted = plain(torch.cat([first, second]))
    torch.testing.assert_close(found[mask], wanted)
    assert not found[~mask].any()
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(norm.state_dict()[name], value)
    norm.eval()
    plain.eval()
    torch.testing.assert_close(norm(batch, mask)[1, :2], plain(second))
    assert not norm(batch, mask)[~mask].any()


def test_axes_between_time_and_channel_are_counted_too():
    torch.manual_seed(1)
    norm, plain = MaskedBatchNorm(4), torch.nn.BatchNorm2d(4)
    x = torch.randn(2, 7, 5, 4)  # [batch, time, bin, channel]
    found = norm(x, valid(torch.tensor([7, 7]), 7))
    torch.testing.assert_close(found.permute(0, 3, 2, 1), plain(x.permute(0, 3, 2, 1)))


def test_gradients_reach_what_is_there_and_nothing_else():
    norm = MaskedBatchNorm(2)
    x = torch.randn(2, 4, 2, requires_grad=True)
    mask = valid(torch.tensor([4, 1]), 4)
    norm(x, mask).square().sum().backward()
    assert not x.grad[~mask].any()
    assert norm.weight.grad.any()


def test_signals_become_a_batch():
    batch, lengths = padded([torch.ones(2), torch.ones(3)])
    assert batch.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert lengths.tolist() == [2, 3]
