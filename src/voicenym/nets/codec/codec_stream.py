"""Streaming inference of the causal codec."""

from __future__ import annotations

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import Codec
from voicenym.nets.streaming import Memory


class CodecStream:
    """Streaming voice conversion with a causal codec.

    The output equals that of :meth:`voicenym.nets.codec.codec.Codec.convert`, up to rounding.

    The speaker vectors must be known beforehand, from earlier speech.

    Args:
        codec: causal, in evaluation mode.
        own: ``[row, size]`` of the speakers.
        voice: ``[row, size]`` of the target voices.

    Attributes:
        latency: largest number of samples held back.

    Raises:
        VoicenymError: vectors of another size, or a codec that looks ahead.
    """

    def __init__(self, codec: Codec, own: torch.Tensor, voice: torch.Tensor) -> None:
        if not codec.sizes.causal:
            raise VoicenymError(
                "this codec looks ahead and does not stream; train one with codec: {causal: true}"
            )
        self.latency = codec.hop - 1 + codec.ahead
        self._codec = codec
        self._memory = Memory()
        self._waiting = own.new_zeros(len(own), 0)
        self._remaining = 0
        self.set_voices(own, voice)

    @property
    def own(self) -> torch.Tensor:
        """Speaker vectors ``[row, size]``."""
        return self._own[:, :, 0]

    def set_voices(self, own: torch.Tensor, voice: torch.Tensor) -> None:
        """Sets the vectors used from the next frame on.

        Args:
            own, voice: as of the constructor.

        Raises:
            VoicenymError: vectors of another size.
        """
        self._codec.check(own, voice)
        self._own, self._voice = own[:, :, None], voice[:, :, None]

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``, of any length; returns the finished samples."""
        samples = torch.cat([self._waiting, block], dim=1)
        ready = samples.shape[1] // self._codec.hop * self._codec.hop
        self._waiting = samples[:, ready:].clone()
        made = self._step(samples[:, :ready]) if ready else samples[:, :0]
        self._remaining += block.shape[1] - made.shape[1]
        return made

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples, in total as many as were pushed; the stream ends here."""
        remaining, self._remaining = self._remaining, 0
        if not remaining:
            return self._waiting
        self._memory.last = True
        missing = -self._waiting.shape[1] % self._codec.hop
        padded = torch.nn.functional.pad(self._waiting, (0, missing))
        self._waiting = self._waiting[:, :0]
        return self._step(padded)[:, :remaining]

    def _step(self, frames: torch.Tensor) -> torch.Tensor:
        codec, memory = self._codec, self._memory
        x = codec.encoder(frames, memory) - self._own
        return codec.decoder(codec.quantizer(x).total + self._voice, memory)
