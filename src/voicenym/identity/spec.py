"""Methods in a line of text: ``selection:pool=FOLDER,world=100``."""

from __future__ import annotations

import ast
from typing import Any, get_type_hints

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity
from voicenym.identity.registry import identities, identity, identity_class, kinds


def parsed(text: str) -> Identity:
    """A method by its name and parameters.

    ``NAME``, or ``NAME:FIELD=VALUE,FIELD=VALUE``. A value in parentheses is a method again, as for
    those that build on another: ``distinct:angle=10,pool=P,of=(selection:pool=P)``. Other values
    are numbers, ``true``, ``false``, ``none``, or text as it stands.

    Raises:
        UnknownSystemError: text that is not of this form, an unknown name or parameter.

    Example:
        >>> parsed("blank:strength=0.5")
        Blank(strength=0.5)
    """
    name, colon, rest = text.strip().partition(":")
    hints = get_type_hints(identity_class(name))
    parameters: dict[str, Any] = {}
    for part in _parts(rest, text) if colon else []:
        field, equals, value = part.partition("=")
        if not equals or not field.strip() or not value.strip():
            raise UnknownSystemError(
                f"identity {text[:80]!r}: {part[:80]!r} is not FIELD=VALUE; "
                "write NAME:FIELD=VALUE,..."
            )
        texts = str in kinds(hints.get(field.strip()))  # a folder may be named like a number
        parameters[field.strip()] = _value(value.strip(), texts)
    return identity(name, **parameters)


def _parts(text: str, whole: str) -> list[str]:
    """Split at commas that are in no parentheses."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth < 0:
            break
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    if depth:
        raise UnknownSystemError(f"identity {whole[:80]!r}: parentheses do not match")
    return parts


def _value(text: str, texts: bool) -> Any:
    if text.startswith("(") and text.endswith(")"):
        inside = text[1:-1]
        if ":" in inside or inside.strip() in identities():
            return parsed(inside)
    known = {"true": True, "false": False, "none": None}
    if texts:
        return text
    if text.lower() in known:
        return known[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float | tuple) else text
