"""Setting ``units`` of a pipeline: content as codes, or as soft units of them."""

from __future__ import annotations

from pathlib import Path

from voicenym.errors import UnknownSystemError
from voicenym.nets.content.content_encoder import Content

CODES, SOFT = "codes", "soft"
UNITS = (CODES, SOFT)


def check_name(system: str, units: str) -> None:
    """Raises an UnknownSystemError if a system's ``units`` are none of these."""
    if units not in UNITS:
        raise UnknownSystemError(f"{system}: units is {' or '.join(UNITS)}, not {units!r}")


def check_content(system: str, units: str, content: Content, folder: Path) -> None:
    """Refuses soft units of an encoder that has no codes, where they would change nothing.

    Args:
        system: its name, for the message.
        units: one of :data:`UNITS`, or empty for the usual ones.
        content: the encoder.
        folder: of its pipeline.

    Raises:
        UnknownSystemError: the encoder has no codes.
    """
    if units == SOFT and not content.has_codes:
        raise UnknownSystemError(
            f"{system}: units=soft makes soft units of word codes, and the content of {folder} is "
            f"{content.kind}, which has no codes; leave it out"
        )
