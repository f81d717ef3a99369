"""Content encoder of word codes: Whisper's encoder and the bottleneck that quantises its states.

A frame is the codebook vector of a word code (:mod:`voicenym.nets.content.word_codes`), so that a
synthesizer gets what Whisper's decoder needs to know the words, at about 215 bits a second, and
nothing else of the recording.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from voicenym.nets.architectures import sizes
from voicenym.nets.content.content_encoder import RATE, Content
from voicenym.nets.content.word_codes import WordCodes
from voicenym.nets.words.whisper import STATE, Encoder, Whisper, WhisperSizes


class WordCodeContent(Content):
    """Codebook vectors of word codes, 25 a second by default.

    Args:
        whisper: options of :class:`~voicenym.nets.words.whisper.WhisperSizes`.
        codes: options of :class:`~voicenym.nets.content.word_codes.WordCodes`.

    Raises:
        ValueError: sizes that do not fit each other.
    """

    kind = "word-codes"

    def __init__(
        self, whisper: Mapping[str, Any] | None = None, codes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self._sizes = sizes(WhisperSizes, whisper or {}, "whisper", "a Whisper")
        self.encoder = Encoder(self._sizes)
        self.codes = WordCodes(**(codes or {}))
        own = self.codes.sizes
        if own.states != self._sizes.width or own.window != self._sizes.states:
            raise ValueError(
                f"codes of {own.states} elements in windows of {own.window}, and a Whisper of "
                f"{self._sizes.width} in windows of {self._sizes.states}"
            )
        self.size = own.code
        self.hop = own.every * STATE
        # attention is over the whole window, beyond which Whisper has no positions
        self.most_samples = self._sizes.states * STATE // self.hop * self.hop
        self.context = min(3 * RATE, self.most_samples // 4) // self.hop * self.hop

    @classmethod
    def of(cls, whisper: Whisper, codes: WordCodes) -> WordCodeContent:
        """The encoder of a trained bottleneck, with copies of the weights of both."""
        made = cls(dataclasses.asdict(whisper.sizes), codes.config())
        made.encoder.load_state_dict(whisper.encoder.state_dict())
        made.codes.load_state_dict(codes.state_dict())
        return made.eval()

    def config(self) -> dict[str, Any]:
        return {"whisper": dataclasses.asdict(self._sizes), "codes": self.codes.config()}

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if waveforms.shape[1] > self.most_samples:
            raise ValueError(
                f"{waveforms.shape[1]} samples are longer than a window of {self.most_samples}"
            )
        if lengths is None:
            lengths = torch.full((len(waveforms),), waveforms.shape[1], device=waveforms.device)
        states = self.encoder(self.encoder.spectra(waveforms))[:, : waveforms.shape[1] // STATE]
        vectors = self.codes.encoded(states, lengths // STATE)
        quantised = self.codes.quantizer(vectors.transpose(1, 2)).total
        return quantised.transpose(1, 2)  # type: ignore[no-any-return]
