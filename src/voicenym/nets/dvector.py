"""The d-vector encoder: an LSTM over mel frames, trained with the generalized end-to-end loss.

Wan, Wang, Papir, Lopez Moreno, "Generalized end-to-end loss for speaker verification", ICASSP 2018,
arXiv 1710.10467, in the form in which Resemblyzer publishes its weights: 40 mels of power (no
logarithm) in frames of 25 ms every 10 ms, three layers of 256, a rectified projection to 256.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from voicenym.dsp.mel import MelSpectrum

RATE = 16_000
HOP = 160
WINDOW = 400
MELS = 40
SIZE = 256
LAYERS = 3
LOUDNESS_DB = -30.0
"""Level that recordings are brought to before they are encoded."""
PART_FRAMES = 160
"""A recording is encoded in parts of 1.6 s, and their vectors are averaged."""
PARTS_PER_SECOND = 1.3
LEAST_COVERAGE = 0.75
"""A last part of which less lies within the recording is left out."""
PARTS_AT_ONCE = 256


def part_starts(samples: int) -> list[int]:
    """Where the parts of a recording begin, in frames."""
    frames = -(-(samples + 1) // HOP)
    step = round(RATE / PARTS_PER_SECOND / HOP)
    starts = list(range(0, max(1, frames - PART_FRAMES + step + 1), step))
    covered = samples / HOP - starts[-1]
    if len(starts) > 1 and covered < LEAST_COVERAGE * PART_FRAMES:
        starts.pop()
    return starts


class DVector(torch.nn.Module):
    """Speaker vectors of 256 elements, of length one, none negative."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(MELS, SIZE, LAYERS, batch_first=True)
        self.linear = torch.nn.Linear(SIZE, SIZE)
        self.mel = MelSpectrum(RATE, WINDOW, HOP, MELS)

    @classmethod
    def from_checkpoint(cls, path: Path) -> DVector:
        """Load weights in Resemblyzer's layout: ``model_state`` with ``lstm.*`` and ``linear.*``.

        Raises:
            KeyError, RuntimeError: if the file holds other weights.
        """
        state = torch.load(path, map_location="cpu", weights_only=True)["model_state"]
        model = cls()
        wanted = {name: state[name] for name in model.state_dict()}
        model.load_state_dict(wanted)
        return model.eval()

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        """``[part, frame, mel]`` to vectors ``[part, 256]``."""
        _, (hidden, _) = self.lstm(mels)
        vector = torch.relu(self.linear(hidden[-1]))
        return torch.nn.functional.normalize(vector, dim=1, eps=1e-9)

    def parts(self, recording: torch.Tensor) -> torch.Tensor:
        """Mel frames ``[part, 160, 40]`` of a recording ``[time]`` at 16 kHz, level normalised."""
        level = recording.square().mean().sqrt().clamp_min(1e-9)
        recording = recording * (10.0 ** (LOUDNESS_DB / 20.0) / level)
        starts = part_starts(len(recording))
        missing = (starts[-1] + PART_FRAMES) * HOP - len(recording)
        mels = self.mel(torch.nn.functional.pad(recording, (0, max(0, missing))))
        return torch.stack([mels[start : start + PART_FRAMES] for start in starts])

    @torch.inference_mode()
    def embed(self, recordings: Sequence[torch.Tensor]) -> torch.Tensor:
        """Vectors ``[recording, 256]`` of recordings ``[time]`` of any lengths at 16 kHz."""
        if not recordings:
            return torch.zeros(0, SIZE)
        parts = [self.parts(recording) for recording in recordings]
        vectors = torch.cat([self(some) for some in torch.cat(parts).split(PARTS_AT_ONCE)])
        means = [v.mean(0) for v in vectors.split([len(part) for part in parts])]
        return torch.nn.functional.normalize(torch.stack(means), dim=1, eps=1e-9)
