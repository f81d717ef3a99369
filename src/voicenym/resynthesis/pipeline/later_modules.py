"""Modules that stand for others from a revision of a system on, beside those of a pipeline
(:data:`voicenym.resynthesis.pipeline.assembly.OF_REVISIONS`).
"""

from __future__ import annotations

import functools
from pathlib import Path

from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.resynthesis.pipeline import assembly


def synthesizer(folder: Path, device: str, name: str) -> Synthesizer:
    """A synthesizer; cached while its weights do not change.

    Args:
        folder: of the pipeline.
        device: where it computes.
        name: of the module.

    Raises:
        WeightsError, VoicenymError: as of :func:`voicenym.resynthesis.pipeline.assembly.part`, or
            weights that cannot be read.
    """
    return _synthesizer(assembly.part(folder, name), device, _digest(folder, name))


def with_vocoder(folder: Path, device: str, name: str, former: Synthesizer) -> Synthesizer:
    """A synthesizer with another vocoder, as :func:`synthesizer`.

    Args:
        folder, device, name: as there; the module is a vocoder alone.
        former: of the kind that the vocoder was trained with, on the device; its first part is
            shared.

    Raises:
        WeightsError, VoicenymError: as there, or the two do not fit each other.
    """
    return _with_vocoder(assembly.part(folder, name), device, _digest(folder, name), former)


def live_encoder(folder: Path, device: str, name: str) -> LiveWordCodes:
    """A live encoder, as :func:`synthesizer`."""
    return _live_encoder(assembly.part(folder, name), device, _digest(folder, name))


@functools.lru_cache(maxsize=2)
def _synthesizer(place: Path, device: str, digest: str) -> Synthesizer:
    made = synthesizers.load(place)
    made.to(device).requires_grad_(False)
    return made


@functools.lru_cache(maxsize=2)
def _with_vocoder(place: Path, device: str, digest: str, former: Synthesizer) -> Synthesizer:
    vocoder = vocoders.load(place).to(device).requires_grad_(False)
    return vocoders.with_vocoder(former, vocoder)


@functools.lru_cache(maxsize=2)
def _live_encoder(place: Path, device: str, digest: str) -> LiveWordCodes:
    return live_word_codes.load(place).to(device).requires_grad_(False)


def _digest(folder: Path, name: str) -> str:
    return str(configuration(assembly.located(folder, name)).get(DIGEST, ""))
