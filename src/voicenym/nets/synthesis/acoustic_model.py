"""Acoustic model of baseline B1.a: mel spectra from content, F0 and a speaker vector.

Fang et al., "Speaker anonymization using x-vector and neural waveform models", SSW 2019, and the
VoicePrivacy 2020 evaluation plan: 80 mels from content (256 elements), F0 and an x-vector (512).

The baseline's model feeds its own output back into its LSTMs. This one does not, so that it runs in
parallel over frames where it can; sizes that the plan leaves open are arguments.
"""

from __future__ import annotations

import torch

from voicenym.nets.streaming import Conv
from voicenym.nets.synthesis.nsf import Standardize
from voicenym.nets.synthesis.synthesizer import Conditions


class Highway(torch.nn.Module):
    """Highway convolution x + t (h - x), for the refinement of a spectrogram.

    Srivastava, Greff, Schmidhuber, "Highway networks", 2015. The gate starts almost closed.

    Args:
        size: elements of a frame.
        kernel: in frames.
    """

    def __init__(self, size: int, kernel: int = 5) -> None:
        super().__init__()
        self.change = Conv(size, size, kernel)
        self.gate = Conv(size, size, kernel)
        assert self.gate.bias is not None
        torch.nn.init.constant_(self.gate.bias, -1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, size]`` to the same."""
        steps = x.transpose(1, 2)
        mended = torch.tanh(self.change(steps)) - steps
        return x + (torch.sigmoid(self.gate(steps)) * mended).transpose(1, 2)


class AcousticModel(torch.nn.Module):
    """Acoustic model: two linear layers, a bidirectional LSTM, two LSTMs, two highway convolutions.

    Args:
        content, speaker: elements of a content frame and of a speaker vector.
        mels: of the output.
        width: of the layers; the bidirectional LSTM has half of it in each direction.
    """

    def __init__(
        self, content: int = 256, speaker: int = 512, mels: int = 80, width: int = 512
    ) -> None:
        super().__init__()
        self.conditions = Conditions(content, speaker, "log")
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(self.conditions.size, width),
            torch.nn.Tanh(),
            torch.nn.Linear(width, width),
            torch.nn.Tanh(),
        )
        self.both_ways = torch.nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)
        self.forward_only = torch.nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = torch.nn.Linear(width, mels)
        self.highways = torch.nn.Sequential(Highway(mels), Highway(mels))
        self.standardize = Standardize(mels)

    def forward(
        self, content: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor
    ) -> torch.Tensor:
        """Log mels ``[batch, frame, mel]``; the loss is their mean squared error.

        Args:
            content: ``[batch, frame, element]``.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            speaker: ``[batch, element]``.
        """
        hidden = self.layers(self.conditions(content, f0, speaker))
        hidden, _ = self.both_ways(hidden)
        hidden, _ = self.forward_only(hidden)
        return self.standardize.inverse(self.highways(self.head(hidden)))
