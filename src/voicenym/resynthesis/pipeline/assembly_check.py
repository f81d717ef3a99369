"""Checks that the modules in the folders of a pipeline were made for each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.synthesis_settings import TrainingRecord, names

VOCODERS = ("nsf", "hifigan", "hifigan-speaker")
"""Modules that are vocoders for the first part of the synthesizer."""


def check_folders(places: Mapping[str, Path], networks: Assembly) -> None:
    """Checks the modules beside the networks: other synthesizers, and what has speaker vectors.

    Args:
        places: folders by part.
        networks: loaded from their folders.

    Raises:
        DependencyError, VoicenymError: a module cannot be loaded, or does not fit the others.
    """
    _check_synthesizers(places, networks)
    if "live-8" in places:
        replace(networks, live_codes=live_word_codes.load(places["live-8"]))
    size, known = networks.speaker.size, names(places["speaker"])
    for name, part in _of_speaker_vectors(places).items():
        if part.size != size:
            raise VoicenymError(
                f"{places[name]}: is of speaker vectors of {part.size} numbers, and the speaker "
                f"encoder gives {size}: make it again with --encoder {places['speaker']}"
            )
        if part.version and part.version not in known:
            raise VoicenymError(
                f"{places[name]}: was made with other weights of the speaker encoder (by "
                f"{part.encoder}, {part.version}): make it again with --encoder {places['speaker']}"
            )


def _check_synthesizers(places: Mapping[str, Path], networks: Assembly) -> None:
    """Checks the synthesizers, those of other revisions included, and what they were trained with.

    Raises:
        VoicenymError: one does not fit the other modules.
    """
    for name in ("synthesizer", "synthesizer-7", *VOCODERS):
        if name not in places:
            continue
        # each raises where it does not fit the other modules
        if name == "synthesizer-7":
            replace(networks, synthesizer=synthesizers.load(places[name]))
        elif name in VOCODERS:
            vocoders.with_vocoder(networks.synthesizer, vocoders.load(places[name]))
        record = TrainingRecord.of(places[name])
        if record is not None:
            record.check(places)


def _of_speaker_vectors(places: Mapping[str, Path]) -> dict[str, Any]:
    """Modules that were made of vectors of a speaker encoder.

    Raises:
        VoicenymError: a folder holds something else.
    """
    from voicenym.identity.pools import speaker_pool, vector_mixture
    from voicenym.nets.identity import householder_checkpoint
    from voicenym.resynthesis.pipeline.f0_regression import Register

    found: dict[str, Any] = {}
    if "pool" in places:
        found["pool"] = speaker_pool.opened(str(places["pool"]))
    if "mixture" in places:
        found["mixture"] = vector_mixture.opened(str(places["mixture"]))
    for name, form in (("roh", "roh"), ("roh-2", "roh"), ("loh", "loh")):
        if name in places:
            found[name] = householder_checkpoint.load(places[name])
            has = found[name].network.form
            if has != form:
                raise VoicenymError(f"{places[name]}: is a network of the form {has}, not {form}")
    if "register" in places:
        found["register"] = Register.load(places["register"])
    return found
