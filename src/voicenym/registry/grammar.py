"""The grammar of ``name:field=value,field=value``, and names in messages."""

from __future__ import annotations

from collections.abc import Iterable


def split(text: str) -> tuple[str, dict[str, str]]:
    """Name, and texts by field, of ``name:field=value,field=value``.

    Commas within parentheses do not separate fields.

    Raises:
        ValueError: text that is not of this form.

    Example:
        >>> split("distinct: angle=10, of=(selection:pool=P,world=5)")
        ('distinct', {'angle': '10', 'of': '(selection:pool=P,world=5)'})
    """
    name, colon, rest = text.strip().partition(":")
    fields: dict[str, str] = {}
    for part in _parts(rest) if colon else []:
        key, equals, value = (word.strip() for word in part.partition("="))
        if not (equals and key and value):
            raise ValueError(f"{part[:80]!r} is not FIELD=VALUE; write NAME:FIELD=VALUE,...")
        if key in fields:
            raise ValueError(f"{key[:80]} is given twice")
        fields[key] = value
    return name.strip(), fields


def _parts(text: str) -> list[str]:
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
        raise ValueError("parentheses do not match")
    return parts


def near(name: str, there: Iterable[str]) -> str:
    """Addition to a message about an unknown name: similar names, or nothing.

    Args:
        name: the unknown name.
        there: known names.

    Example:
        >>> near("mcadam", ["vtln", "mcadams"])
        ' (did you mean mcadams?)'
    """
    from difflib import get_close_matches

    found = get_close_matches(name[:80], list(there), n=3)
    return f" (did you mean {' or '.join(found)}?)" if found else ""


def quoted_name(name: str) -> str:
    """A name for a message; a long one is shortened."""
    return repr(name) if len(name) <= 80 else f"{name[:80]!r}..."
