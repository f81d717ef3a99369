"""Registry: a set of things by name, made from ``name:field=value,field=value``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from voicenym.errors import VoicenymError, quoted
from voicenym.registry.grammar import near, split
from voicenym.registry.names import Entry, Maker, Names
from voicenym.registry.parameters import WORDS, Parameter, parameters, summary, takes_any

T = TypeVar("T")


@dataclass(frozen=True)
class Description:
    """What a registered thing is.

    Args:
        name: in the registry.
        summary: first paragraph of its docstring, in one line.
        parameters: its fields, with types, defaults and help.
        package: that it comes from.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    package: str


class Registry(Names[T]):
    """Classes or functions by name.

    What is registered is a class or function, or its place ``"module:Attribute"``, which is
    imported when it is first asked for. Every message on a name that is not there names the near
    ones and all there are; one on a parameter names those there are and their types.

    Args:
        noun: what the things are, in the singular, for messages: ``"metric"``.
        places: by name; an :class:`Entry` where there is more to say, such as a library that is
            needed. More are added by :meth:`register`.
        base: class of what is made. A parameter of that type accepts another thing of this
            registry in parentheses: ``half:of=(copy)``.
        group: of entry points (:mod:`voicenym.registry.entry_points`), by which this package and
            others declare things. A name of this package's cannot be taken by another.
        error: class of the errors that are raised.
        nested: how messages describe a thing in parentheses.
        short: ``name:value`` gives the first parameter: ``gmm-ubm:./folder``.
        path: gives the text of a path where a parameter takes text.

    Example:
        >>> from fractions import Fraction
        >>> NUMBERS = Registry("number", {"fraction": "fractions:Fraction"})
        >>> @NUMBERS.register("double")
        ... def double(value: float = 1.0) -> float:
        ...     '''Twice a value.
        ...
        ...     Args:
        ...         value: any number.
        ...     '''
        ...     return 2 * value
        >>> NUMBERS.names()
        ['double', 'fraction']
        >>> NUMBERS.load("double:value=1.5"), NUMBERS.make("double", value=2)
        (3.0, 4)
        >>> found = NUMBERS.describe("double")
        >>> found.summary, [(item.name, item.default, item.help) for item in found.parameters]
        ('Twice a value.', [('value', 1.0, 'any number.')])
        >>> NUMBERS.load("duoble")
        Traceback (most recent call last):
            ...
        voicenym.errors.VoicenymError: no number 'duoble' (did you mean double?); there are: ...
    """

    def __init__(
        self,
        noun: str,
        places: Mapping[str, str | Maker[T] | Entry] | None = None,
        *,
        base: type[T] | None = None,
        group: str = "",
        error: type[VoicenymError] = VoicenymError,
        nested: str = "",
        short: bool = False,
        path: Callable[[os.PathLike[str]], str] = os.fspath,
    ) -> None:
        super().__init__(noun, places, base=base, group=group, error=error)
        self._short, self._path = short, path
        self._words = dict(WORDS)
        if base is not None:
            self._words[base] = nested or f"a {noun} in parentheses"

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """The parameters of a name, with the defaults that were registered.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        defaults = self._entry(name).defaults
        return tuple(
            Parameter(item.name, item.annotation, defaults.get(item.name, item.default), item.help)
            for item in parameters(self.get(name))
        )

    def describe(self, name: str) -> Description:
        """What a thing is: its summary and its parameters.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        about = summary(self.get(name))
        return Description(name, about, self.parameters(name), self.package(name))

    def make(self, name: str, /, **options: Any) -> T:
        """A thing by name and parameters.

        Raises:
            VoicenymError: no such name or parameter, one that is required and missing, or a value
                of another type; and what the thing itself raises.
        """
        return self.get(name)(**self.checked(name, options))

    def load(self, text: str, /, **options: Any) -> T:
        """A thing from ``name`` or ``name:field=value,field=value``.

        Args:
            text: a value in parentheses is a thing again, where the field is one of those:
                ``distinct:angle=10,of=(selection:pool=P)``.
            options: more parameters, in place of those in the text.

        Raises:
            VoicenymError: as :meth:`make`, and for text that is not of this form.
        """
        name, given = self.parse(text)
        return self.make(name, **{**given, **options})

    def parse(self, text: str) -> tuple[str, dict[str, Any]]:
        """The name and the parameters in ``name:field=value,field=value``.

        Raises:
            VoicenymError: as :meth:`load`.
        """
        name, _, rest = text.strip().partition(":")
        if self._short and rest and name in self:
            known = [item.name for item in self.parameters(name)]
            if known and rest.partition("=")[0].strip() not in known:
                return name, self.values(name, {known[0]: rest})
        try:
            name, given = split(text)
        except ValueError as error:
            self._entry(name.strip())
            raise self.error(f"{self.noun} {text[:80]!r}: {error}") from None
        return name, self.values(name, given)

    def settings(self, name: str, pairs: Iterable[str], option: str = "--set") -> dict[str, Any]:
        """Parameters from texts ``field=value``, as of an option that is given several times.

        Args:
            name: whose parameters.
            pairs: the texts.
            option: that they are of, for messages.

        Raises:
            VoicenymError: as :meth:`load`.
        """
        given: dict[str, str] = {}
        for pair in pairs:
            key, equals, text = pair.partition("=")
            if not equals:
                there = ", ".join(item.name for item in self.parameters(name))
                raise self.error(
                    f"{option} {pair[:80]}: expected NAME=VALUE with NAME one of {there}"
                )
            given[key.strip()] = text
        return self.values(name, given)

    def values(self, name: str, given: Mapping[str, str]) -> dict[str, Any]:
        """Parameters from texts by field.

        Raises:
            VoicenymError: as :meth:`load`, but for parameters that are missing.
        """
        known = {item.name: item for item in self.parameters(name)}
        self.check_names(name, given)
        found = {}
        for key, text in given.items():
            item = known.get(key, Parameter(key))
            inside = text.startswith("(") and text.endswith(")")
            nested = inside and self.base is not None and item.takes(self.base)
            found[key] = self.load(text[1:-1]) if nested else item.value(text)
            self._refuse_other_type(name, item, found[key], text)
        return found

    def checked(self, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters that fit, with the defaults that were registered.

        Raises:
            VoicenymError: as :meth:`make`.
        """
        known = {item.name: item for item in parameters(self.get(name))}
        given = {**self._entry(name).defaults, **options}
        self.check_names(name, given)
        missing = [key for key, item in known.items() if item.required and key not in given]
        if missing:
            raise self.error(f"{name} needs {', '.join(missing)}: {name}:{missing[0]}=...")
        for key, value in given.items():
            item = known.get(key, Parameter(key))
            if isinstance(value, os.PathLike) and item.takes(str) and not item.takes(type(value)):
                given[key] = value = self._path(value)
            self._refuse_other_type(name, item, value, value)
        return given

    def check_names(self, name: str, given: Iterable[str]) -> None:
        """Refuse parameters that a thing does not have.

        Raises:
            VoicenymError: with those it has.
        """
        known = [item.name for item in parameters(self.get(name))]
        unknown = sorted(set(given) - set(known))
        if unknown and not takes_any(self.get(name)):
            raise self.error(
                f"{name} has no parameter {quoted(', '.join(unknown))}{near(unknown[0], known)}; "
                f"it has: {', '.join(known) or 'none'}"
            )

    def _refuse_other_type(self, name: str, item: Parameter, value: Any, given: Any) -> None:
        if not item.accepts(value):
            shown = repr(given)
            shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
            raise self.error(
                f"{name}: {item.name} is {item.describe(self._words)}, which {shown} is not"
            )
