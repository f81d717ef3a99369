"""Silero's voice activity detector (Silero Team 2024, version 6, MIT licence) at 16 kHz.

A chunk of 32 ms, with 4 ms before it, becomes four magnitude spectra, which four convolutions
reduce to one vector; an LSTM over chunks and a linear layer give the probability of speech. Weights
are converted from the published ones; the bundled ones are stored in half precision.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.nets.architectures import Kinds, Network

BUNDLED = Path(__file__).parent / "bundled" / "silero"
"""The bundled detector; its origin and licence lie beside its weights."""
RATE = 16_000
CHUNK = 512
"""Samples of a chunk, for which there is one probability."""
BEFORE = 64
"""Samples before a chunk that are analysed with it."""
AFTER = 64
"""Samples at the end of a chunk that are mirrored behind it."""
LENGTH, HOP = 256, 128
"""Of the short-time Fourier transform, in samples."""
WIDTH = 128
MOST_CHUNKS = 1024
"""Most chunks that are analysed at once; the number is a power of two."""
LEAST_CHUNKS = 16
"""Fewer chunks are not analysed apart from others: the convolutions round them in another way."""

State = tuple[torch.Tensor, torch.Tensor]


class Silero(Network):
    """Waveforms at 16 kHz to probabilities of speech, one for each chunk of 32 ms."""

    kind = "silero"

    def __init__(self) -> None:
        super().__init__()
        bins = LENGTH // 2 + 1
        self.stft_conv = torch.nn.Conv1d(1, 2 * bins, LENGTH, HOP, bias=False)
        self.conv1 = torch.nn.Conv1d(bins, WIDTH, 3, 1, 1)
        self.conv2 = torch.nn.Conv1d(WIDTH, WIDTH // 2, 3, 2, 1)
        self.conv3 = torch.nn.Conv1d(WIDTH // 2, WIDTH // 2, 3, 2, 1)
        self.conv4 = torch.nn.Conv1d(WIDTH // 2, WIDTH, 3, 1, 1)
        self.lstm = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.final_conv = torch.nn.Conv1d(WIDTH, 1, 1)

    def config(self) -> dict[str, Any]:
        return {}

    def forward(
        self, chunks: torch.Tensor, state: State | None = None
    ) -> tuple[torch.Tensor, State]:
        """Probabilities of consecutive chunks.

        Args:
            chunks: ``[chunk, BEFORE + CHUNK]``.
            state: of the LSTM after earlier chunks of the signal.

        Returns:
            ``[chunk]`` probabilities, and the state after them.
        """
        bins = LENGTH // 2 + 1
        signal = torch.nn.functional.pad(chunks[:, None], (0, AFTER), "reflect")
        spectrum = self.stft_conv(signal)
        hidden = (spectrum[:, :bins].square() + spectrum[:, bins:].square()).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            hidden = layer(hidden).relu()
        vectors, state = self.lstm(hidden.squeeze(-1)[None], state)
        found = self.final_conv(vectors[0].relu()[..., None]).sigmoid()
        return found[:, 0, 0], state


KINDS: Kinds[Silero] = Kinds(
    "voice activity detector", {"silero": "voicenym.nets.activity.silero:Silero"}
)


class SpeechProbabilities:
    """Probabilities of speech of a signal that arrives in blocks.

    Args:
        network: in evaluation mode; by default the bundled one.

    Example:
        >>> detector = SpeechProbabilities()
        >>> detector.push(torch.zeros(16_000))
        >>> len(detector.result()), bool((detector.result() < 0.1).all())
        (32, True)
    """

    def __init__(self, network: Silero | None = None) -> None:
        self._network = bundled() if network is None else network
        self._rest = torch.zeros(BEFORE)
        self._state: State | None = None
        # one buffer: small tensors between large freed ones keep the heap from being reused
        self._found = bytearray()
        self._ended = False

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> None:
        """Adds ``[time]`` at 16 kHz."""
        signal = torch.cat([self._rest, block.detach().float().cpu()])
        whole = (len(signal) - BEFORE) // CHUNK
        first = 0
        while first < whole:
            last = first + _at_once(whole - first)
            part = signal[first * CHUNK : last * CHUNK + BEFORE]
            chunks = part.unfold(0, BEFORE + CHUNK, CHUNK)
            probabilities, self._state = self._network(chunks, self._state)
            self._found += probabilities.float().contiguous().numpy().tobytes()
            first = last
        self._rest = signal[whole * CHUNK :].clone()

    def result(self) -> torch.Tensor:
        """``[chunk]`` of the whole signal; the last chunk is padded with zeros."""
        if not self._ended:
            self._ended = True
            left = len(self._rest) - BEFORE
            if left:
                self.push(torch.zeros(CHUNK - left))
        return torch.from_numpy(np.frombuffer(self._found, np.float32).copy())


def _at_once(left: int) -> int:
    """How many of the chunks that are left are analysed next.

    There are few such numbers, because oneDNN keeps primitives for each: blocks of many lengths, as
    the stretches of a long transcription, would need more and more memory. Probabilities are those
    of all chunks at once, but for 1e-7 in a few.
    """
    if left < 2 * LEAST_CHUNKS:
        return left
    size = min(MOST_CHUNKS, 1 << (left.bit_length() - 1))
    return size // 2 if 0 < left - size < LEAST_CHUNKS else size


@lru_cache(maxsize=1)
def bundled() -> Silero:
    """The bundled detector, in evaluation mode."""
    return KINDS.load(BUNDLED)
