"""The step of B1.a's training: an acoustic model, and a source-filter model, each with its loss.

The acoustic model learns the mels of the speech (mean squared error); the source-filter model
learns the waveform from the speech's own mels, by spectra in three resolutions (Wang et al. 2020,
equation 8 and table I). They are connected only in a pipeline, and in the validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.synthesis.acoustic_nsf import AcousticNsf
from voicenym.training.synthesis.connecting_mels import distance_of_mels, mels_of
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Speaking, SynthesizerConfig


class SourceFilter(Speaking):
    """The training step.

    Args:
        network: to train.
        config: of the training.
    """

    network: AcousticNsf

    def __init__(self, network: AcousticNsf, config: SynthesizerConfig) -> None:
        super().__init__(network, config)
        self.frames = mels_of(network)

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        return [self.optimizer(part) for part in (self.network.acoustic, self.network.vocoder)]

    def training_step(self, batch: Sequence[torch.Tensor], index: int) -> torch.Tensor:
        crop = SynthesisCrop(*batch)
        acoustic, vocoder = self.network.acoustic, self.network.vocoder
        real = self.frames(crop.samples)
        off = distance_of_mels(acoustic, real, crop)
        made = vocoder(real, crop.f0, crop.vector, self.seeds(len(crop.f0)))
        with torch.autocast(self.device.type, enabled=False):
            spectral_distance = synthesis_losses.log_spectral_distance(crop.samples, made.float())
        self.log("train/mels", off.detach(), prog_bar=True)
        self.log("train/spectra", spectral_distance.detach(), prog_bar=True)
        if self._trainer is None:
            return off + spectral_distance
        optimizers = self.optimizers()
        assert isinstance(optimizers, list)
        for optimizer, loss in zip(optimizers, (off, spectral_distance), strict=True):
            self.update(optimizer, loss)
        return (off + spectral_distance).detach()
