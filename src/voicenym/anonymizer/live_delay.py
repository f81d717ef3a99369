"""Delays that a system of live streams may be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voicenym.errors import UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer.anonymizer import Anonymizer

USUAL, SHORT = "usual", "short"


def check_delay(system: str, delay: str) -> None:
    """Raises an UnknownSystemError if a system's delay is none of these."""
    if delay not in (USUAL, SHORT):
        raise UnknownSystemError(f"{system}: delay is {USUAL} or {SHORT}, not {delay!r}")


def check_delay_is_used(system: Anonymizer) -> None:
    """Refuses a short delay for recordings that a system reads ahead: they come out as without it.

    Args:
        system: that is to make whole recordings.

    Raises:
        UnknownSystemError: its delay would change nothing.
    """
    if system.reads_ahead and getattr(system, "delay", USUAL) != USUAL:
        raise UnknownSystemError(
            f"{system.card.name}: delay={SHORT} is of live streams, and a whole recording comes "
            "out as without it; leave it out (evaluate --live measures streams)"
        )
