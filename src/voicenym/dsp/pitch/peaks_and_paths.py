"""Building blocks of pitch trackers: peak picking, median filter, gap filling, Viterbi search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

FRAMES_AT_ONCE = 2048


def best_path(local: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Viterbi search: candidates on the path of least cost.

    Args:
        local: costs ``[row, frame, candidate]``.
        change: costs ``[row, frame - 1, from, to]``.

    Returns:
        ``[row, frame]`` int64.
    """
    total = local[:, 0]
    came = []
    for k in range(1, local.shape[1]):
        best, origin = (total[:, :, None] + change[:, k - 1]).min(1)
        total = best + local[:, k]
        came.append(origin)
    path = [total.argmin(1)]
    for origin in reversed(came):
        path.append(origin.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1)


def median(track: torch.Tensor, width: int) -> torch.Tensor:
    """Running median of ``[row, frame]`` over ``width`` (odd) frames; the ends are repeated."""
    side = width // 2
    padded = torch.nn.functional.pad(track[:, None], (side, side), mode="replicate")[:, 0]
    return padded.unfold(1, width, 1).median(-1).values


def peaks(
    values: torch.Tensor, width: int, count: int, least: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Highest local maxima.

    Args:
        values: ``[..., place]``.
        width: places (odd) within which a peak is the highest.
        count: of peaks.
        least: broadcasts to ``values``; lower ones do not count.

    Returns:
        Places ``[..., count]`` with fractions by a parabola, and heights, ``-inf`` where there are
        fewer peaks.
    """
    flat = values.flatten(0, -2)[:, None]
    highest = torch.nn.functional.max_pool1d(flat, width, 1, padding=width // 2)
    inside = torch.zeros_like(values, dtype=torch.bool)
    inside[..., 1:-1] = True
    is_peak = (highest.view_as(values) == values) & inside & (values > least)
    height, place = torch.where(is_peak, values, -torch.inf).topk(count, -1)
    safe = place.clamp(1, values.shape[-1] - 2)
    left, middle, right = (values.gather(-1, safe + shift) for shift in (-1, 0, 1))
    curve = (left - 2.0 * middle + right).clamp_max(-1e-12)
    offset = (0.5 * (left - right) / curve).clamp(-0.5, 0.5)
    return safe + offset, height


def by_frames(function: Callable[..., tuple[torch.Tensor, ...]], *inputs: torch.Tensor) -> Any:
    """Applies a function of ``[row, frame, ...]`` to chunks of frames, in bounded memory."""
    size = max(1, FRAMES_AT_ONCE // max(1, len(inputs[0])))
    parts = [function(*some) for some in zip(*(x.split(size, 1) for x in inputs), strict=True)]
    return tuple(torch.cat(part, 1) for part in zip(*parts, strict=True))


def filled(track: torch.Tensor, known: torch.Tensor, outside: torch.Tensor) -> torch.Tensor:
    """Linear interpolation of ``[row, frame]`` between known frames; ``outside`` ``[row, 1]`` where
    the ends are not known.
    """
    ends = torch.zeros_like(known)
    ends[:, [0, -1]] = True
    track = torch.where(known, track, outside)
    known = known | ends
    count = track.shape[1]
    place = torch.arange(count, device=track.device)
    left = torch.where(known, place, -1).cummax(1).values
    right = torch.where(known, place, count).flip(1).cummin(1).values.flip(1)
    part = (place - left) / (right - left).clamp_min(1)
    return torch.lerp(track.gather(1, left), track.gather(1, right), part.to(track))
