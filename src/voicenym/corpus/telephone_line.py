"""Telephone line as a transform step that all recordings of an evaluation pass, also originals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicenym.audio import telephone_codecs
from voicenym.corpus.recording import RATE, Recording
from voicenym.errors import VoicenymError


@dataclass(frozen=True)
class TelephoneLine:
    """Resamples to 8 kHz, encodes and decodes by a telephone codec, and resamples to 16 kHz.

    The band above 4 kHz is lost. Handsets, which cut below 300 Hz, and packet loss are not
    simulated: a real line transmits less.

    Args:
        codec: name in :data:`voicenym.audio.telephone_codecs.CODECS`.

    Raises:
        VoicenymError: there is no such codec.
    """

    codec: str

    def __post_init__(self) -> None:
        if self.codec not in telephone_codecs.CODECS:
            raise VoicenymError(
                f"--line {self.codec}: no such line; there are: "
                + ", ".join(telephone_codecs.CODECS)
            )

    @property
    def title(self) -> str:
        """The codec's name in reports."""
        return telephone_codecs.CODECS[self.codec][0]

    @property
    def description(self) -> str:
        return f"line {self.codec}"

    def identity(self, recording: Recording) -> str:
        return f"line {self.codec}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        import soxr

        narrow = soxr.resample(samples, RATE, telephone_codecs.RATE)
        coded = telephone_codecs.CODECS[self.codec][1](narrow)
        wide = soxr.resample(coded, telephone_codecs.RATE, RATE)
        found = np.zeros(len(samples), dtype=np.float32)
        kept = min(len(samples), len(wide))
        found[:kept] = np.clip(wide[:kept], -1.0, 1.0)
        return found
