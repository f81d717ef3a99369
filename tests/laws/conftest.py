"""Speech-like signals made here, so that the laws need no recordings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from scripted_retelling import ScriptedListener, ScriptedSynthesiser

from voicenym.nets.weights.weights_home import VARIABLE
from voicenym.systems.asr_tts import AsrTts

Talk = Callable[..., torch.Tensor]


def _resonate(signal: torch.Tensor, rate: int, formants: list[tuple[float, float]]) -> torch.Tensor:
    """All-pole vowel spectrum put on in the frequency domain."""
    size = 2 * signal.numel()
    z = torch.exp(-1j * math.pi * torch.linspace(0, 1, size // 2 + 1, dtype=torch.float64))
    response = torch.ones_like(z)
    for frequency, width in formants:
        if frequency < 0.48 * rate:
            pole = math.exp(-math.pi * width / rate)
            angle = 2 * math.pi * frequency / rate
            response = response / (1 - 2 * pole * math.cos(angle) * z + pole**2 * z * z)
    return torch.fft.irfft(torch.fft.rfft(signal, size) * response, size)[: signal.numel()]


@pytest.fixture(scope="module", autouse=True)
def weights(pipelines: Path) -> Iterator[None]:
    """Systems that need weights obey the laws with small random ones, ``asr-tts`` with a scripted
    recogniser and synthesiser.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(pipelines))
        patch.setattr(AsrTts, "opened_listener", lambda system: ScriptedListener())
        patch.setattr(AsrTts, "opened_synthesiser", lambda system: ScriptedSynthesiser())
        yield


@pytest.fixture(scope="session")
def talk() -> Talk:
    """``talk(seconds, rate, f0, seed)``: vowels with gliding pitch, hisses and short pauses."""

    def make(seconds: float = 2.0, rate: int = 16000, f0: float = 130.0, seed: int = 0):
        generator = torch.Generator().manual_seed(seed)
        vowels = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480)]
        parts, left = [], round(seconds * rate)
        index = seed
        while left > 0:
            length = min(left, round(0.25 * rate))
            time = torch.arange(length, dtype=torch.float64) / rate
            pitch = f0 * (1 + 0.12 * torch.sin(2 * math.pi * 1.3 * time + index))
            phase = 2 * math.pi * torch.cumsum(pitch, 0) / rate
            harmonics = torch.arange(1, max(2, int(0.45 * rate / f0)))
            pulses = torch.cos(harmonics[:, None] * phase).sum(0) / len(harmonics) ** 0.5
            hiss = torch.randn(length, generator=generator, dtype=torch.float64)
            if index % 4 == 3:
                part = 0.02 * hiss
            else:
                formants = [(f, 60 + 0.04 * f) for f in (*vowels[index % 4], 3500)]
                part = _resonate(pulses + 0.02 * hiss, rate, formants)
                part = 0.25 * part / part.abs().max()
            fade = torch.minimum(time, time.flip(0)).mul(50).clamp(max=1)
            parts.append(part * fade)
            left -= length
            index += 1
        return torch.cat(parts).float()

    made = cache(make)
    return lambda *how, **more: made(*how, **more).clone()
