"""Synthesizers of two models: acoustic model to mel spectra, vocoder to a waveform."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.synthesizer import Synthesizer


class TwoStageSynthesizer(Synthesizer):
    """Acoustic model and vocoder, both conditioned on the speaker; it does not stream.

    Of speaker vectors ``[batch, 2, element]``, the acoustic model takes the first and the vocoder
    the second (the challenge's M1c3 and M1c4).

    Args:
        acoustic: the first model.
        config: arguments of the subclass, among them ``rate``, in Hz, and ``hop``, in samples.

    Attributes:
        acoustic: the first model, whose output connects the two.
    """

    noisy = True
    streams = False
    parts = ("acoustic", "vocoder")

    def __init__(self, acoustic: AcousticModel, config: dict[str, Any]) -> None:
        super().__init__()
        self._config = config
        self.rate, self.hop = int(config["rate"]), int(config["hop"])
        self.acoustic = acoustic

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

    @abstractmethod
    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]`` of log mels ``[batch, frame, mel]`` by the vocoder.

        Args:
            mels: as of :class:`AcousticModel`.
            f0: ``[batch, frame]`` in Hz, 0 where unvoiced.
            speaker: ``[batch, element]``.
            seed: ``[batch]`` int64, of the noise.
        """
