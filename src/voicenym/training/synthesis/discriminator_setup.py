"""Discriminators that a recipe names, with the sizes that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.discriminators import (
    DiscriminatorOutput,
    MultiPeriod,
    MultiScale,
    MultiSpectral,
)

DISCRIMINATORS: dict[str, Callable[..., torch.nn.Module]] = {
    "period": MultiPeriod,
    "scale": MultiScale,
    "spectral": MultiSpectral,
}


def make_discriminators(options: Mapping[str, Mapping[str, Any]]) -> list[torch.nn.Module]:
    """New discriminators.

    Args:
        options: of each, by the names in :data:`DISCRIMINATORS`; published sizes by default.

    Raises:
        VoicenymError: an unknown one, or unknown options.
    """
    made = []
    for name, given in options.items():
        if name not in DISCRIMINATORS:
            raise VoicenymError(
                f"discriminators: no {name!r}; there are: {', '.join(DISCRIMINATORS)}"
            )
        try:
            made.append(DISCRIMINATORS[name](**given))
        except (TypeError, ValueError) as error:
            raise VoicenymError(f"discriminators, {name}: {error}") from None
    return made


def discriminator_outputs(
    discriminators: Iterable[torch.nn.Module], waveform: torch.Tensor
) -> list[DiscriminatorOutput]:
    """Outputs of all discriminators for waveforms ``[batch, time]``."""
    return [output for discriminator in discriminators for output in discriminator(waveform)]
