"""Two-stage synthesizer of baseline B1.a: acoustic model to mel spectra, NSF vocoder to a waveform.

Fang et al., "Speaker anonymization using x-vector and neural waveform models", SSW 2019, and the
VoicePrivacy 2020 evaluation plan: an acoustic model predicts 80 mels from content (256 elements),
F0 and an x-vector (512); a harmonic-plus-noise NSF generates the waveform from mels, F0 and the
x-vector.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.nsf import Nsf
from voicenym.nets.synthesis.synthesizer import Synthesizer


class AcousticNsf(Synthesizer):
    """Synthesizer of B1.a: :class:`AcousticModel`, then :class:`Nsf`. It does not stream.

    Both are conditioned on the speaker; of ``[batch, 2, element]``, the acoustic model takes the
    first vector and the vocoder the second (the challenge's M1c3 and M1c4).

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        channels, blocks, convolutions: of the filters.
    """

    kind = "acoustic-nsf"
    noisy = True
    streams = False
    parts = ("acoustic", "vocoder")

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
        super().__init__()
        self._config = {
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
        self.rate, self.hop = rate, hop
        self.acoustic = AcousticModel(content, speaker, mels, width)
        self.vocoder = Nsf(mels, speaker, rate, hop, channels, blocks, convolutions)

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        assert memory is None, "does not stream"
        first, second = speaker.unbind(1) if speaker.ndim == 3 else (speaker, speaker)
        return self.vocoder(self.acoustic(content, f0, first), f0, second, seed)
