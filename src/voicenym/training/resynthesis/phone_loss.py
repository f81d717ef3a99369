"""Phone loss: relative entropy between a recogniser's posteriors for original and output.

Spectral losses weigh a long vowel and the short burst that distinguishes two words by their energy.
A phone recogniser weighs them by their meaning: its posteriors for the output are to equal those
for the original, frame by frame, in any voice (after the graphemic posteriorgrams of Deng et al.,
"V-Cloak", USENIX Security 2023, section 4.2.2; here states of phones, and their relative entropy).
"""

from __future__ import annotations

import torch
from torch.nn import functional

from voicenym.nets.words.phone_states.phone_state_network import FrameNet


class Phones(torch.nn.Module):
    """Relative entropy of phone posteriors for two recordings of the same words.

    Args:
        net: trained; it is frozen.
    """

    def __init__(self, net: FrameNet) -> None:
        super().__init__()
        self.net = net.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> Phones:
        """The recogniser stays in evaluation mode."""
        return super().train(False)

    def forward(self, original: torch.Tensor, synthesized: torch.Tensor) -> torch.Tensor:
        """Nats ``[batch]``, a mean over frames of 30 ms, of waveforms ``[batch, time]`` at 16 kHz.

        Differentiable by the second.
        """
        with torch.autocast(synthesized.device.type, enabled=False):
            lengths = torch.full((len(original),), original.shape[1], device=original.device)
            with torch.no_grad():
                reference = functional.log_softmax(self.net(original.float(), lengths)[0], dim=2)
            output = functional.log_softmax(self.net(synthesized.float(), lengths)[0], dim=2)
        return (reference.exp() * (reference - output)).sum(2).mean(1)
