"""Distance of speaker vectors between original and synthesized speech.

A vocoder that learns from mels and a recogniser's states keeps the words first; a small one spends
little on what distinguishes voices. This loss asks for the speaker's vector (the loss of speaker
consistency of Casanova et al., "YourTTS", ICML 2022). It pleases one speaker encoder: whether a
voice is kept is to be judged by another one as well.
"""

from __future__ import annotations

import torch

from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.speech.noise_below_speech import noise_below

NOISE = (20.0, 40.0)
"""Noise below both sides in dB, at least and at most, so that inaudible parts cannot lower the
loss."""


class SpeakerLoss(torch.nn.Module):
    """One less the cosine of the speaker vectors of original and synthesized crops.

    Args:
        encoder: trained; it is frozen.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> SpeakerLoss:
        """Keeps the encoder in evaluation mode."""
        return super().train(False)

    def forward(
        self, original: torch.Tensor, made: torch.Tensor, generator: torch.Generator
    ) -> torch.Tensor:
        """Mean over rows, 0 for equal vectors, 2 at most; differentiable with respect to ``made``.

        Args:
            original, made: waveforms ``[row, time]`` at 16 kHz.
            generator: of the noise.
        """
        with torch.autocast(made.device.type, enabled=False):
            with torch.no_grad():
                noisy = original.float() + noise_below(original.float(), NOISE, generator)
                wanted = self.encoder(noisy)
            made = made.float()
            given = self.encoder(made + noise_below(made.detach(), NOISE, generator))
            return (1.0 - torch.cosine_similarity(given, wanted)).mean()
