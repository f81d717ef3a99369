"""Vectors of word codes of one live stream, chunk by chunk (:class:`LiveWordCodes`)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn.functional import gelu, pad

from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import EVERY, HOP, LEAST, STATE, Encoder, Layer
from voicenym.nets.words.word_codes.live_word_codes import (
    HALF,
    LiveWordCodes,
    floored,
    mel_spectra,
)

EDGE = EVERY
"""Spectral frames before a chunk that its convolutions read."""


class ChunkVectors(NamedTuple):
    """Vectors of a chunk.

    Args:
        own: ``[code, element]``, of the chunk.
        ahead: ``[code, element]``, of the states after it, as far as they are known so far.
    """

    own: torch.Tensor
    ahead: torch.Tensor


class LiveCodeStream:
    """Computes the vectors of a stream's chunks, in their order.

    Args:
        network: the changes.
        encoder, head: with them (:class:`voicenym.nets.weights.low_rank.LowRankChanges`).
        ahead: states that are read after a chunk; by default those of the network.
        chunk: states that are computed at a time; by default those of the network.

    Attributes:
        before: samples before a chunk that :meth:`step` reads.
        chunk: samples of a chunk.
        ahead: samples after it.
    """

    def __init__(
        self,
        network: LiveWordCodes,
        encoder: Encoder,
        head: WordCodeEncoder,
        ahead: int | None = None,
        chunk: int | None = None,
    ) -> None:
        self._network, self._encoder, self._head = network, encoder, head
        own = network.sizes
        self.before = HALF + EDGE * HOP
        self._after = own.ahead if ahead is None else ahead
        self._chunk = own.chunk if chunk is None else chunk
        self.chunk, self.ahead = self._chunk * STATE, self._after * STATE + HALF
        self._next = 0
        self._loudest = encoder.window.new_full((1,), torch.log10(torch.tensor(LEAST)).item())
        self._seen: list[tuple[torch.Tensor, torch.Tensor] | None] = [None] * len(encoder.layers)
        self._left = encoder.window.new_zeros(1, own.left, network.whisper.width)

    @torch.inference_mode()
    def step(self, samples: torch.Tensor, last: bool = False) -> ChunkVectors:
        """Vectors of the next chunk.

        Args:
            samples: ``[time]``: :attr:`before` samples before the chunk, but none before the
                stream begins; the chunk; and :attr:`ahead` samples after it. Where the stream
                ends, whole states after it, with ``last``.
            last: whether ``samples`` end with the stream.
        """
        own = self._network.sizes
        x = self._convolved(samples, last)
        places = (torch.arange(x.shape[1], device=x.device) + self._next) % own.period
        x = x + self._encoder.positions[places]
        for at, layer in enumerate(self._encoder.layers):
            x = self._attended(x, at, layer)  # type: ignore[arg-type]
        x = self._encoder.norm(x)
        after = x.shape[1] - self._chunk
        read = torch.cat([self._left, pad(x, (0, 0, 0, self._after - after))], 1)
        every = self._network.every
        start, end = own.left // every, (own.left + self._chunk) // every
        known = slice(start, end + after // every)
        vectors = self._head.encoded_codes(read, known)[0]
        self._left = torch.cat([self._left, x[:, : self._chunk]], 1)[:, -own.left :]
        self._next += self._chunk
        return ChunkVectors(vectors[: end - start], vectors[end - start :])

    def _convolved(self, samples: torch.Tensor, last: bool) -> torch.Tensor:
        """States before the layers ``[1, state, width]`` of the chunk and what is after it."""
        first = self._next == 0
        # zeros for spectra outside of the stream, as in a whole recording
        samples = pad(samples, (HALF if first else 0, HALF if last else 0))
        mel = mel_spectra(self._encoder, samples[None])
        mel = mel[..., :-1] if last else mel  # the frame at the end is of no state
        loudest = torch.maximum(mel.amax(1).cummax(1).values, self._loudest)
        kept = self._chunk * EVERY - (EDGE if first else 0)
        self._loudest = loudest[:, kept - 1]
        mel = floored(mel, loudest)
        one, two = self._encoder.conv1, self._encoder.conv2
        x = torch.nn.functional.conv1d(pad(mel, (int(first), int(last))), one.weight, one.bias)
        x = torch.nn.functional.conv1d(
            pad(gelu(x), (int(first), 0)), two.weight, two.bias, stride=EVERY
        )
        return gelu(x).transpose(1, 2)

    def _attended(self, x: torch.Tensor, at: int, layer: Layer) -> torch.Tensor:
        """``[1, state, width]`` after a layer, which keeps keys and values of the chunk."""
        own = self._network.sizes
        y = layer.attention_norm(x)
        known = layer.attention.keys_values(y)
        before = self._seen[at]
        if before is not None:
            known = (torch.cat([before[0], known[0]], 2), torch.cat([before[1], known[1]], 2))
        end = known[0].shape[2] - x.shape[1] + self._chunk
        keep = slice(max(0, end - own.past), end)
        self._seen[at] = (known[0][:, :, keep], known[1][:, :, keep])
        x = x + layer.attention(y, known)
        return x + layer.narrow(gelu(layer.widen(layer.norm(x))))
