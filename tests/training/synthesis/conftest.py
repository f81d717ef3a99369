"""A tiny recogniser for the losses of synthesizers."""

import pytest
import torch

from voicenym.nets.words.whisper import Whisper


@pytest.fixture(scope="module")
def whisper():
    torch.manual_seed(0)
    made = Whisper(width=16, heads=2, layers=3, states=100, tokens=20)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return made
