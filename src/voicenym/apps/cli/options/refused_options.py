"""Options that would do nothing beside others, which are refused."""

from __future__ import annotations

from collections.abc import Mapping

from voicenym.errors import VoicenymError


def refuse_options(given: Mapping[str, object], reason: str) -> None:
    """Refuses options that would do nothing.

    Args:
        given: values of options by name; those that were not given are false.
        reason: why they do nothing, between the option's name and "leave it out".

    Raises:
        VoicenymError: one of them was given.
    """
    for name, value in given.items():
        if value:
            raise VoicenymError(f"{name} {reason} leave it out")
