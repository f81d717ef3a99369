"""Whispered speech: the spectral envelope, warped, with noise in place of the voice source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from voicenym import Anonymizer, Card, Pseudonym
from voicenym.anonymizer import Core
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.errors import UnknownSystemError

HOP_SECONDS = 0.01


class _Frames:
    """Replaces the phases of frames ``[row, frame, sample]`` and warps their magnitudes."""

    def __init__(self, warps: list[float], noise: list[torch.Generator], length: int) -> None:
        self.noise, self.window = noise, root_hann(length)
        bins = torch.arange(length // 2 + 1, dtype=torch.float32)
        places = (bins / torch.tensor(warps)[:, None]).clamp(max=length // 2)  # [row, bin]
        self.low = places.floor().long()
        self.share = places - self.low

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        spectrum = torch.fft.rfft(frames * self.window).abs()
        low = self.low[:, None].expand_as(spectrum)
        high = (low + 1).clamp(max=spectrum.shape[-1] - 1)
        warped = torch.lerp(spectrum.gather(2, low), spectrum.gather(2, high), self.share[:, None])
        # one draw a frame, so that blocks of any size give the same noise
        angles = torch.stack(
            [
                torch.stack([torch.rand(warped.shape[-1], generator=rng) for _ in row])
                for rng, row in zip(self.noise, warped, strict=True)
            ]
        )
        changed = torch.fft.irfft(torch.polar(warped, 2 * torch.pi * angles), frames.shape[-1])
        # noise of neighbouring frames adds in power, not in amplitude
        power = (frames * self.window).square().mean(-1, keepdim=True) / self.window.square().mean()
        gain = (power / changed.square().mean(-1, keepdim=True).clamp(min=1e-20)).sqrt()
        return changed * gain * self.window


@dataclass(frozen=True)
class Whispered(Anonymizer):
    """Replaces the voice source by noise and moves the formants by one factor.

    Args:
        low, high: limits of the factor; it is drawn once per pseudonym.
    """

    low: float = 1.1
    high: float = 1.3

    card: ClassVar[Card] = Card(
        name="whispered",
        title="Whispered speech",
        paper="none; an example of a package that adds a system",
        year=2026,
        equations=("|Y(f)| = |X(f / a)|, a ~ U(low, high); arg Y(f) ~ U(0, 2 pi)",),
        needs="no weights; 8 kHz or more; CPU",
        protects="casual listeners, in part",
        promises=("length, channels and level are kept; it works live, 20 ms behind",),
        fails=("intonation is lost", "speaking rate and words still tell people apart"),
    )

    def __post_init__(self) -> None:
        if not 1.0 < self.low <= self.high <= 2.0:
            raise UnknownSystemError(
                "whispered: factors need 1 < low <= high <= 2, such as low=1.1, high=1.3, not "
                f"low={self.low}, high={self.high}"
            )

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        warps = [item.uniform("whispered.factor", self.low, self.high) for item in pseudonyms]
        noise = [item.torch_rng("whispered.noise") for item in pseudonyms]
        hop = round(HOP_SECONDS * rate)
        frames = _Frames(warps, noise, 2 * hop)
        return OverlapAdd(len(pseudonyms), 2 * hop, hop, frames, self.device)
