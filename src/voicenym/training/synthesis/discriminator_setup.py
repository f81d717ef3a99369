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

JUDGES: dict[str, Callable[..., torch.nn.Module]] = {
    "period": MultiPeriod,
    "scale": MultiScale,
    "spectral": MultiSpectral,
}


def judges(options: Mapping[str, Mapping[str, Any]]) -> list[torch.nn.Module]:
    """Discriminators.

    Args:
        options: of each, by the names in :data:`JUDGES`; published sizes where there are none.

    Raises:
        VoicenymError: one that there is not, or options that it does not take.
    """
    made = []
    for name, given in options.items():
        if name not in JUDGES:
            raise VoicenymError(f"judges: no {name!r}; there are: {', '.join(JUDGES)}")
        try:
            made.append(JUDGES[name](**given))
        except (TypeError, ValueError) as error:
            raise VoicenymError(f"judges, {name}: {error}") from None
    return made


def judged(judges: Iterable[torch.nn.Module], waveform: torch.Tensor) -> list[DiscriminatorOutput]:
    """What all of them say of ``[batch, time]``."""
    return [said for judge in judges for said in judge(waveform)]
