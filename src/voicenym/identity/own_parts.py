"""Identity methods with the pool and the networks of a system's weights, where none are named."""

from __future__ import annotations

from collections.abc import Callable

from voicenym.identity.method import Identity
from voicenym.identity.method_table import METHODS
from voicenym.registry import Registry

POOLED = (
    "distinct",
    "indistinguishable",
    "lookup",
    "regression",
    "selection",
    "singular-values",
)
"""Methods that choose from a pool of speakers."""
AUTOENCODER = "autoencoder-small"
"""The bundled one, of vectors of ``ecapa-small``."""


def methods_of(place: Callable[[str], str]) -> Registry[Identity]:
    """Methods that take a part of a system's weights unless their text names another.

    Args:
        place: folder of the part ``pool``, ``mixture`` or ``loh``, by its name.

    Example:
        >>> methods_of(lambda part: f"./weights/{part}").load("mixture:theta=0.3")
        Mixture(model='./weights/mixture', theta=0.3, retries=1000, sex='same')
    """
    own = {name: {"pool": place("pool")} for name in POOLED}
    own["mixture"] = {"model": place("mixture")}
    own["householder"] = {"model": place("loh")}
    own["autoencoder"] = {"model": AUTOENCODER}
    return METHODS.with_defaults(own)


def unplaced(text: str) -> Identity:
    """A method by its text, for its settings alone: what it does not name is missing.

    Raises:
        VoicenymError: as of :meth:`voicenym.registry.Registry.load`.
    """
    return methods_of(lambda part: "").load(text)
