"""Loss of voice conversion: crops in drawn voices, compared by a speaker encoder.

Reconstruction alone never needs a voice other than the speaker's, so traces of the speaker in the
content could remain audible in any voice. This loss asks that the output's speaker vector be that
of the requested voice and unlike the speaker's (as in speaker-consistency losses, Casanova et al.,
"YourTTS", ICML 2022), and that its content stay the same (Choi et al., "NANSY", NeurIPS 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from voicenym.dsp.pitch.f0_statistics import moved_within
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.resynthesis.bundled.model_parts import FARTHEST, HIGHEST_RANGE, LOWEST_RANGE, Parts
from voicenym.training.resynthesis.resynthesis_dataset import Crop
from voicenym.training.speech.noise_below_speech import noise_below


@dataclass(frozen=True)
class ConversionConfig:
    """Weights of the conversion loss.

    Args:
        share: of a batch that is converted to other voices; 0 for none.
        pool: share of these that take another speaker's vector; the others are drawn.
        speaker: weight of the output's distance (1 less the cosine) to the requested voice.
        aside: weight of its cosine to the speaker, where that is positive.
        content: weight of the mean distance between the output's content and the original's.
        power: weight of the mean distance of ln power of frames.
        noise: least and greatest level in dB by which noise lies below the encoder's input, so that
            inaudible components cannot lower the loss.
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
    """Voices of converted crops.

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
    """Losses of converted speech by name, each a mean over rows, unweighted.

    Args:
        parts: of the output.
        encoder: frozen; in use, not in training.
        crop: the original.
        content: its content ``[row, frame / 2, size]`` without noise.
        vectors: ``[row, element]``, of the requested voices.
        waveform: ``[row, time]``, the output.
        config: of the noise.
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
        if parts.everybody is not None:  # the voice's own mean is not content
            again = again - (again - content).mean(1, keepdim=True)
        return {
            "speaker": (1.0 - to_wanted).mean(),
            "aside": to_speaker.clamp_min(0.0).mean(),
            "content": (again - content).abs().mean(),
            "power": (power - crop.power).clamp(-4.0, 4.0).abs().mean(),
        }


def total(parts: dict[str, torch.Tensor], config: ConversionConfig) -> torch.Tensor:
    """Weighted sum of :func:`losses`."""
    return torch.stack([getattr(config, name) * value for name, value in parts.items()]).sum()
