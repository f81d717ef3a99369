"""Two-stage synthesizer of baseline B1.a: acoustic model to mel spectra, NSF vocoder to a waveform.

Fang et al., "Speaker anonymization using x-vector and neural waveform models", SSW 2019, and the
VoicePrivacy 2020 evaluation plan: an acoustic model predicts 80 mels from content (256 elements),
F0 and an x-vector (512); a harmonic-plus-noise NSF generates the waveform from mels, F0 and the
x-vector.
"""

from __future__ import annotations

import torch

from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.nsf import Nsf
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer


class AcousticNsf(TwoStageSynthesizer):
    """Synthesizer of B1.a: :class:`AcousticModel`, then :class:`Nsf`.

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        channels, blocks, convolutions: of the filters.
    """

    kind = "acoustic-nsf"

    def __init__(
        self,
        content: int = 256,
        speaker: int = 512,
        mels: int = 80,
        width: int = 512,
        rate: int = 16_000,
        hop: int = 160,
        channels: int = 64,
        blocks: int = 5,
        convolutions: int = 10,
    ) -> None:
        config = {
            "content": content,
            "speaker": speaker,
            "mels": mels,
            "width": width,
            "rate": rate,
            "hop": hop,
            "channels": channels,
            "blocks": blocks,
            "convolutions": convolutions,
        }
        super().__init__(AcousticModel(content, speaker, mels, width), config)
        self.vocoder = Nsf(mels, speaker, rate, hop, channels, blocks, convolutions)

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        return self.vocoder(mels, f0, speaker, seed)
