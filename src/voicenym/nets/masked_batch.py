"""Batches of unequal lengths: masks, padding, and batch normalisation without padding.

A batch is padded with zeros at its end. Layers with context must find zeros there, as after the end
of a single recording; statistics must exclude them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def valid(lengths: torch.Tensor, most: int) -> torch.Tensor:
    """Mask ``[batch, most]``, true within each length.

    Args:
        lengths: ``[batch]`` of whole numbers, none above ``most``.
        most: length of the padded axis.

    >>> valid(torch.tensor([1, 3]), 3).int().tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    return torch.arange(most, device=lengths.device) < lengths[:, None]


def padded(signals: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Signals ``[time]`` as a zero-padded batch ``[batch, longest]``, and their lengths."""
    lengths = torch.tensor([len(signal) for signal in signals])
    return torch.nn.utils.rnn.pad_sequence(list(signals), batch_first=True), lengths


class MaskedBatchNorm(torch.nn.BatchNorm1d):
    """Batch normalisation whose statistics exclude the padding.

    Ioffe and Szegedy (2015). Names of weights are those of ``torch.nn.BatchNorm1d`` (and 2d).
    """

    def forward(  # type: ignore[override]
        self, x: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """Normalises the last axis; padding becomes zeros.

        Args:
            x: ``[batch, time, ..., channel]``.
            mask: ``[batch, time]``, true for valid frames.
        """
        if self.training:
            known = x[mask]
            flat = super().forward(known.reshape(-1, x.shape[-1])).reshape(known.shape)
            return torch.zeros_like(x, dtype=flat.dtype).masked_scatter(_wide(mask, x), flat)
        return super().forward(x.reshape(-1, x.shape[-1])).reshape(x.shape) * _wide(mask, x)


def _wide(mask: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A mask ``[batch, time]`` that broadcasts over the other axes of ``x``."""
    return mask.reshape(*mask.shape, *[1] * (x.ndim - 2))
