"""The phones of what is spoken, as a recogniser that listens hears them.

Spectra weigh a vowel that lasts and the burst that makes a word another by what they measure. A
recogniser of phones weighs them by what they mean: what is spoken is to sound to it as the original
does, frame by frame, in whatever voice (after the graphemic posteriorgrams of Deng et al.,
"V-Cloak", USENIX Security 2023, section 4.2.2; here states of phones, and their relative entropy).
"""

from __future__ import annotations

import torch
from torch.nn import functional

from voicenym.nets.words.phone_state_network import FrameNet


class Phones(torch.nn.Module):
    """Relative entropy of the phones heard in two recordings of the same words.

    Args:
        net: trained; it is frozen.
    """

    def __init__(self, net: FrameNet) -> None:
        super().__init__()
        self.net = net.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> Phones:
        """The recogniser's statistics stay its own."""
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
