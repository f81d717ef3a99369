"""Crops in other voices: the content of a crop, the speaker vector and F0 register of others.

A synthesizer that only reconstructs meets each speaker vector with that speaker's content alone, so
that words suffer in the drawn voices that it is used with. No recording of a converted crop exists;
its loss is that of a recogniser's states and of the discriminators.
"""

from __future__ import annotations

import torch

from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop

NORMALISED = ("unit", "root")
"""Scales of speaker vectors under which a vector's length means nothing."""

LEAST_ROWS = 3
"""A row and two others."""


def in_other_voices(
    crop: SynthesisCrop, settings: Settings, generator: torch.Generator
) -> SynthesisCrop:
    """A batch with the voices of other rows.

    A row's voice lies between those of the next two rows, at a place that is drawn uniformly: its
    speaker vector is interpolated, and its F0 is multiplied so that its mean ln F0 is interpolated
    as well. Pseudo-speakers are averages and draws that are as far from single recordings.

    Args:
        crop: a batch of :data:`LEAST_ROWS` or more.
        settings: with the scale of the speaker vectors.
        generator: of the places.

    Returns:
        The batch; its ``samples`` are still those of the speakers.
    """
    rows, device = len(crop.f0), crop.f0.device
    place = torch.rand(rows, 1, generator=generator, device=device)
    vectors = torch.lerp(crop.vector.roll(-1, 0), crop.vector.roll(-2, 0), place.to(crop.vector))
    if settings.scale in NORMALISED:
        vectors = settings.scaled(vectors)
    voiced = crop.f0 > 0
    log_f0 = torch.where(voiced, crop.f0.clamp_min(1.0).log(), 0.0)
    count = voiced.sum(1, keepdim=True)
    own = log_f0.sum(1, keepdim=True) / count.clamp_min(1)
    # a row without voiced frames has no register: the average of the others stands in
    usual = own.sum() / (count > 0).sum().clamp_min(1)
    own = torch.where(count > 0, own, usual)
    target = torch.lerp(own.roll(-1, 0), own.roll(-2, 0), place.to(own))
    f0 = torch.where(voiced, (log_f0 + target - own).exp(), 0.0)
    return crop._replace(f0=f0, vector=vectors)
