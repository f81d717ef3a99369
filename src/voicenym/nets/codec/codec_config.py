"""Configuration of the codec: sizes of its networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voicenym.nets import architectures


@dataclass(frozen=True)
class CodecConfig:
    """Sizes of the codec; the defaults are those of the paper (section IV.B).

    Args:
        channels: of the first convolution; every block doubles them, up to the paper's 512.
        strides: of the blocks.
        size: elements of a frame, and of a speaker's vector.
        layers: of the LSTM.
        kernel: of both convolutions of a residual unit.
        compress: factor by which the channels between these are fewer (not in the paper; 2 is
            EnCodec's).
        codebooks, entries: of the quantiser.
        decay, least: see :class:`voicenym.nets.codec.quantizer.Codebook`.
        speaker: channels of the speaker encoder.
        causal: no frame looks at later samples, so that the codec streams.
        spectral: channels of the spectral encoder and decoder
            (:mod:`voicenym.nets.codec.spectral_coder`); 0 for the paper's waveform encoder and
            decoder, which alone use ``channels``, ``layers``, ``kernel`` and ``compress``. With
            ``causal`` the spectral ones look ahead by their windows and little more, and stream as
            well.
        blocks: of the spectral encoder, and of the decoder.

    Raises:
        ValueError: invalid sizes.
    """

    channels: int = 32
    strides: tuple[int, ...] = (2, 4, 5, 8)
    size: int = 512
    layers: int = 2
    kernel: int = 3
    compress: int = 2
    codebooks: int = 8
    entries: int = 1024
    decay: float = 0.99
    least: float = 2.0
    speaker: int = 128
    causal: bool = False
    spectral: int = 0
    blocks: int = 6

    def __post_init__(self) -> None:
        counts = (self.channels, self.size, self.compress, self.codebooks, self.entries)
        if not self.strides or min(*counts, *self.strides) < 1 or self.layers < 0:
            raise ValueError("sizes and strides are 1 at least, layers 0")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise ValueError(f"the kernel is odd, not {self.kernel}")
        if self.speaker < 2 or self.speaker % 2:
            raise ValueError(f"the speaker encoder's channels are even, not {self.speaker}")
        if min(self.spectral, self.blocks) < 0:
            raise ValueError("channels and blocks of spectral ends are 0 at least")


def sizes(options: Mapping[str, Any], where: str) -> CodecConfig:
    """Codec sizes from a configuration.

    Raises:
        VoicenymError: of which there is no codec.
    """
    return architectures.sizes(CodecConfig, options, where, "a codec")
