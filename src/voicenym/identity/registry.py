"""Identity methods by name."""

from __future__ import annotations

import dataclasses
import os
from importlib import import_module
from numbers import Integral, Real
from pkgutil import iter_modules
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from voicenym.errors import UnknownSystemError, quoted
from voicenym.identity.method import Identity
from voicenym.nets.names_and_paths import as_path


def _classes() -> dict[str, type[Identity]]:
    """Every method in this room by its name."""
    package = import_module("voicenym.identity")
    found: dict[str, type[Identity]] = {}
    for item in iter_modules(package.__path__):
        module = import_module(f"voicenym.identity.{item.name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, Identity)
                and value.__module__ == module.__name__
                and "name" in vars(value)
            ):
                found[value.name] = value
    return found


def identities() -> list[str]:
    """Names of all methods, in alphabetical order."""
    return sorted(_classes())


def identity_class(name: str) -> type[Identity]:
    """The class of a method.

    Raises:
        UnknownSystemError: with the names there are.
    """
    classes = _classes()
    if name not in classes:
        raise UnknownSystemError(f"no identity {name!r}; there are: {', '.join(sorted(classes))}")
    return classes[name]


def identity(name: str, **parameters: Any) -> Identity:
    """A method by name.

    Args:
        name: one of :func:`identities`.
        parameters: fields of the method.

    Raises:
        UnknownSystemError: for an unknown name or parameter, one that is needed and missing, or a
            value of another kind.
    """
    cls = identity_class(name)
    fields = {item.name: item for item in dataclasses.fields(cls)}
    unknown = sorted(set(parameters) - set(fields))
    if unknown:
        raise UnknownSystemError(
            f"{name} has no parameter {quoted(', '.join(unknown))}; "
            f"it has: {', '.join(fields) or 'none'}"
        )
    needed = [
        item.name
        for item in fields.values()
        if item.default is dataclasses.MISSING
        and item.default_factory is dataclasses.MISSING
        and item.name not in parameters
    ]
    if needed:
        raise UnknownSystemError(f"{name} needs {', '.join(needed)}: {name}:{needed[0]}=...")
    hints = get_type_hints(cls)
    for field, value in parameters.items():
        if isinstance(value, os.PathLike) and str in kinds(hints[field]):
            parameters[field] = value = as_path(value)
        if not _is(value, hints[field]):
            raise UnknownSystemError(
                f"{name}: {field} is {_told(hints[field])}, which {value!r} is not"
            )
    return cls(**parameters)


def kinds(hint: Any) -> tuple[Any, ...]:
    """What a field may be, by its annotation: ``float | None`` is two kinds."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _is(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says; choices of words are the method's to check."""
    for kind in kinds(hint):
        origin = get_origin(kind)
        if origin is Literal:
            fits = isinstance(value, str)
        elif origin is tuple:
            inside = get_args(kind)
            endless = len(inside) == 2 and inside[1] is Ellipsis
            wanted = inside[:1] * len(value) if endless and isinstance(value, tuple) else inside
            fits = isinstance(value, tuple) and len(value) == len(wanted)
            fits = fits and all(map(_is, value, wanted))
        elif kind in (int, float):
            number = Integral if kind is int else Real
            fits = isinstance(value, number) and not isinstance(value, bool)
        else:
            fits = isinstance(value, kind)
        if fits:
            return True
    return False


def _told(hint: Any) -> str:
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    found = []
    for kind in kinds(hint):
        if get_origin(kind) is Literal:
            found.append(f"one of {', '.join(get_args(kind))}")
        elif get_origin(kind) is tuple:
            found.append("numbers in parentheses, such as (1.1,1.3)")
        elif kind is Identity:
            found.append("a method in parentheses, such as (selection:pool=FOLDER)")
        elif kind in words:
            found.append("a folder" if kind is str and len(kinds(hint)) > 1 else words[kind])
    return " or ".join(found)
