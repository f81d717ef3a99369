"""Audio and spectrograms of a validation, for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lightning.pytorch as pl
import torch

from voicenym.nets.synthesis.synthesis_losses import LogMel
from voicenym.training.run.run_callbacks import steps_done


def log_audio(
    module: pl.LightningModule,
    sounds: Mapping[str, torch.Tensor],
    mel: LogMel,
    rate: int,
    first: int = 0,
) -> None:
    """Write audio and spectrograms to the TensorBoard log of a module, if it has one.

    Args:
        module: in training.
        sounds: ``[row, time]`` by what they are; the first is uppermost in the picture.
        mel: of the picture.
        rate: in Hz.
        first: number of the first row.
    """
    if module.logger is None:
        return
    writer: Any = module.logger.experiment  # type: ignore[attr-defined]
    step = steps_done(module.trainer)
    for i, row in enumerate(zip(*sounds.values(), strict=True), first):
        for name, sound in zip(sounds, row, strict=True):
            writer.add_audio(f"{name} {i}", sound[None].cpu(), step, rate)
        mels = torch.cat([mel(sound[None])[0].T.flip(0) for sound in row])
        low, high = mels.aminmax()
        picture = ((mels - low) / (high - low + 1e-9))[None]
        writer.add_image(f"mels {i}", picture.cpu(), step)
