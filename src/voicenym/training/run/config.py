"""Configurations of recipes: frozen dataclasses, filled from YAML."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.names_and_paths import hint, is_path
from voicenym.registry.grammar import near, quoted_name

T = TypeVar("T")
MOST_LISTED = 400
"""Longest list of fields in a message, in characters; longer ones refer to the command's help."""
FORMER = {"base-evened.yaml": "base-normalised.yaml"}
"""Bundled configurations, by the names of earlier releases."""
MOST = {"seed": 2**32 - 1}
"""Greatest values of such numbers; numpy takes no greater seed."""
LEAST = {"steps": 1, "every": 1, "batch": 1, "seed": 0}
"""Least values of whole numbers that configurations have in common. Without a step or a validation
a training would keep the weights that it began with."""


def bundled() -> list[str]:
    """Names of bundled configurations."""
    folder = files("voicenym.training") / "configs"
    return sorted(p.name for p in folder.iterdir() if p.name.endswith(".yaml"))


def _names() -> str:
    """Bundled configurations as text for messages."""
    return ", ".join(name.removesuffix(".yaml") for name in bundled())


def load(name: str, kind: type[T]) -> T:
    """A configuration from a YAML file, or one of :func:`bundled` by its name.

    Args:
        name: a path, with a separator (``./my.yaml``); or a name, with or without ``.yaml``.
        kind: dataclass that it fills; fields that are dataclasses are filled in turn.

    Raises:
        VoicenymError: no such file, or an unknown field.
    """
    try:
        import yaml
    except ImportError as error:
        raise DependencyError("training: pip install 'voicenym[train]'") from error
    if is_path(name):
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise VoicenymError(
                f"{name}: cannot be read as a configuration ({why}); give a YAML file, or the name "
                "of a bundled configuration"
            ) from None
    else:
        short = name if name.endswith(".yaml") else f"{name}.yaml"
        short = FORMER.get(short, short)
        if short not in bundled():
            raise VoicenymError(
                f"{name}: no such configuration; give a YAML file, or one of: "
                f"{_names()}{hint(name)}"
            )
        text = (files("voicenym.training") / "configs" / short).read_text("utf-8")
    try:
        values = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise VoicenymError(f"{name}: no YAML ({str(error).splitlines()[0]})") from None
    return build(kind, values, name)


def build(kind: type[T], values: Any, name: str) -> T:
    """A dataclass from a mapping.

    Args:
        kind: of dataclass. Its class attribute ``FORMER_NAMES``, if there is one, maps names of
            earlier configurations to fields, so that these stay readable.
        values: by its fields' names.
        name: of where they come from, for errors.

    Raises:
        VoicenymError: no mapping, an unknown field, or a value that does not fit.
    """
    if not isinstance(values, Mapping):
        raise VoicenymError(f"{name}: must be a list of 'field: value'")
    values = _with_present_names(values, getattr(kind, "FORMER_NAMES", {}), name)
    fields: dict[str, Any] = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(map(str, set(values) - set(fields)))
    if unknown:
        there = ", ".join(fields)
        listed = (
            f"there are: {there}"
            if len(there) <= MOST_LISTED
            else ("voicenym train RECIPE --help lists them")
        )
        raise VoicenymError(
            f"{name}: no field {quoted_name(unknown[0])}{near(unknown[0], fields)}; {listed}"
        )
    filled: dict[str, Any] = {}
    for key, value in values.items():
        default = _default(fields[key])
        if dataclasses.is_dataclass(default):
            filled[key] = build(type(default), value, f"{name}, {key}")
        elif isinstance(default, tuple) and isinstance(value, list):
            filled[key] = _elements(value, default, f"{name}, {key}")
        elif isinstance(value, bool) and not isinstance(default, bool | None):
            raise VoicenymError(f"{name}, {key}: {value!r} is no {type(default).__name__}")
        elif isinstance(default, float) and isinstance(value, int | float | str):
            filled[key] = _number(value, f"{name}, {key}")
        elif default is None or isinstance(value, type(default)):
            filled[key] = _within(key, value, default, f"{name}, {key}")
        else:
            raise VoicenymError(f"{name}, {key}: {value!r} is no {type(default).__name__}")
    try:
        return kind(**filled)
    except VoicenymError as error:
        raise VoicenymError(f"{name}: {error}") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise VoicenymError(f"{name}: {error}") from None


def changed(recipe: T, **changes: Any) -> T:
    """Configuration with some fields changed; values of None change nothing."""
    given = {name: value for name, value in changes.items() if value is not None}
    return dataclasses.replace(recipe, **given)  # type: ignore[type-var]


def _with_present_names(
    values: Mapping[Any, Any], former: Mapping[str, str], name: str
) -> dict[Any, Any]:
    """Values by the present names of fields.

    Raises:
        VoicenymError: a field under its former and its present name.
    """
    renamed: dict[Any, Any] = {}
    for key, value in values.items():
        present = former.get(key, key)
        if present in renamed:
            raise VoicenymError(f"{name}: gives {present!r} twice, under its former name too")
        renamed[present] = value
    return renamed


def _default(field: Any) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return None if field.default_factory is dataclasses.MISSING else field.default_factory()


def _number(value: float | str, where: str) -> float:
    try:
        found = float(value)  # YAML reads 1e-3 as a string
    except (TypeError, ValueError):
        raise VoicenymError(f"{where}: {value!r} is no number") from None
    if not math.isfinite(found):
        raise VoicenymError(f"{where}: {found} is no finite number")
    if where.endswith(", rate") and found <= 0.0:
        raise VoicenymError(f"{where}: a rate is above 0, not {found:g}")
    if where.endswith(", held_out") and not 0.0 <= found <= 1.0:
        raise VoicenymError(f"{where}: a share of the speakers is from 0 to 1, not {found:g}")
    return found


def _elements(values: list[Any], default: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """A list as a tuple of elements of the default's kind, where that is one of numbers."""
    kinds = {type(element) for element in default}
    if kinds == {float}:
        return tuple(_number(value, where) for value in values)
    for value in values:
        if kinds == {int} and type(value) is not int:
            raise VoicenymError(f"{where}: {value!r} is no int")
    return tuple(values)


def _within(key: str, value: Any, default: Any, where: str) -> Any:
    """The value, within the limits of its field."""
    if isinstance(default, int) and value > MOST.get(key, value):
        raise VoicenymError(f"{where}: {MOST[key]} at most, not {value}")
    if isinstance(default, int) and value < LEAST.get(key, value):
        raise VoicenymError(f"{where}: {LEAST[key]} at least, not {value}")
    return value
