"""Audio: samples, their sample rate, and the format to write them in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voicenym.errors import counted

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Format:
    """Storage format of a recording; nothing here describes who or what was recorded.

    Args:
        container: a name in ``voicenym.audio.container_files.containers.CONTAINERS``, or of a kind
            that is read only, as libav's demuxer is called: ``amr``, ``asf`` ...
        codec: name of the encoder's coding: ``pcm_u8``, ``pcm_s16le``, ``pcm_s24le``,
            ``pcm_s32le``, ``pcm_f32le``, ``pcm_f64le``, ``flac``, ``vorbis``, ``opus``, ``mp3``,
            ``aac`` ...
        bits: bits per sample where the codec is lossless and has a choice (flac), else ``None``.
        bit_rate: bits per second of a lossy codec, ``None`` where unknown or lossless.
    """

    container: str
    codec: str
    bits: int | None = None
    bit_rate: int | None = None


@dataclass(frozen=True, eq=False)
class Audio:
    """A recording in memory; two are equal if samples, rate and format are.

    Args:
        samples: float32 in [-1, 1], ``[time]`` or ``[channel, time]``.
        rate: samples per second, in Hz.
        format: of its storage, which :func:`voicenym.write` reproduces.
    """

    samples: torch.Tensor
    rate: int
    format: Format | None = None

    @property
    def channels(self) -> int:
        return 1 if self.samples.ndim == 1 else int(self.samples.shape[0])

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.samples.shape[-1] / self.rate

    def __eq__(self, other: object) -> bool:
        import torch

        if self is other:
            return True
        if not isinstance(other, Audio):
            return NotImplemented
        alike = (self.rate, self.format, self.samples.dtype, self.samples.device) == (
            other.rate, other.format, other.samples.dtype, other.samples.device,
        )  # fmt: skip
        return alike and torch.equal(self.samples, other.samples)

    def __hash__(self) -> int:
        return hash((self.samples.shape, self.rate, self.format))

    def __repr__(self) -> str:
        channels = counted(self.channels, "channel")
        return f"Audio({self.duration:.3f} s, {self.rate} Hz, {channels})"
