"""Content and speaker encoders by what users call them: a folder, a published name, a verifier."""

from __future__ import annotations

from pathlib import Path

from voicenym.errors import VoicenymError

BUNDLED = "ecapa-small"
NAMED = ("content", "speaker")
"""Parts that published names stand for."""


def folder_of(part: str, place: str) -> Path:
    """The folder of a part, in our own format.

    Args:
        part: of a pipeline.
        place: a folder; of ``content`` and ``speaker`` also a name of ``voicenym models list`` that
            was pulled; of a speaker encoder also ``ecapa-small``, or ``ecapa:PLACE`` and
            ``xvector:PLACE`` as verifiers are named.

    Raises:
        VoicenymError: a name that was not pulled, a checkpoint that was not converted.
    """
    from voicenym.nets.catalogue import entry, known
    from voicenym.nets.hub import place_of
    from voicenym.nets.speakers.speaker_encoders import SMALL
    from voicenym.nets.speakers.speechbrain_encoder import SIZES, find
    from voicenym.nets.weights.safetensors_file import refuse_pickles

    if part not in NAMED:
        refuse_pickles(Path(place))
        return Path(place)
    kind, _, source = place.partition(":")
    if part == "speaker" and place == BUNDLED:
        return SMALL
    if part == "speaker" and kind in SIZES and source:
        return find(kind, source)
    if known(place) and not entry(place).convert:
        raise VoicenymError(f"{place}: is no {part}; what uses it: {entry(place).used_by}")
    folder = Path(place_of(place))
    refuse_pickles(folder)
    return folder
