"""The step of an acoustic model and a vocoder, in one: losses of the sound, and of the mels.

The two learn as one network, so that the vocoder speaks from the acoustic model's own smooth mels;
their mean squared error keeps what connects the two a mel spectrum, as in B1.a. The vocoder also
learns from mels of the speech, which another acoustic model could give it.
"""

from __future__ import annotations

import torch

from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer
from voicenym.nets.words.whisper.whisper import Encoder as WhisperEncoder
from voicenym.training.synthesis.connecting_mels import distance_of_mels, mels_of
from voicenym.training.synthesis.decoder_loss import DecoderLoss
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.spoken_texts import SpokenTexts
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop
from voicenym.training.synthesis.synthesizer_step import Adversarial, SynthesizerConfig

OF_MELS = 20.0
"""Weight of the mean squared error of mels, beside 45 of the mel distance of the sound."""
FROM_REAL = 3
"""One of so many crops is also spoken from its own mels."""


class TwoStage(Adversarial):
    """The training step.

    Args:
        network: to train.
        config: of the training.
        recogniser, voices, every, texts, encoder: as of :class:`Adversarial`.
    """

    network: TwoStageSynthesizer

    def __init__(
        self,
        network: TwoStageSynthesizer,
        config: SynthesizerConfig,
        recogniser: WhisperEncoder | None = None,
        voices: DrawnVoices | None = None,
        every: int = 1,
        texts: tuple[SpokenTexts, DecoderLoss] | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        super().__init__(network, config, recogniser, voices, every, texts, encoder)
        self.frames = mels_of(network)
        network.acoustic.requires_grad_(config.acoustic)

    def of_parts(self, crop: SynthesisCrop, seed: torch.Tensor) -> torch.Tensor:
        real = self.frames(crop.samples)
        rows = -(-len(real) // FROM_REAL)
        made = self.network.spoken(real[:rows], crop.f0[:rows], crop.vector[:rows], seed[:rows])
        copied = synthesis_losses.mel_distance(crop.samples[:rows], made.float(), self.mel)
        self.log("train/copied", copied.detach())
        loss = self.recipe.mel / FROM_REAL * copied
        if self.recipe.acoustic:
            off = distance_of_mels(self.network.acoustic, real, crop)
            self.log("train/mels", off.detach(), prog_bar=True)
            loss = loss + OF_MELS * off
        return loss
