"""Log-mel filterbank energies with normalisation per recording, the input of recognisers."""

from __future__ import annotations

import torch

from voicenym.dsp.features.mel import MelSpectrum
from voicenym.nets.masked_batch import valid

RATE = 16_000
WINDOW, HOP = 400, 160
"""25 ms every 10 ms, in samples."""
FLOOR = 1e-7
"""Power added before the logarithm, about the noise of 16-bit samples."""
FLATTEST = 1e-3
"""Least deviation for the normalisation of a band; below it is digital silence."""


def mels(bands: int) -> MelSpectrum:
    """Mel spectrum used by :func:`normalised`."""
    return MelSpectrum(RATE, WINDOW, HOP, bands)


def normalised(
    mel: MelSpectrum, samples: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log mel frames with mean 0 and deviation 1 in each band and recording, zeros after its end.

    Args:
        mel: of :func:`mels`.
        samples: ``[batch, time]`` at 16 kHz, zeros behind each recording.
        lengths: ``[batch]`` in samples.

    Returns:
        ``[batch, frame, band]`` and frames ``[batch]``, of 10 ms.
    """
    with torch.autocast(samples.device.type, enabled=False):
        logs = torch.log(mel(samples) + FLOOR)
        frames = 1 + lengths.div(HOP, rounding_mode="floor")
        mask = valid(frames, logs.shape[1])[..., None]
        count = frames[:, None, None]
        centred = (logs - (logs * mask).sum(1, keepdim=True) / count) * mask
        power = centred.square().sum(1, keepdim=True) / count
        return centred / (power + FLATTEST**2).sqrt(), frames
