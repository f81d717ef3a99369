"""Two-stage synthesizer of baseline B1.a at a laptop's size: acoustic model, then a folded NSF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.folded_nsf import FoldedNsf
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer


class AcousticFoldedNsf(TwoStageSynthesizer):
    """:class:`AcousticModel`, then :class:`FoldedNsf`, both conditioned on the speaker.

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        vocoder: options of :class:`FoldedNsf`, without those above.
    """

    kind = "acoustic-nsf-folded"

    def __init__(
        self,
        content: int = 256,
        speaker: int = 512,
        mels: int = 80,
        width: int = 192,
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
        self.vocoder = FoldedNsf(mels, speaker, rate, hop, **options)

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        return self.vocoder(mels, f0, speaker, seed)
