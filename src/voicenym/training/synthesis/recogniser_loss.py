"""Distance of a recogniser's states between original and synthesized speech.

Spectral distances weight speech by its energy: a sustained vowel counts more than the burst that
distinguishes two words. The encoder of a recogniser weights both by their importance for the words.
The states are those of Whisper's upper layers (Radford et al., ICML 2023), without the padding to
30 s, which both sides would share.
"""

from __future__ import annotations

import torch

from voicenym.nets.words.whisper.whisper import STATE, Encoder

LAYERS = 2
"""Upper layers whose states are compared."""


class RecogniserLoss(torch.nn.Module):
    """Mean squared distance of states, as a share of their variance over the original.

    Args:
        encoder: trained; it is frozen.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> RecogniserLoss:
        """Keeps the recogniser in evaluation mode."""
        return super().train(False)

    def forward(self, original: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        """Mean over layers and rows, 0 for equal states; waveforms ``[batch, time]`` at 16 kHz.

        Differentiable with respect to ``made``.
        """
        return self.distance(self.states(original), made)

    def states(self, original: torch.Tensor) -> list[torch.Tensor]:
        """States of originals ``[batch, time]``, ``[batch, state, size]`` of each upper layer."""
        with torch.no_grad():
            return self._states(original)

    def distance(self, wanted: list[torch.Tensor], made: torch.Tensor) -> torch.Tensor:
        """The loss of ``made`` ``[batch, time]`` for states of :meth:`states`, as of its length."""
        distances = [
            (a - b).square().mean() / b.var(dim=(0, 1), correction=0).mean().clamp_min(1e-6)
            for a, b in zip(self._states(made), wanted, strict=True)
        ]
        return torch.stack(distances).mean()

    def _states(self, waveforms: torch.Tensor) -> list[torch.Tensor]:
        states = min(self.encoder.states, -(-waveforms.shape[1] // STATE))
        spectra = self.encoder.spectra(waveforms.float(), states)
        return [x.float() for x in self.encoder.layer_states(spectra)[-LAYERS:]]
