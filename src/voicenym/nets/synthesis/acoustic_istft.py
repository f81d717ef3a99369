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

from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.synthesizer import Synthesizer


class AcousticIstft(Synthesizer):
    """Acoustic model to log mels, and a vocoder from them. It does not stream.

    Both are conditioned on the speaker; of ``[batch, 2, element]``, the acoustic model takes the
    first vector and the vocoder the second (the challenge's M1c3 and M1c4).

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        vocoder: options of :class:`IstftVocoder`, without those above.
    """

    kind = "acoustic-istft"
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
        vocoder: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        options = dict(vocoder or {})
        self._config = {
            "content": content,
            "speaker": speaker,
            "mels": mels,
            "width": width,
            "rate": rate,
            "hop": hop,
            "vocoder": options,
        }
        self.rate, self.hop = rate, hop
        self.acoustic = AcousticModel(content, speaker, mels, width)
        self.vocoder = IstftVocoder(mels, speaker, hop=hop, rate=rate, **options)

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
        return self.spoken(self.acoustic(content, f0, first), f0, second, seed)

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]`` of log mels ``[batch, frame, mel]`` by the vocoder."""
        return self.vocoder(self.acoustic.standardize(mels), f0, speaker, seed)
