"""Identity methods by name."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity


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
        UnknownSystemError: for an unknown name or parameter, or one that is needed and missing.
    """
    cls = identity_class(name)
    fields = {item.name: item for item in dataclasses.fields(cls)}
    unknown = sorted(set(parameters) - set(fields))
    if unknown:
        raise UnknownSystemError(
            f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(fields) or 'none'}"
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
    return cls(**parameters)
