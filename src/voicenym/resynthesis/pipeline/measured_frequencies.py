"""Pipelines that are conditioned on measured formants and F0 in place of a speaker vector."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from voicenym.nets.checkpoint import configuration
from voicenym.nets.identity import frequency_voices
from voicenym.nets.identity.frequency_voices import FrequencyVoices
from voicenym.nets.speakers.formant_pitch_encoder import Formants
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly

BUNDLED = Path(frequency_voices.__file__).parent / "bundled" / frequency_voices.KIND
"""Map of frequencies to vectors of ``ecapa-small``."""


def fits(names: set[str]) -> bool:
    """Whether the bundled map gives vectors of a speaker encoder, by the names of its weights."""
    return str(configuration(BUNDLED).get("version", "")) in names


@functools.lru_cache(maxsize=2)
def on_frequencies(parts: Assembly, device: str) -> Assembly:
    """A pipeline that is conditioned on measured frequencies, by the bundled map.

    Args:
        parts: with the speaker encoder that the map is of; they are shared.
        device: where they compute.
    """
    voices = FrequencyVoices.load(BUNDLED)  # on the processor, as voices are chosen there
    measured = Formants(voices.formants).eval().requires_grad_(False).to(device)
    return replace(parts, speaker=measured, frequency_voices=voices)
