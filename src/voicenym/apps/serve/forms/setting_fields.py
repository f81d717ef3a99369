"""Fields of requests: settings of a system, flags, and texts."""

from __future__ import annotations

import json
from typing import Any

from voicenym.apps.web.problem_details import Problem

CLOSED = ("weights", "target", "verifier", "device", "revision")
"""Parameters of systems that name files or hardware of the server: clients do not set them."""
OF_SERVICES = ("stability", "similarity_boost", "style", "use_speaker_boost", "speed")
"""Voice settings of services, which concern their voices."""
EXAMPLE = '{"voice_kind": "low"}'
"""Settings that the default system has."""


def settings_of(text: str) -> dict[str, str]:
    """Settings of a system, from a JSON object of numbers, booleans and words.

    Raises:
        Problem: anything else; a parameter that names files or hardware of the server.
    """
    return checked_settings(_parsed(text))


def checked_settings(found: Any) -> dict[str, str]:
    """Settings of a system, from an object of numbers, booleans and words.

    Raises:
        Problem: as :func:`settings_of`.
    """
    if not isinstance(found, dict):
        raise Problem(422, "settings is no JSON object.", f"Send an object such as {EXAMPLE}.")
    if not all(_may_be_set(name, value) for name, value in found.items()):
        raise Problem(
            422,
            "A setting is not one that clients may make.",
            "Set numbers, booleans and words; weights, targets, verifiers, devices and revisions "
            "are the operator's.",
        )
    return {str(name): _text(value) for name, value in found.items()}


def voice_settings_of(text: str) -> dict[str, str]:
    """Voice settings of a service's client that may be settings of a system; others are left out.

    Raises:
        Problem: no JSON object.
    """
    found = _parsed(text)
    if not isinstance(found, dict):
        raise Problem(422, "voice_settings is no JSON object.", "Send an object, or leave it out.")
    return {
        name: _text(value)
        for name, value in found.items()
        if name not in OF_SERVICES and _may_be_set(name, value)
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _may_be_set(name: str, value: Any) -> bool:
    is_word = isinstance(value, str) and value.replace("-", "").replace("_", "").isalnum()
    return name not in CLOSED and (is_word or isinstance(value, (int, float)))


def _text(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag_of(text: str) -> bool:
    """Value of a field that is true or false.

    Raises:
        Problem: anything else.
    """
    if text.lower() not in ("true", "false", "1", "0"):
        raise Problem(422, "audit is neither true nor false.", "Send audit=true, or leave it out.")
    return text.lower() in ("true", "1")


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8; JSON may hold halves of characters, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
