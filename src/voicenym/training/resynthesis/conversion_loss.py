"""Learning to speak as somebody else: crops in drawn voices, judged by a speaker encoder.

Rebuilding alone never asks for a voice that is not the speaker's: what the content still says of
him may then be heard in any voice. Here the vector of the output is to be that of the voice that
was asked for, and not the speaker's (as in speaker-consistency losses, Casanova et al., "YourTTS",
ICML 2022), and its content is to be heard again as it was (Choi et al., "NANSY", NeurIPS 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.f0_statistics import moved_within
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.resynthesis.bundled.model_parts import FARTHEST, HIGHEST_RANGE, LOWEST_RANGE, Parts
from voicenym.training.resynthesis.resynthesis_dataset import Crop


@dataclass(frozen=True)
class ConversionConfig:
    """What speaking in other voices weighs.

    Args:
        share: of a batch that is spoken in other voices; 0 for none.
        pool: share of these that take another speaker's vector; the others are drawn.
        speaker: weight of the output's distance (1 less the cosine) to the voice asked for.
        aside: weight of what it has in common with the speaker, where that is more than nothing.
        content: weight of the mean distance of content heard in the output to what was said.
        power: weight of the mean distance of ln power of frames.
        noise: least and most decibels by which noise lies below what the encoder hears, so that
            nothing too faint to be heard can please it.
    """

    share: float = 0.0
    pool: float = 0.3
    speaker: float = 1.0
    aside: float = 0.5
    content: float = 2.0
    power: float = 0.1
    noise: tuple[float, float] = (10.0, 40.0)


@dataclass(frozen=True)
class Wanted:
    """Voices to speak in.

    Args:
        vectors: ``[row, element]``; the norm of each is the root of its size.
        f0: ``[row, frame]`` in Hz, in the voice's register.
    """

    vectors: torch.Tensor
    f0: torch.Tensor


def wanted(
    parts: Parts, crop: Crop, config: ConversionConfig, generator: torch.Generator
) -> Wanted:
    """Voices for the rows of a batch: drawn ones, and those of the rows before."""
    rows, device = len(crop.f0), crop.f0.device

    def normal(*shape: int) -> torch.Tensor:
        drawn = torch.randn(*shape, generator=generator, device=device)
        return drawn.clamp(-FARTHEST, FARTHEST)

    drawn = parts.voices.vectors(normal(rows, parts.voices.rank))
    others = torch.rand(rows, 1, generator=generator, device=device) < config.pool
    vectors = torch.where(others, crop.vector.roll(1, 0), drawn)
    spread = torch.rand(rows, generator=generator, device=device)
    spread = LOWEST_RANGE + (HIGHEST_RANGE - LOWEST_RANGE) * spread
    register = parts.voices.log_f0(vectors, normal(rows))
    f0 = moved_within(crop.f0, crop.register[:, :1], crop.register[:, 1:], register, spread)
    return Wanted(vectors, f0)


def losses(
    parts: Parts,
    encoder: Encoder,
    crop: Crop,
    content: torch.Tensor,
    vectors: torch.Tensor,
    waveform: torch.Tensor,
    config: ConversionConfig,
    generator: torch.Generator,
) -> dict[str, torch.Tensor]:
    """What is lost in another voice, by name, each a mean over rows and not yet weighed.

    Args:
        parts: that spoke.
        encoder: frozen; in use, not in training.
        crop: what was said.
        content: its content ``[row, frame / 2, size]`` without noise.
        vectors: ``[row, element]``, of the voices asked for.
        waveform: ``[row, time]``, what was spoken.
        config: of what the encoder hears.
        generator: of noise.
    """
    with torch.autocast(waveform.device.type, enabled=False):
        middle = parts.voices.mean
        result = encoder(waveform + noise_below(waveform, config.noise, generator))
        result = torch.nn.functional.normalize(result, dim=1) * result.shape[1] ** 0.5 - middle
        to_wanted = torch.cosine_similarity(result, vectors - middle)
        to_speaker = torch.cosine_similarity(result, crop.vector - middle)
        converted = parts.content.front_end(waveform)
        # A crop's own average stands in for that of a recording, on both sides.
        bands = converted.bands - (converted.bands - crop.bands).mean(1, keepdim=True)
        power = converted.power - (converted.power - crop.power).mean(1, keepdim=True)
        content = content.float()
        again = parts.content.encode(bands)
        if parts.everybody is not None:  # the voice's own mean is not what is said
            again = again - (again - content).mean(1, keepdim=True)
        return {
            "speaker": (1.0 - to_wanted).mean(),
            "aside": to_speaker.clamp_min(0.0).mean(),
            "content": (again - content).abs().mean(),
            "power": (power - crop.power).clamp(-4.0, 4.0).abs().mean(),
        }


def noise_below(
    waveform: torch.Tensor, below: tuple[float, float], generator: torch.Generator
) -> torch.Tensor:
    """Noise of random level and tilt, fit to be added to waveforms ``[row, time]``.

    Args:
        waveform: that it lies below.
        below: by so many decibels at least and at most.
        generator: of the draws.
    """
    shape, device = waveform.shape, waveform.device
    noise = torch.randn(shape, generator=generator, device=device)
    level, colour = torch.rand(2, shape[0], 1, generator=generator, device=device)
    # One tap of random sign tilts the spectrum up or down.
    noise = noise + (2.0 * colour - 1.0) * noise.roll(1, 1)
    decibels = below[0] + (below[1] - below[0]) * level
    power = waveform.detach().square().mean(1, keepdim=True)
    noise = noise / noise.square().mean(1, keepdim=True).clamp_min(1e-12).sqrt()
    return noise * (power * 10.0 ** (-decibels / 10.0)).sqrt()


def total(parts: dict[str, torch.Tensor], config: ConversionConfig) -> torch.Tensor:
    """Of :func:`losses`, weighed."""
    return torch.stack([getattr(config, name) * value for name, value in parts.items()]).sum()
