"""Registry of named classes and functions, whose objects are made from ``name:field=value,...``."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from voicenym.errors import VoicenymError, quoted
from voicenym.registry.entry_points import OURS
from voicenym.registry.grammar import near, split
from voicenym.registry.names import Entry, Maker, Names
from voicenym.registry.parameters import WORDS, Parameter, parameters, summary, takes_any

T = TypeVar("T")


@dataclass(frozen=True)
class Description:
    """Description of a registered object.

    Args:
        name: in the registry.
        summary: first paragraph of its docstring, in one line.
        parameters: its fields, with types, defaults and help.
        package: of its declaration.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    package: str


class Registry(Names[T]):
    """Classes or functions by name.

    Entries are classes or functions, or their places ``"module:Attribute"``, which are imported
    at the first use. Errors about unknown names list similar names and all names; errors about
    parameters list all parameters and their types.

    Args:
        noun: kind of the objects, in the singular, for messages: ``"metric"``.
        places: by name; an :class:`Entry` for further data, such as a required library.
            :meth:`register` adds more.
        base: class of the objects. A parameter of that type accepts another object of this
            registry in parentheses: ``half:of=(copy)``.
        group: of entry points (:mod:`voicenym.registry.entry_points`), in which this package and
            others declare objects. Other packages cannot replace names of this package.
        error: class of the errors that are raised.
        attributes: that objects of other packages must have.
        nested: description of an object in parentheses, for messages.
        short: whether ``name:value`` sets the first parameter: ``gmm-ubm:./folder``.
        path: converts a path to text for parameters of text.

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
        attributes: tuple[str, ...] = (),
        nested: str = "",
        short: bool = False,
        path: Callable[[os.PathLike[str]], str] = os.fspath,
    ) -> None:
        super().__init__(noun, places, base=base, group=group, error=error)
        self._attributes, self._short, self._path = attributes, short, path
        self._words = dict(WORDS)
        if base is not None:
            self._words[base] = nested or f"a {noun} in parentheses"

    def with_defaults(self, defaults: Mapping[str, Mapping[str, Any]]) -> Registry[T]:
        """The same registry with defaults of parameters, which nested objects have as well.

        Args:
            defaults: values by field, by names of this package.
        """
        made = copy.copy(self)
        made.own = dict(self.own)
        for name, given in defaults.items():
            entry = self.own[name]
            made.own[name] = replace(entry, defaults={**entry.defaults, **given})
        return made

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """Parameters of a name, with registered defaults.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        defaults = self._entry(name).defaults
        return tuple(
            Parameter(item.name, item.annotation, defaults.get(item.name, item.default), item.help)
            for item in parameters(self.get(name))
        )

    def describe(self, name: str) -> Description:
        """Description of an object: its summary and its parameters.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        about = summary(self.get(name))
        return Description(name, about, self.parameters(name), self.package(name))

    def make(self, name: str, /, **options: Any) -> T:
        """Object by name and parameters.

        Raises:
            VoicenymError: an unknown name or parameter, a missing one, or a value of another type;
                and errors of the object itself.
        """
        maker, given = self.get(name), self.checked(name, options)
        if self.package(name) == OURS:
            return maker(**given)
        try:
            made = maker(**given)
        except VoicenymError:
            raise
        except (Exception, SystemExit) as error:  # such as an abstract class
            raise self.broken(name, f"{type(error).__name__}: {quoted(str(error))}") from error
        self._refuse_other_object(name, made)
        return made

    def load(self, text: str, /, **options: Any) -> T:
        """Object from ``name`` or ``name:field=value,field=value``.

        Args:
            text: a value in parentheses is a nested object, if the field has this type:
                ``distinct:angle=10,of=(selection:pool=P)``.
            options: further parameters, which override those in the text.

        Raises:
            VoicenymError: as :meth:`make`, and for text that is not of this form.
        """
        name, given = self.parse(text)
        return self.make(name, **{**given, **options})

    def parse(self, text: str) -> tuple[str, dict[str, Any]]:
        """Name and parameters of ``name:field=value,field=value``.

        Raises:
            VoicenymError: as :meth:`load`.
        """
        if not isinstance(text, str):
            raise self.error(
                f"{self.noun}: a name is text, not {type(text).__name__}; there are: "
                f"{', '.join(self.names())}"
            )
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
        """Parameters from texts ``field=value``, as of a repeated option.

        Args:
            name: of the object.
            pairs: the texts.
            option: of the command line, for messages.

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
            field = key.strip()
            if given.setdefault(field, text) != text:
                raise self.error(
                    f"{option} {field}: has two values, {given[field][:80]!r} and {text[:80]!r}; "
                    "give one"
                )
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
        """Checked parameters, with registered defaults.

        Raises:
            VoicenymError: as :meth:`make`.
        """
        known = {item.name: item for item in parameters(self.get(name))}
        given = {**self._entry(name).defaults, **options}
        self.check_names(name, given)
        missing = [key for key, item in known.items() if item.required and key not in given]
        if missing:
            base, first = self.base, known[missing[0]]
            what = f", {self._words[base]}" if base is not None and first.takes(base) else ""
            raise self.error(f"{name} needs {', '.join(missing)}: {name}:{missing[0]}=...{what}")
        for key, value in given.items():
            item = known.get(key, Parameter(key))
            if isinstance(value, os.PathLike) and item.takes(str) and not item.takes(type(value)):
                given[key] = value = self._path(value)
            self._refuse_other_type(name, item, value, value)
            given[key] = item.plain(value)
        return given

    def check_names(self, name: str, given: Iterable[str]) -> None:
        """Refuses parameters that an object does not have.

        Raises:
            VoicenymError: the message lists its parameters.
        """
        known = [item.name for item in parameters(self.get(name))]
        unknown = sorted(set(given) - set(known))
        if unknown and not takes_any(self.get(name)):
            raise self.error(
                f"{name} has no parameter {quoted(', '.join(unknown))}{near(unknown[0], known)}; "
                f"it has: {', '.join(known) or 'none'}"
            )

    def _refuse_other_object(self, name: str, made: Any) -> None:
        """Refuses what another package's class or function makes, if it is none of ours' kind."""
        if self.base is not None and not isinstance(made, self.base):
            raise self.broken(name, f"it makes a {type(made).__name__}, which is no {self.noun}")
        for attribute in self._attributes:
            if not hasattr(made, attribute):
                raise self.broken(name, f"its attribute {attribute} is missing")

    def _refuse_other_type(self, name: str, item: Parameter, value: Any, given: Any) -> None:
        if not item.accepts(value):
            value_text = repr(given)
            value_text = value_text if len(value_text) <= 80 else f"{value_text[:80]}..."
            raise self.error(
                f"{name}: {item.name} is {item.describe(self._words)}, which {value_text} is not"
            )
