"""Synthesizers of two models: acoustic model to mel spectra, vocoder to a waveform."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

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


class TwoStageOfOptions(TwoStageSynthesizer):
    """Two-stage synthesizer whose vocoder is configured by options of its own.

    Args:
        content, speaker: elements.
        mels: between the two.
        width: of the acoustic model.
        rate: of the waveform, in Hz.
        hop: samples of a frame.
        vocoder: options of :attr:`vocoder_class`, without those above.

    Attributes:
        vocoder_class: network from mels, F0, speaker vector and seed to a waveform.
    """

    vocoder_class: ClassVar[type[torch.nn.Module]]

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
        self.vocoder = self.vocoder_class(mels, speaker, rate=rate, hop=hop, **options)

    def spoken(
        self, mels: torch.Tensor, f0: torch.Tensor, speaker: torch.Tensor, seed: torch.Tensor
    ) -> torch.Tensor:
        waveform: torch.Tensor = self.vocoder(mels, f0, speaker, seed)
        return waveform
