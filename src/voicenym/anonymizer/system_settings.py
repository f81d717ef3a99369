"""Systems with settings: read from a command line, compared with defaults, named in a report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from voicenym.anonymizer import SYSTEMS, Anonymizer, load

PATH = re.compile(r"[^\s,=()]*[/\\][^\s,=()]*")
"""Path within a value; only its last part is printed, because reports are published."""


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """A system's name and the settings that differ from its defaults.

    Args:
        text: ``name`` or ``name:field=value,field=value``, as for ``voicenym systems``.

    Raises:
        VoicenymError: an unknown name or field, with similar ones, or a value of another type.

    Example:
        >>> parsed("mcadams:low=0.8,high=0.9")
        ('mcadams', {'low': 0.8})
    """
    name, given = SYSTEMS.parse(text)
    return name, changed(name, {field: _bare(value) for field, value in given.items()})


def _bare(value: Any) -> Any:
    """Text without the parentheses that protect its commas: ``identity=(half:of=copy,angle=5)``."""
    inside = isinstance(value, str) and value.startswith("(") and value.endswith(")")
    return value[1:-1] if inside else value


def changed(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a system that differ from its defaults, by name in alphabetical order.

    Caches and names thus do not depend on how equal settings are written.

    Raises:
        VoicenymError: no such system.
    """
    defaults = {item.name: item.default for item in SYSTEMS.parameters(name)}
    found = {}
    for field, value in sorted(parameters.items()):
        default = defaults.get(field)
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if field not in defaults or value != default:
            found[field] = value
    return found


def label(name: str, parameters: Mapping[str, Any], weights: str = "") -> str:
    """The name of a system with its settings in a report.

    Args:
        name: of the system.
        parameters: that differ from its defaults; the device, which changes last bits, is left out.
        weights: version of its weights, which replaces the folders of paths.

    Example:
        >>> label("mcadams", {"high": 0.8, "low": 0.8}), label("mcadams", {})
        ('mcadams:high=0.8,low=0.8', 'mcadams')
        >>> label("base", {"weights": "/elsewhere/mine"}, "0123456789abcdef")
        'base:weights=mine@01234567'
    """
    said = [f"{k}={_text(v, weights)}" for k, v in sorted(parameters.items()) if k != "device"]
    return f"{name}:{','.join(said)}" if said else name


def unmeasured(anonymizer: Anonymizer) -> str:
    """Settings of a system that its card's figures are not of: those that differ from the defaults,
    but for the device and for places of weights that no package holds; and weights that the user
    put in place of bundled ones. Empty for default settings.

    Example:
        >>> unmeasured(load("mcadams", low=0.8, device="cpu")), unmeasured(load("vtln"))
        ('low=0.8', '')
    """
    defaults = {field.name: field.default for field in fields(anonymizer)}
    other = {
        name: value
        for name, value in anonymizer.parameters().items()
        if value != defaults[name] and name not in ("device", *anonymizer.unbundled)
    }
    said = label("", other).partition(":")[2]
    own = f"your weights in {anonymizer.own_weights}" if anonymizer.own_weights else ""
    return " and ".join(text for text in (said, own) if text)


def labelled(text: str) -> str:
    """The name in a report of a system with settings, from text as for :func:`parsed`.

    Raises:
        VoicenymError: as :func:`parsed`, or weights that are missing or damaged.

    Example:
        >>> labelled("mcadams:low=0.8,high=0.9"), labelled("vtln")
        ('mcadams:low=0.8', 'vtln')
    """
    name, settings = parsed(text)
    return label(name, settings, load(name, **settings).version) if settings else name


def _text(value: Any, weights: str) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    text = f"({value})" if "," in str(value) else str(value)
    digest = f"@{weights[:8]}" if weights else ""
    return PATH.sub(lambda path: re.split(r"[/\\]", path[0].rstrip("/\\"))[-1] + digest, text)
