"""Mean spectral envelopes of speakers: the average one, and the spread between people."""

from __future__ import annotations

import math

import torch

REFERENCE_RATE = 16_000
# Mean and standard deviation over 376 training speakers of the speakers' mean envelope (natural
# log, as cepstrum at 16 kHz, without c_0): the average recording, and the spread between people.
MEAN_CEPSTRUM = (
    0.809, 0.143, 0.136, 0.123, 0.116, 0.048, 0.057, 0.008, 0.017, -0.007, 0.004, -0.018,
)  # fmt: skip
SPREAD_CEPSTRUM = (
    0.227, 0.152, 0.110, 0.082, 0.085, 0.068, 0.060, 0.071, 0.045, 0.048, 0.034, 0.042,
)  # fmt: skip


def around_average(deviations: torch.Tensor, share: float) -> torch.Tensor:
    """Mean cepstra ``[row, coefficient]`` at a share of ``deviations``, which are in standard
    deviations of real speakers and limited to two of them.
    """
    spread = share * torch.tensor(SPREAD_CEPSTRUM)
    return torch.tensor(MEAN_CEPSTRUM) + spread * deviations.clamp(-2.0, 2.0)


def reference_envelope(cepstrum: torch.Tensor, bins: int, rate: int) -> torch.Tensor:
    """Log envelopes ``[row, bin]`` up to half of ``rate`` from cepstra ``[row, coefficient]`` (c_1
    ...) at 16 kHz.
    """
    omega = torch.linspace(0.0, math.pi * rate / REFERENCE_RATE, bins)
    order = torch.arange(1, cepstrum.shape[1] + 1)
    return 2.0 * cepstrum @ torch.cos(order[:, None] * omega)
