"""Conditioning features of a synthesizer: content and F0 per frame, and the speaker vector.

Anonymization and training compute them with the same functions, so that a synthesizer gets the same
features in both.
"""

from __future__ import annotations

import math

import torch

from voicenym.nets.content.content_encoder import RATE
from voicenym.resynthesis.bundled.analysis import VectorReader
from voicenym.resynthesis.common.averages import between
from voicenym.resynthesis.common.windows import Windows
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly


def windows_of(parts: Assembly, rows: int, device: str) -> Windows:
    """Segmentation of a signal for the modules of a pipeline."""
    content = parts.content
    whole = math.lcm(content.hop, parts.synthesizer.hop)
    context = -(-content.context // whole) * whole
    step = max(whole, (content.most_samples - 2 * context) // whole * whole)
    return Windows(rows, step, context, device)


def content_of(parts: Assembly, samples: torch.Tensor, before: int, kept: int) -> torch.Tensor:
    """Content features at the encoder's frame rate, ``[row, ceil(kept / content.hop), element]``.

    Args:
        parts: with the content encoder.
        samples: ``[row, time]``.
        before: samples at the beginning, a multiple of the frame, that are context.
        kept: samples after them whose frames are wanted.
    """
    found: torch.Tensor = parts.content(samples)
    return found[:, frames_within(parts, before, kept)]


def frames_within(parts: Assembly, before: int, kept: int) -> slice:
    """Content frames of ``kept`` samples that follow ``before`` samples of context."""
    hop = parts.content.hop
    return slice(before // hop, before // hop - (-kept // hop))


def held(parts: Assembly, content: torch.Tensor, samples: int) -> torch.Tensor:
    """Content features repeated to the synthesizer's frame rate, for so many samples."""
    every = parts.content.hop // parts.synthesizer.hop
    return content.repeat_interleave(every, 1)[:, : frames_of(parts, samples)]


def pitch_of(parts: Assembly, samples: torch.Tensor, before: int, kept: int) -> torch.Tensor:
    """F0 at the centres of the synthesizer's frames, ``[row, frame]`` in Hz, 0 where unvoiced.

    Args:
        parts: with the tracker.
        samples: ``[row, time]``.
        before: samples at the beginning, a multiple of the frame, that are context.
        kept: samples after them whose frames are wanted.
    """
    first, frames = before // parts.synthesizer.hop, frames_of(parts, kept)
    if not frames:
        return samples[:, :0]
    f0 = parts.tracker(samples, RATE).f0[:, first : first + frames + 1]
    return between(torch.nn.functional.pad(f0, (0, frames + 1 - f0.shape[1])))


def frames_of(parts: Assembly, samples: int) -> int:
    """Number of synthesizer frames of so many samples."""
    return -(-samples // parts.synthesizer.hop)


@torch.inference_mode()
def whole_content(parts: Assembly, samples: torch.Tensor) -> torch.Tensor:
    """Content features of a recording ``[time]`` on the parts' device: :func:`content_of`, window
    by window.
    """
    windows = windows_of(parts, 1, str(samples.device))
    found = [
        content_of(parts, window.samples, window.before, window.kept)
        for window in [*windows.push(samples[None]), *windows.flush()]
    ]
    return torch.cat(found, 1)[0] if found else samples.new_zeros(0, parts.content.size)


@torch.inference_mode()
def whole_pitch(parts: Assembly, samples: torch.Tensor) -> torch.Tensor:
    """F0 of a recording ``[time]``: :func:`pitch_of`, window by window."""
    windows = windows_of(parts, 1, str(samples.device))
    found = [
        pitch_of(parts, window.samples, window.before, window.kept)
        for window in [*windows.push(samples[None]), *windows.flush()]
    ]
    return torch.cat(found, 1)[0] if found else samples[:0]


@torch.inference_mode()
def whole_vector(parts: Assembly, samples: torch.Tensor) -> torch.Tensor:
    """Speaker vector ``[element]`` of a recording ``[time]``, not scaled."""
    reader = VectorReader(parts.speaker, 1, None)
    reader.push(samples[None])
    return reader.result()[0]
