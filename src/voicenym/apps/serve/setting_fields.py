"""Fields of requests: settings of a system, flags, and texts."""

from __future__ import annotations

import json
from typing import Any

from voicenym.apps.web.problem_details import Problem

CLOSED = ("weights", "target", "device", "revision")
"""Parameters of systems that name files or hardware of the server: clients do not set them."""


def settings_of(text: str) -> dict[str, str]:
    """Settings of a system, from a JSON object of numbers, booleans and words.

    Raises:
        Problem: anything else; a parameter that names files or hardware of the server.
    """
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return checked_settings(found)


def checked_settings(found: Any) -> dict[str, str]:
    """Settings of a system, from an object of numbers, booleans and words.

    Raises:
        Problem: as :func:`settings_of`.
    """
    if not isinstance(found, dict):
        raise Problem(
            422, "settings is no JSON object.", 'Send an object such as {"strength": 0.8}, or none.'
        )
    for name, value in found.items():
        is_word = isinstance(value, str) and value.replace("-", "").replace("_", "").isalnum()
        if name in CLOSED or not (is_word or isinstance(value, (int, float))):
            raise Problem(
                422,
                "A setting is not one that clients may make.",
                "Set numbers, booleans and words; weights, targets and devices are the operator's.",
            )
    return {str(name): _text(value) for name, value in found.items()}


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
