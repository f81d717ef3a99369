"""Parts of time-delay networks: frames that count, and convolutions that keep them apart.

A batch pads shorter rows; the convolutions here reflect every row at its own end, so that a row's
frames are those that it would have alone. Names of parameters are those of SpeechBrain's
checkpoints (``conv.weight``, ``norm.running_mean``).
"""

from __future__ import annotations

import torch

LEAST_VARIANCE = 1e-12


class Valid:
    """Which frames of a batch count.

    Args:
        lengths: ``[batch]`` in frames; None where all are whole.
        like: ``[batch, ..., frame]``, for the shape, type and place.

    Attributes:
        weights: ``[batch, 1, frame]``, equal over the frames that count, with sum one.
        past: ``[batch, 1, frame]``, true where a frame does not count; None where all do.
    """

    def __init__(self, lengths: torch.Tensor | None, like: torch.Tensor) -> None:
        batch, frames = like.shape[0], like.shape[-1]
        self.lengths = lengths
        self.past: torch.Tensor | None = None
        if lengths is None:
            self.weights = like.new_full((batch, 1, frames), 1.0 / frames)
        else:
            self.past = (torch.arange(frames, device=like.device) >= lengths[:, None])[:, None]
            self.weights = (~self.past).to(like) / lengths[:, None, None]

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """``[batch, channel, frame]`` to ``[batch, channel, 1]``."""
        if self.past is None:
            return values.mean(2, keepdim=True)
        return torch.matmul(values, self.weights.transpose(1, 2))

    def reflected(self, values: torch.Tensor, width: int) -> torch.Tensor:
        """Longer by a reflection of ``width`` frames at the start and at every row's own end.

        Args:
            values: ``[batch, channel, frame]``.
            width: less than the frames of the shortest row.
        """
        padded = torch.nn.functional.pad(values, (width, width), mode="reflect")
        if self.lengths is not None:
            rows = torch.arange(len(values), device=values.device)[:, None]
            steps = torch.arange(width, device=values.device)
            last = self.lengths[:, None] - 1
            mirrored = values.transpose(1, 2)[rows, last - 1 - steps]
            padded.transpose(1, 2)[rows, last + 1 + width + steps] = mirrored
        return padded


class Conv(torch.nn.Module):
    """A convolution over time that keeps the number of frames by reflection.

    Args:
        inputs, outputs: channels.
        kernel: odd, in frames.
        dilation: in frames.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.width = dilation * (kernel - 1) // 2
        self.conv = torch.nn.Conv1d(inputs, outputs, kernel, dilation=dilation)

    def forward(self, values: torch.Tensor, valid: Valid | None = None) -> torch.Tensor:
        """``[batch, inputs, frame]`` to ``[batch, outputs, frame]``.

        ``valid`` is needed where the kernel is greater than one.
        """
        if self.width:
            assert valid is not None
            values = valid.reflected(values, self.width)
        return self.conv(values)


class Norm(torch.nn.Module):
    """Batch normalisation of channels.

    In training, statistics are over all frames of the batch, those that do not count included:
    train on crops of one length.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.norm(values)


class Tdnn(torch.nn.Module):
    """Convolution, rectifier, batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv = Conv(inputs, outputs, kernel, dilation)
        self.norm = Norm(outputs)

    def forward(self, values: torch.Tensor, valid: Valid | None = None) -> torch.Tensor:
        return self.norm(torch.relu(self.conv(values, valid)))


def moments(values: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted mean and standard deviation over frames.

    Args:
        values: ``[batch, channel, frame]``.
        weights: ``[batch, channel or 1, frame]`` with sum one over frames.

    Returns:
        Each ``[batch, channel, 1]``.
    """
    mean = (weights * values).sum(2, keepdim=True)
    variance = (weights * (values - mean).square()).sum(2, keepdim=True)
    return mean, variance.clamp_min(LEAST_VARIANCE).sqrt()
