"""Delays that a system of live streams may be asked for."""

from __future__ import annotations

from voicenym.errors import UnknownSystemError

USUAL, SHORT = "usual", "short"


def check_delay(system: str, delay: str) -> None:
    """Raises an UnknownSystemError if a system's delay is none of these."""
    if delay not in (USUAL, SHORT):
        raise UnknownSystemError(f"{system}: delay is {USUAL} or {SHORT}, not {delay!r}")
