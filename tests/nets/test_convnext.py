"""ConvNeXt blocks."""

import math

import torch

from voicenym.nets.convnext import Block
from voicenym.nets.streaming import Memory


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_block_is_convnext():
    torch.manual_seed(0)
    block = Block(6, 12, 5, 3, None, 0.5).double()
    x, speaker = noise(2, 9, 6).double(), noise(2, 1, 3).double()
    y = torch.zeros_like(x)
    for t in range(9):
        for k in range(5):
            if 0 <= t + k - 2 < 9:
                y[:, t] += block.depthwise.weight[:, 0, k] * x[:, t + k - 2]
    y = y + block.depthwise.bias
    y = (y - y.mean(2, keepdim=True)) / (y.var(2, keepdim=True, unbiased=False) + 1e-6).sqrt()
    gain, shift = block.adapt(speaker).split(6, dim=2)
    y = block.widen(y * (1 + gain) + shift)
    y = block.narrow(0.5 * y * (1 + torch.erf(y / math.sqrt(2))))
    torch.testing.assert_close(block(x, speaker), x + 0.5 * y)


def test_a_few_frames_of_a_stream_equal_the_whole_and_another_speaker_is_heard_at_once():
    torch.manual_seed(1)
    block = Block(6, 12, 5, 3, 1, 0.5).double()
    x, speakers = noise(1, 9, 6).double(), noise(2, 1, 3).double()
    memory = Memory()
    with torch.no_grad():
        first = [block(x[:, i : i + 1], speakers[:1], memory) for i in range(5)]
        memory.last = True
        rest = block(x[:, 5:], speakers[1:], memory)
        torch.testing.assert_close(torch.cat(first, 1), block(x, speakers[:1])[:, :4])
        torch.testing.assert_close(rest, block(x, speakers[1:])[:, 4:])
