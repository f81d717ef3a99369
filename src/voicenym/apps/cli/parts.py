"""Content and speaker encoders by what users call them: a folder, a published name, a verifier."""

from __future__ import annotations

from pathlib import Path

from voicenym.errors import VoicenymError

BUNDLED = "ecapa-small"


def folder_of(part: str, place: str, scratch: Path) -> Path:
    """The folder of a part, in our own format.

    Args:
        part: ``content`` or ``speaker``.
        place: a folder; a name of ``voicenym models list``, which is fetched and converted; of a
            speaker encoder also ``ecapa-small``, or ``ecapa:PLACE`` and ``xvector:PLACE`` as
            verifiers are named.
        scratch: folder that is written to, where something is converted.

    Raises:
        DependencyError, VoicenymError: what cannot be fetched or converted.
    """
    from voicenym.nets.catalogue import entry, known
    from voicenym.nets.convert import convert
    from voicenym.nets.hub import place_of
    from voicenym.nets.speakers.published import SIZES, find
    from voicenym.nets.speakers.weights import SMALL

    kind, _, source = place.partition(":")
    if part == "speaker" and place == BUNDLED:
        return SMALL
    if part == "speaker" and kind in SIZES and source:
        convert(find(source), kind, scratch / part)
        return scratch / part
    if known(place):
        published = entry(place)
        if not published.convert:
            raise VoicenymError(f"{place}: is no {part}; what uses it: {published.used_by}")
        convert(Path(place_of(place)), published.convert, scratch / part)
        return scratch / part
    return Path(place_of(place))
