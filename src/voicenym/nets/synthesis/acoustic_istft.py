"""Two-stage synthesizer: the acoustic model of baseline B1.a, then an inverse-STFT vocoder.

The structure is that of :class:`~voicenym.nets.synthesis.acoustic_nsf.AcousticNsf`. The vocoder is
a source-filter model too, of pulses and noise, but its network runs once a frame instead of once a
sample (:class:`~voicenym.nets.synthesis.istft_vocoder.IstftVocoder`): a small one is trained in
minutes, where an NSF needs many hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer


class AcousticIstft(TwoStageSynthesizer):
    """:class:`AcousticModel`, then :class:`IstftVocoder`, both conditioned on the speaker.

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        vocoder: options of :class:`IstftVocoder`, without those above.
    """

    kind = "acoustic-istft"

    def __init__(
        self,
        content: int = 256,
        speaker: int = 512,
        mels: int = 80,
        width: int = 512,
        rate: int = 16_000,
        hop: int = 160,
        vocoder: Mapping[str, Any] | None = None,
    ) -> None:
        options = dict(vocoder or {})
        config = {
            "content": content,
            "speaker": speaker,
            "mels": mels,
            "width": width,
            "rate": rate,
            "hop": hop,
            "vocoder": options,
        }
        super().__init__(AcousticModel(content, speaker, mels, width), config)
        self.vocoder = IstftVocoder(mels, speaker, hop=hop, rate=rate, **options)

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        return self.vocoder(self.acoustic.standardize(mels), f0, speaker, seed)
