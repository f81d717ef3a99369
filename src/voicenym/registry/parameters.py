"""Parameters of a class or function: names, types, defaults, help, and values from text."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

REQUIRED: Final = inspect.Parameter.empty
"""Default of a parameter that has none."""
WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
}
"""Names of types in messages."""
CONSTANTS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a class or function.

    Args:
        name: as in the signature.
        annotation: its type; ``Any`` without one, or if it cannot be resolved.
        default: :data:`REQUIRED` without one.
        help: its text in the docstring's section ``Args``; empty without one.
    """

    name: str
    annotation: Any = Any
    default: Any = REQUIRED
    help: str = ""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    def takes(self, kind: Any) -> bool:
        """Whether a type is one of those that the annotation allows."""
        return kind in alternatives(self.annotation)

    def accepts(self, value: Any) -> bool:
        """Whether a value is of the annotated type; the choices of a ``Literal`` of words are not
        checked, because the object's own error about them is better.
        """
        return _is(value, self.annotation)

    def plain(self, value: Any) -> Any:
        """A number of NumPy or of another library as Python's own; other values as they are.

        Objects, their reprs and records of settings are then the same for equal numbers.

        Args:
            value: that :meth:`accepts`.
        """
        kind: type = type(value)
        if not isinstance(value, Real) or kind in (bool, int, float):
            return value
        if self.takes(int) and isinstance(value, Integral):
            return int(value)
        return float(value) if self.takes(float) else value

    def describe(self, others: Mapping[Any, str] = WORDS) -> str:
        """The type in words, such as ``a whole number``.

        Args:
            others: words for further types.
        """
        kinds = alternatives(self.annotation)
        words = [_word(kind, others, alone=len(kinds) == 1) for kind in kinds]
        return " or ".join(word for word in words if word) or "another value"

    def value(self, text: str) -> Any:
        """A value from text, by the annotated type.

        If text is allowed, it is the text itself: a folder's name may be a number. Else it is a
        path, a number, ``true``, ``false``, ``none``, or numbers in parentheses. Other texts are
        returned as text, which :meth:`accepts` refuses.
        """
        if self.takes(str):
            return text
        if self.takes(Path):
            return Path(text)
        for kind in (int, float):
            if self.takes(kind):
                try:
                    return kind(text)
                except ValueError:
                    continue
        if text.lower() in CONSTANTS:
            return CONSTANTS[text.lower()]
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return text
        return value if isinstance(value, int | float | tuple) else text


def parameters(target: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a class or function by keyword, in their order.

    Args:
        target: a dataclass, another class, a function or a :func:`functools.partial`.

    Example:
        >>> [item.name for item in parameters(Parameter)]
        ['name', 'annotation', 'default', 'help']
    """
    helps = _helps(target)
    if inspect.isclass(target) and dataclasses.is_dataclass(target):
        hints = _hints(target)
        return tuple(
            Parameter(
                item.name, hints.get(item.name, Any), _default(item), helps.get(item.name, "")
            )
            for item in dataclasses.fields(target)
            if item.init
        )
    hints = _hints(_function(target))
    return tuple(
        Parameter(
            name,
            hints.get(name, Any),
            item.default,
            helps.get(name, ""),
        )
        for name, item in _signature(target).parameters.items()
        if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
    )


def takes_any(target: Callable[..., Any]) -> bool:
    """Whether a class or function has ``**parameters``."""
    found = _signature(target).parameters.values()
    return any(item.kind is item.VAR_KEYWORD for item in found)


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The types of an annotation: two of ``float | None``."""
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


def summary(target: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    text = inspect.getdoc(target) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _default(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return REQUIRED if item.default is dataclasses.MISSING else item.default


def _signature(target: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(target)
    except ValueError:  # some built-in ones have none; they check what they are given
        return inspect.Signature([inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)])


def _function(target: Any) -> Any:
    """Function with the annotations of a callable's parameters."""
    while isinstance(target, functools.partial):
        target = target.func
    if inspect.isclass(target):
        return target.__init__
    return target


def _hints(target: Any) -> dict[str, Any]:
    """Resolved annotations; those that cannot be resolved here are left out.

    Imports for the type checker alone leave names that do not exist at run time.
    """
    try:
        return get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        pass
    found: dict[str, Any] = {}
    for holder in reversed(target.__mro__) if inspect.isclass(target) else (target,):
        module = sys.modules.get(getattr(holder, "__module__", ""))
        for name, annotation in getattr(holder, "__annotations__", {}).items():
            alone = type("_", (), {"__annotations__": {name: annotation}})
            try:
                found.update(get_type_hints(alone, vars(module) if module else {}))
            except (NameError, TypeError, AttributeError):
                found.pop(name, None)
    return found


def _helps(target: Any) -> dict[str, str]:
    """Texts of the sections ``Args`` by parameter; a subclass inherits those of its bases."""
    while isinstance(target, functools.partial):
        target = target.func
    holders = [target]
    if inspect.isclass(target):
        holders = [
            item for cls in reversed(target.__mro__) for item in (cls, vars(cls).get("__init__"))
        ]
    found: dict[str, str] = {}
    for holder in holders:
        found.update(arguments_of(getattr(holder, "__doc__", None) or ""))
    return found


def arguments_of(docstring: str) -> dict[str, str]:
    r"""Texts of a docstring's section ``Args`` by name; ``one, other: text`` is a text of both.

    Example:
        >>> arguments_of("Cuts.\n\nArgs:\n    start, stop: in samples.\n")
        {'start': 'in samples.', 'stop': 'in samples.'}
    """
    section = _ARGS.search(inspect.cleandoc(docstring) + "\n")
    if section is None:
        return {}
    return {
        name.strip(): " ".join(about.split())
        for names, about in _ARG.findall(section[1])
        for name in names.split(",")
    }


_ARGS = re.compile(r"^Args:\n((?:[ ]{4}.*(?:\n|\Z)|\n)+)", re.MULTILINE)
_ARG = re.compile(r"^[ ]{4}(\w+(?:, \w+)*): (.*(?:\n[ ]{5,}.*)*)", re.MULTILINE)


def _is(value: Any, annotation: Any) -> bool:
    return any(_is_kind(value, kind) for kind in alternatives(annotation))


def _is_kind(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin is Literal:
        return isinstance(value, str) or value in get_args(kind)
    if origin is tuple:
        inside = get_args(kind)
        if not isinstance(value, tuple):
            return False
        if len(inside) == 2 and inside[1] is Ellipsis:
            inside = inside[:1] * len(value)
        return len(value) == len(inside) and all(map(_is, value, inside))
    if kind in (int, float):
        number = Integral if kind is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if kind is None or kind is NoneType:
        return value is None
    checked = origin or kind
    if not inspect.isclass(checked) or checked is object:
        return True  # Any, a type variable: nothing can be said
    try:
        return isinstance(value, checked)
    except TypeError:  # a protocol without run-time checks
        return True


def _word(kind: Any, others: Mapping[Any, str], *, alone: bool) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) is tuple:
        return "numbers in parentheses, such as (1.1,1.3)"
    if kind is str and not alone:
        return "a folder"
    try:
        return others.get(kind, "")
    except TypeError:  # cannot be hashed
        return ""
