"""Mel spectra that connect an acoustic model and a vocoder: their statistics, and their loss."""

from __future__ import annotations

import torch

from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.synthesis.acoustic_model import AcousticModel
from voicenym.nets.synthesis.nsf import Standardize
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop, SynthesisCrops
from voicenym.training.synthesis.synthesizer_step import FFT

STATISTICS = 256
"""Number of crops for the mean and deviation of mels."""
LEAST_DEVIATION = 0.1
"""Least deviation of a band, in natural logarithms of magnitude: bands above a narrow recording's
range do not vary.
"""


def mels_of(network: TwoStageSynthesizer) -> synthesis_losses.LogMel:
    """Mel spectra that connect the two models."""
    bands = int(network.config()["mels"])
    return synthesis_losses.LogMel(network.rate, FFT, network.hop, bands)


def distance_of_mels(
    acoustic: AcousticModel, real: torch.Tensor, crop: SynthesisCrop
) -> torch.Tensor:
    """Mean squared error of an acoustic model, in deviations so that no band outweighs the others.

    Args:
        acoustic: the model.
        real: ``[batch, frame, mel]``, log mels of the crops.
        crop: a batch.
    """
    predicted = acoustic(crop.content, crop.f0, crop.vector).float()
    return ((predicted - real) / acoustic.standardize.deviation).square().mean()


def standardize(network: TwoStageSynthesizer, crops: SynthesisCrops) -> None:
    """Sets the mean and deviation of a network's mels, unless they are set."""
    if network.acoustic.standardize.mean.any():
        return
    mels = mels_of(network)
    some = [crops[i].samples for i in range(min(STATISTICS, len(crops)))]
    with torch.no_grad():
        frames = torch.cat([mels(samples[None])[0] for samples in some])
    for part in network.modules():
        if isinstance(part, Standardize):
            part.fit(frames)
            part.deviation.clamp_min_(LEAST_DEVIATION)
