"""Systems by name: :func:`load`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from voicenym.anonymizer.anonymizer import Anonymizer, listed
from voicenym.errors import UnknownSystemError, WeightsError, quoted


def available() -> list[str]:
    """Names of all systems, in alphabetical order; imports none of them."""
    package = import_module("voicenym.systems")
    return sorted(module.name.replace("_", "-") for module in iter_modules(package.__path__))


def usable(left_out: Callable[[str, str], None] = lambda name, why: None) -> list[str]:
    """Names of the systems that have the weights they need, in alphabetical order.

    Args:
        left_out: told the name of each other one, and what it lacks.

    Raises:
        VoicenymError: weights are there, and damaged or do not fit.
    """
    found = []
    for name in available():
        try:
            load(name).check()
        except WeightsError as error:
            left_out(name, str(error))
        else:
            found.append(name)
    return found


def system_class(name: str) -> type[Anonymizer]:
    """The class of a system.

    Raises:
        UnknownSystemError: with the names there are.
    """
    if name not in available():
        raise UnknownSystemError(f"no system {name!r}; there are: {', '.join(available())}")
    module = import_module(f"voicenym.systems.{name.replace('-', '_')}")
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, Anonymizer)
            and value.__module__ == module.__name__
        ):
            return value
    raise TypeError(f"{module.__name__} holds no Anonymizer")


def revisions() -> dict[str, int]:
    """The latest revision of every system, by name."""
    return {name: system_class(name).revisions[-1] for name in available()}


def load(name: str, **parameters: Any) -> Anonymizer:
    """A system by name.

    Args:
        name: one of :func:`available`.
        parameters: fields of the system, such as ``order=20`` or ``device="cuda"``.

    Raises:
        UnknownSystemError: for an unknown name or parameter, or a value out of range.

    Example:
        >>> load("mcadams", low=0.7, high=0.9).low
        0.7
    """
    cls = system_class(name)
    known = [item.name for item in dataclasses.fields(cls)]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise UnknownSystemError(
            f"{name} has no parameter {quoted(', '.join(unknown))}; "
            f"it has: {', '.join(sorted(known))}"
        )
    revision = parameters.get("revision", 0)
    if revision and revision not in cls.revisions:
        raise UnknownSystemError(
            f"{name} has no revision {revision}; it has: {listed(cls.revisions)}"
        )
    return cls(**parameters)
