"""Registries of network architectures: made from options, stored in folders, and loaded.

A network's name and the arguments that rebuild it stand in its folder's configuration
(:mod:`voicenym.nets.checkpoint`), as ``kind`` and ``options``. A module is imported when one of its
networks is made.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import MISMATCHES, fill, read, rebuilding, write
from voicenym.nets.weights.integer_weights import dequantised, quantised
from voicenym.registry import Registry

State = Mapping[str, torch.Tensor]


class Network(torch.nn.Module, ABC):
    """A network that can be stored in a folder.

    Attributes:
        kind: name of the architecture, for files.
    """

    kind: str

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """Arguments that rebuild the network, fit for JSON."""


N = TypeVar("N", bound=Network)
D = TypeVar("D")


@dataclass(frozen=True)
class Kinds(Generic[N]):
    """The networks of one use.

    Args:
        use: their kind in the singular, for errors.
        places: module and class, ``"module:Class"``, by name.
        stored: what is kept of a state.
    """

    use: str
    places: Mapping[str, str]
    stored: Callable[[State], State] = dict

    @cached_property
    def registry(self) -> Registry[N]:
        """The networks by name."""
        return Registry(self.use, self.places)

    def make(self, kind: str, options: Mapping[str, Any]) -> N:
        """A new network.

        Args:
            kind: one of the names.
            options: of its construction.

        Raises:
            VoicenymError: no such kind, or options that it does not take.
        """
        built = self.registry.get(kind)
        self.registry.check_names(kind, options)
        with options_checked(kind):
            return built(**options)

    def save(
        self,
        network: N,
        folder: Path,
        card: Mapping[str, Any] | None = None,
        *,
        half: bool = False,
        bits: int = 0,
        **about: Any,
    ) -> None:
        """Keep a network in a folder.

        Args:
            network: of any of the kinds.
            folder: made where there is none.
            card: how it was trained and what it reaches.
            half: in half precision.
            bits: of a weight of a matrix, 2 to 8
                (:func:`voicenym.nets.weights.integer_weights.quantised`); other numbers are then
                in half precision. 0 for floating point.
            about: more of the configuration, fit for JSON.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        config = {"kind": network.kind, "options": network.config(), "card": dict(card or {})}
        state = self.stored(network.state_dict())
        state = quantised(state, bits) if bits else state
        write(folder, state, {**config, **about}, half=half or bits > 0)

    def load(self, folder: Path | str) -> N:
        """Loads a network that :meth:`save` wrote, in evaluation mode.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds none of the kinds, or weights of another.
        """
        config, state = read(folder)
        kind, options = config.get("kind"), config.get("options")
        if (
            not isinstance(kind, str)
            or kind not in self.registry
            or not isinstance(options, Mapping)
        ):
            raise VoicenymError(f"{folder}: holds no {self.use}; give one of voicenym train")
        with rebuilding(folder):
            network = self.make(kind, options)
        fill(network, dequantised(state), folder)
        return network.eval()


@contextmanager
def options_checked(name: str) -> Iterator[None]:
    """Context manager in which a network is made from options of a user's.

    Args:
        name: of the network, for errors.

    Raises:
        VoicenymError: options that the network does not take.
    """
    try:
        yield
    except MISMATCHES as error:
        line = str(error).partition("\n")[0]
        raise VoicenymError(f"{name}: {line}; options that such a network has not") from None


def sizes(sort: type[D], options: Mapping[str, Any], where: str, of: str) -> D:
    """A dataclass of sizes from a configuration's options; lists become tuples.

    Args:
        sort: the dataclass.
        options: by its fields' names.
        where: they come from, for errors.
        of: what has such sizes, for errors: "a codec".

    Raises:
        VoicenymError: a size that there is not, or one that cannot be.
    """
    known = [field.name for field in dataclasses.fields(sort)]  # type: ignore[arg-type]
    unknown = sorted(set(options) - set(known))
    if unknown:
        there = ", ".join(known)
        raise VoicenymError(f"{where}: no size {unknown[0]!r} of {of}; there are: {there}")
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    try:
        return sort(**given)
    except (TypeError, ValueError) as error:
        raise VoicenymError(f"{where}: no sizes of {of}: {error}") from None
