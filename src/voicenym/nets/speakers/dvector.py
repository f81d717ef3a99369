"""d-vector encoder: an LSTM over mel frames, trained with the generalized end-to-end loss.

Wan, Wang, Papir, Lopez Moreno, "Generalized end-to-end loss for speaker verification", ICASSP 2018,
arXiv 1710.10467, in the form in which Resemblyzer publishes its weights: 40 mels of power (no
logarithm) in frames of 25 ms every 10 ms, three layers of 256, a rectified projection to 256.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.features.fbank import frames_of
from voicenym.dsp.features.mel import MelSpectrum
from voicenym.nets.checkpoint import fill
from voicenym.nets.speakers.speaker_encoder import RATE, Encoder

HOP = 160
WINDOW = 400
MELS = 40
SIZE = 256
LAYERS = 3
LOUDNESS_DB = -30.0
"""Level to which recordings are normalised."""
PART_FRAMES = 160
"""Length of a partial window, 1.6 s."""
PARTS_PER_SECOND = 1.3
LEAST_COVERAGE = 0.75
"""Least share of the last window within the recording; otherwise it is dropped."""
PARTS_AT_ONCE = 256


def part_starts(frames: int) -> list[int]:
    """Start frames of the partial windows of a recording of so many frames."""
    step = round(RATE / PARTS_PER_SECOND / HOP)
    starts = list(range(0, max(1, frames - PART_FRAMES + step + 1), step))
    covered = frames - 1 - starts[-1]
    if len(starts) > 1 and covered < LEAST_COVERAGE * PART_FRAMES:
        starts.pop()
    return starts


class DVector(Encoder):
    """d-vector encoder: non-negative vectors of 256 elements and length one."""

    kind = "dvector"
    size = SIZE
    least_samples = 1
    most_samples = sys.maxsize  # it encodes partial windows anyway

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(MELS, SIZE, LAYERS, batch_first=True)
        self.linear = torch.nn.Linear(SIZE, SIZE)
        self.mel = MelSpectrum(RATE, WINDOW, HOP, MELS)

    @classmethod
    def from_published(cls, state: Mapping[str, torch.Tensor], source: Path | str) -> DVector:
        """Encoder with weights in Resemblyzer's layout: ``lstm.*`` and ``linear.*``.

        Raises:
            VoicenymError: other weights; the first key that differs is named.
        """
        model = cls()
        wanted = {name: state[name] for name in model.state_dict() if name in state}
        fill(model, wanted, source)
        return model.eval()

    def config(self) -> dict[str, Any]:
        return {}

    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Mel power spectra ``[batch, frame, 40]``, level-normalised, of ``[batch, time]``."""
        count = waveforms.shape[1] if lengths is None else lengths[:, None].to(waveforms)
        level = (waveforms.square().sum(1, keepdim=True) / count).sqrt().clamp_min(1e-9)
        return self.mel(waveforms * (10.0 ** (LOUDNESS_DB / 20.0) / level))

    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Vectors ``[batch, 256]`` of mel frames ``[batch, frame, 40]``: means over partial
        windows.

        The last window may reach beyond a row's frames, into the frames that follow them and zero
        padding.
        """
        frames = [features.shape[1]] * len(features) if lengths is None else lengths.tolist()
        starts = [part_starts(int(some)) for some in frames]
        missing = max(some[-1] for some in starts) + PART_FRAMES - features.shape[1]
        padded = torch.nn.functional.pad(features, (0, 0, 0, max(0, missing)))
        parts = torch.stack(
            [
                row[start : start + PART_FRAMES]
                for row, some in zip(padded, starts, strict=True)
                for start in some
            ]
        )
        vectors = torch.cat([self._of_parts(some) for some in parts.split(PARTS_AT_ONCE)])
        means = [some.mean(0) for some in vectors.split([len(some) for some in starts])]
        return torch.nn.functional.normalize(torch.stack(means), dim=1, eps=1e-9)

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is None:
            lengths = torch.full((len(waveforms),), waveforms.shape[1], device=waveforms.device)
        frames = frames_of(lengths)
        end = part_starts(int(frames.max()))[-1] + PART_FRAMES
        missing = max(0, end * HOP - waveforms.shape[1])
        padded = torch.nn.functional.pad(waveforms, (0, missing))
        return self.encode(self.features(padded, lengths), frames)

    def _of_parts(self, mels: torch.Tensor) -> torch.Tensor:
        """Vectors ``[part, 256]`` of windows ``[part, 160, 40]``."""
        _, (hidden, _) = self.lstm(mels)
        vector = torch.relu(self.linear(hidden[-1]))
        return torch.nn.functional.normalize(vector, dim=1, eps=1e-9)
