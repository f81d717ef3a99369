"""Declaration of a system: its card and what its class says of it, read without importing it.

The modules of the systems import torch and their networks, which takes seconds. Cards are constants
in the source, so that a list of systems needs none of that.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from voicenym.anonymizer.anonymizer import Anonymizer
from voicenym.anonymizer.card import Card
from voicenym.isolation import ROOT

OURS = "voicenym."
"""Beginning of the names of the modules that are read."""
BASE = Anonymizer.__name__


@dataclass(frozen=True)
class Declaration:
    """Declarations of a system's class; its attributes are those of the class.

    Args:
        card: of the system.
        revisions: of this release, in rising order.
        compared_by: how outputs are compared with inputs.
        streams: whether it works live.
        running_averages: whether a live stream differs from the recording.
    """

    card: Card
    revisions: tuple[int, ...]
    compared_by: str
    streams: bool
    running_averages: bool = False


class NotConstantError(Exception):
    """An attribute of a class is computed when its module is imported."""


def of_class(cls: type[Anonymizer]) -> Declaration:
    """The declaration of an imported class."""
    return Declaration(cls.card, cls.revisions, cls.compared_by, cls.streams, cls.running_averages)


def of_source(place: str) -> Declaration:
    """The declaration of a class of this package, from its source.

    Args:
        place: of the class, ``"module:Class"``.

    Raises:
        NotConstantError: the module is another package's, or an attribute is not made of constants.
    """
    module, _, name = place.partition(":")
    card = _attribute(module, name, "card")
    if not isinstance(card, Card):
        raise NotConstantError(place)
    return Declaration(
        card.of_package(module.rpartition(".")[0]),
        _attribute(module, name, "revisions"),
        _attribute(module, name, "compared_by"),
        _attribute(module, name, "streams"),
        _attribute(module, name, "running_averages"),
    )


@cache
def _statements(module: str) -> tuple[ast.stmt, ...]:
    """Statements of a module of this package."""
    if not module.startswith(OURS):
        raise NotConstantError(module)
    path = Path(ROOT, *module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        return tuple(ast.parse(file.read_bytes()).body)
    except (OSError, SyntaxError):
        raise NotConstantError(module) from None


def _attribute(module: str, name: str, wanted: str) -> Any:
    """An attribute of a class, its own or of its first base."""
    for statement in _statements(module):
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            for line in statement.body:
                for target, value in _assigned(line):
                    if target == wanted:
                        return _value(module, value)
            base = statement.bases[0] if statement.bases else None
            if not isinstance(base, ast.Name):
                raise NotConstantError(name)
            if base.id == BASE:
                return getattr(Anonymizer, wanted, None)
            return _attribute(*_origin(module, base.id), wanted)
    raise NotConstantError(name)


def _origin(module: str, name: str) -> tuple[str, str]:
    """The module that a name of a module comes from, and its name there."""
    for statement in _statements(module):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name == (alias.asname or alias.name):
                    return statement.module or "", alias.name
    return module, name


def _constant(module: str, name: str) -> Any:
    """A constant of a module, or of the module that it imports it from."""
    there, original = _origin(module, name)
    if there != module:
        return _constant(there, original)
    for statement in _statements(module):
        for target, value in _assigned(statement):
            if target == name:
                return _value(module, value)
    raise NotConstantError(name)


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Names and values of an assignment; empty for other statements."""
    if isinstance(statement, ast.AnnAssign):
        pairs: list[tuple[ast.expr, ast.expr | None]] = [(statement.target, statement.value)]
    elif isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        else:
            pairs = [(target, value)]
    else:
        pairs = []
    return [(t.id, v) for t, v in pairs if isinstance(t, ast.Name) and v is not None]


def _value(module: str, node: ast.expr) -> Any:
    """The value of an expression of constants, tuples, text with values, and a card."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _constant(module, node.id)
    if isinstance(node, ast.Tuple):
        found: list[Any] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                found.extend(_value(module, item.value))
            else:
                found.append(_value(module, item))
        return tuple(found)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_value(module, part)) for part in node.values)
    if isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion < 0:
        return _value(module, node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Card":
        given = {item.arg: _value(module, item.value) for item in node.keywords if item.arg}
        if not node.args and len(given) == len(node.keywords):
            return Card(**given)
    raise NotConstantError(ast.unparse(node))
