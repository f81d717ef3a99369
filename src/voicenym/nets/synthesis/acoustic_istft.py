"""Two-stage synthesizer: the acoustic model of baseline B1.a, then an inverse-STFT vocoder.

The structure is that of :class:`~voicenym.nets.synthesis.acoustic_nsf.AcousticNsf`. The vocoder is
a source-filter model too, of pulses and noise, but its network runs once a frame instead of once a
sample (:class:`~voicenym.nets.synthesis.istft_vocoder.IstftVocoder`): a small one is trained in
minutes, where the published NSF needs many hours.
"""

from __future__ import annotations

import torch

from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageOfOptions


class AcousticIstft(TwoStageOfOptions):
    """Acoustic model, then :class:`~voicenym.nets.synthesis.istft_vocoder.IstftVocoder`."""

    kind = "acoustic-istft"
    vocoder_class = IstftVocoder

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        return super().spoken(self.acoustic.standardize(mels), f0, speaker, seed)
