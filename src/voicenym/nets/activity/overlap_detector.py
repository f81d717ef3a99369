"""A convolutional detector of overlapped speech: frames in which at least two people speak.

Dilated convolutions over log power spectra up to 4 kHz, whose resolution shows the harmonics of two
voices. Trained on mixtures of two recordings
(``benchmarks/studies/diarization/train_overlap_detector.py``).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.nets.architectures import Kinds, Network

BUNDLED = Path(__file__).parent / "bundled" / "overlap-small"
RATE = 16_000
WINDOW, HOP = 512, 160
"""Of the short-time Fourier transform, in samples."""
BINS = 128
"""Lowest bins of the transform that are used: up to 4 kHz."""
STRIDE = 2
FRAME = HOP * STRIDE
"""Samples of a frame of the output: 20 ms."""
DILATIONS = (1, 2, 4, 8, 1, 2, 4, 8)
CHUNK_SECONDS, MARGIN_SECONDS = 8.0, 1.0
"""Length of the chunks of a recording, and of their ends that other chunks give."""
FLOOR = 1e-8


class OverlapDetector(Network):
    """Waveforms at 16 kHz to logits of overlap, one for each 20 ms.

    Args:
        width: channels of the layers.
    """

    kind = "overlap"
    window: torch.Tensor

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.width = width
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        self.first = torch.nn.Conv1d(BINS, width, 5, STRIDE, 2)
        self.blocks = torch.nn.ModuleList(
            torch.nn.Sequential(
                torch.nn.GroupNorm(1, width),
                torch.nn.ReLU(),
                torch.nn.Conv1d(width, width, 3, padding=d, dilation=d),
            )
            for d in DILATIONS
        )
        self.last = torch.nn.Conv1d(width, 1, 1)

    def config(self) -> dict[str, Any]:
        return {"width": self.width}

    def forward(self, waveforms: torch.Tensor) -> torch.Tensor:
        """Logits ``[batch, 1 + time / 320]`` of ``[batch, time]``, a few seconds each."""
        spectrum = torch.stft(
            waveforms, WINDOW, HOP, window=self.window, pad_mode="constant", return_complex=True
        )
        power = (spectrum[:, :BINS].abs().square() + FLOOR).log()
        hidden = self.first(power - power.mean(2, keepdim=True))
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.last(hidden)[:, 0]


KINDS: Kinds[OverlapDetector] = Kinds(
    "overlap detector", {"overlap": "voicenym.nets.activity.overlap_detector:OverlapDetector"}
)


class OverlapProbabilities:
    """Probabilities of overlap of a signal that arrives in blocks.

    Args:
        network: in evaluation mode; by default the bundled one.
    """

    def __init__(self, network: OverlapDetector | None = None) -> None:
        self._network = bundled() if network is None else network
        self._size, self._margin = round(CHUNK_SECONDS * RATE), round(MARGIN_SECONDS * RATE)
        self._kept = torch.zeros(0)
        self._first = True
        # one buffer: small tensors between large freed ones keep the heap from being reused
        self._found = bytearray()

    def push(self, block: torch.Tensor) -> None:
        """Adds ``[time]`` at 16 kHz."""
        self._kept = torch.cat([self._kept, block.detach().float().cpu()])
        while len(self._kept) >= self._size:
            found = self._probabilities(self._kept[: self._size])
            margin = self._margin // FRAME
            own = found[0 if self._first else margin : self._size // FRAME - margin]
            self._found += own.float().contiguous().numpy().tobytes()
            self._first = False
            self._kept = self._kept[self._size - 2 * self._margin :]

    def result(self) -> torch.Tensor:
        """``[frame]`` of 20 ms of the whole signal."""
        found = self._probabilities(self._kept) if len(self._kept) else torch.zeros(0)
        skipped = 0 if self._first else self._margin // FRAME
        before = torch.from_numpy(np.frombuffer(self._found, np.float32).copy())
        return torch.cat([before, found[skipped : -(-len(self._kept) // FRAME)]])

    @torch.inference_mode()
    def _probabilities(self, signal: torch.Tensor) -> torch.Tensor:
        return self._network(signal[None])[0].sigmoid()


@lru_cache(maxsize=1)
def bundled() -> OverlapDetector:
    """The bundled detector, in evaluation mode."""
    return KINDS.load(BUNDLED)
