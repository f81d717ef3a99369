"""Names of a registry: those of this package, and declarations of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass
from typing import Any, Generic, TypeVar

from voicenym.errors import VoicenymError, quoted
from voicenym.registry.entry_points import OURS, entry_points
from voicenym.registry.grammar import near, quoted_name

T = TypeVar("T")
Maker = Callable[..., T]


@dataclass(frozen=True)
class Entry:
    """An entry of a registry.

    Args:
        target: ``"module:Attribute"``, or the class or function itself.
        needs: a required library.
        defaults: of parameters, which override those of the signature.
        package: of its declaration.
    """

    target: Any
    needs: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    package: str = OURS


class Names(Generic[T]):
    """Classes or functions by name, imported at the first use.

    Args:
        noun: kind of the objects, in the singular, for messages: ``"metric"``.
        places: by name: a class or function, its place ``"module:Attribute"``, or an
            :class:`Entry` for further data, such as a required library.
        base: class of the objects; other packages' classes must derive from it.
        group: of entry points (:mod:`voicenym.registry.entry_points`).
        error: class of the errors that are raised.
    """

    def __init__(
        self,
        noun: str,
        places: Mapping[str, str | Maker[T] | Entry] | None = None,
        *,
        base: type[T] | None = None,
        group: str = "",
        error: type[VoicenymError] = VoicenymError,
    ) -> None:
        self.noun, self.base, self.group, self.error = noun, base, group, error
        self.own = {
            name: place if isinstance(place, Entry) else Entry(place)
            for name, place in (places or {}).items()
        }
        """Entries of this package by name."""

    def register(
        self,
        name: str,
        target: str | Maker[T] | None = None,
        /,
        *,
        needs: str = "",
        **defaults: Any,
    ) -> Any:
        """Adds a class or function, or its place; also a decorator.

        Args:
            name: in the registry.
            target: the object, or ``"module:Attribute"``; None for a decorator.
            needs: a required library, for :meth:`installed`.
            defaults: of parameters, which override those of the signature.

        Raises:
            ValueError: the name exists; a defect of the calling code.
        """
        if name in self.own:
            raise ValueError(f"{self.noun} {name!r} is registered twice")
        if target is None:
            return lambda decorated: self.register(name, decorated, needs=needs, **defaults)
        self.own[name] = Entry(target, needs, defaults)
        return target

    def names(self) -> list[str]:
        """All names, in alphabetical order; entries with a place are not imported."""
        return sorted(self._all())

    def installed(self) -> list[str]:
        """Names whose library is installed, in alphabetical order."""
        entries = self._all()
        return [name for name in sorted(entries) if _is_there(entries[name].needs)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def get(self, name: str) -> Maker[T]:
        """The class or function of a name.

        Raises:
            VoicenymError: an unknown name, or a class of another package that cannot be imported.
        """
        entry = self._entry(name)
        if not isinstance(entry.target, str):
            target: Maker[T] = entry.target
            return target
        module, _, attribute = entry.target.partition(":")
        if entry.package == OURS:
            found: Maker[T] = getattr(import_module(module), attribute)
            return found
        try:
            theirs: Maker[T] = getattr(import_module(module), attribute)
        except (Exception, SystemExit) as error:  # whatever their code does, ours goes on
            raise self.broken(name, f"{type(error).__name__}: {quoted(str(error))}") from error
        if not callable(theirs) or not self._fits(theirs):
            raise self.broken(name, f"{entry.target} is no {self.noun}")
        return theirs

    def package(self, name: str) -> str:
        """The package that declares a name.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        return self._entry(name).package

    def place(self, name: str) -> str:
        """Place ``"module:Attribute"`` of an object, which is not imported; empty if the object
        itself is registered.

        Raises:
            VoicenymError: as :meth:`get`.
        """
        target = self._entry(name).target
        return target if isinstance(target, str) else ""

    def unknown(self, name: str) -> VoicenymError:
        """Error about an unknown name, with those that are known."""
        there = self.names()
        more = ""
        if self.group and not there:
            more = f"; the metadata of {OURS} is missing: install {OURS} with pip"
        message = f"no {self.noun} {quoted_name(name)}{near(name, there)}; there are: "
        return self.error(f"{message}{', '.join(there) or 'none'}{more}")

    def _all(self) -> dict[str, Entry]:
        if not self.group:
            return self.own
        found: dict[str, Entry] = {}
        for point in entry_points(self.group):
            found.setdefault(point.name, Entry(point.place, package=point.package))
        return {**found, **self.own}

    def _entry(self, name: str) -> Entry:
        entries = self._all()
        if name not in entries:
            raise self.unknown(name)
        entry = entries[name]
        if entry.package != OURS:
            declared = [p for p in entry_points(self.group) if p.name == name]
            if len(declared) > 1:
                packages = " and ".join(point.package for point in declared)
                raise self.error(
                    f"{self.noun} {name!r} is declared by several packages, {packages}; uninstall "
                    "all but one"
                )
        return entry

    def _fits(self, target: Any) -> bool:
        return self.base is None or not isclass(target) or issubclass(target, self.base)

    def broken(self, name: str, why: str) -> VoicenymError:
        """Error about a declared object that cannot be used.

        Args:
            name: of the object.
            why: reason.
        """
        package = self._entry(name).package
        return self.error(
            f"{self.noun} {name!r} of the package {package} cannot be used ({why}); update or "
            f"uninstall {package}"
        )


def _is_there(library: str) -> bool:
    return not library or find_spec(library) is not None
