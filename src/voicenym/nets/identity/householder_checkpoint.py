"""Storage of a trained Householder network with the name of its speaker encoder."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration, fill, modified, read, rebuilding, write
from voicenym.nets.identity.householder_network import Householder
from voicenym.nets.identity.reflections import factors

KIND = "householder"
DERIVED = "whitening"
"""The inverse of ``colouring``."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """Trained Householder network in double precision.

    Args:
        network: trained.
        encoder: name of the speaker encoder of its training vectors.
        version: of the encoder's weights, empty where unknown.
    """

    network: Householder
    encoder: str = ""
    version: str = ""

    def __repr__(self) -> str:
        net = self.network
        return f"Rotation({net.form}, {net.layers} x {net.reflections}, encoder={self.encoder!r})"

    @cached_property
    def _double(self) -> Householder:
        # a copy draws no initial weights, as a new network would
        return copy.deepcopy(self.network).double().requires_grad_(False).eval()

    @cached_property
    def matrix(self) -> torch.Tensor:
        """Rotation matrix W of all vectors, in ``roh``, ``[size, size]`` in double precision."""
        return self._double.rotation(self._double.mean[None])[0]

    @property
    def size(self) -> int:
        """Elements of a vector."""
        return self.network.size

    def turned(self, vector: torch.Tensor) -> torch.Tensor:
        """Output of the network for a vector ``[element]``, in double precision."""
        net = self._double
        z = net.centred(vector.double()[None])
        z = z @ self.matrix.mT if net.form == "roh" and net.layers else net.rotated(z)
        return net.uncentred(z)[0]

    def white(self, vector: torch.Tensor) -> torch.Tensor:
        """Whitened vector ``[element]``, in coordinates with covariance I."""
        net = self._double
        return (vector.double() - net.mean) @ net.whitening

    def coloured(self, vector: torch.Tensor) -> torch.Tensor:
        """The inverse of :meth:`white`."""
        net = self._double
        return vector @ net.colouring + net.mean


def save(
    rotation: Rotation,
    folder: Path,
    card: Mapping[str, Any] | None = None,
    *,
    half: bool = False,
) -> None:
    """Writes a network to a folder.

    Args:
        rotation: the network.
        folder: made where there is none.
        card: how it was trained.
        half: in half precision, and without what the rest determines (:func:`_compact`).

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
    """
    network = _compact(rotation) if half else rotation.network
    state = network.state_dict()
    if half:
        del state[DERIVED]
        state["colouring"] = state["colouring"].triu()
    config = {
        "kind": KIND,
        "options": network.config(),
        "encoder": rotation.encoder,
        "version": rotation.version,
        "card": dict(card or {}),
    }
    write(folder, state, config, half=half)


def _compact(rotation: Rotation) -> Householder:
    """The same network; one ``roh`` layer of as many reflections as a vector has elements.

    A matrix of any number of reflections is a product of so many: twelve layers of 192 are one, of
    a twelfth of their size, and half of its elements are zero.
    """
    network = rotation.network
    if network.form != "roh" or not network.layers:
        return network
    options = {**network.config(), "layers": 1, "reflections": network.size}
    compact = Householder(**options).requires_grad_(False)
    state = network.state_dict()
    compact.load_state_dict({**state, "vectors": factors(rotation.matrix)[None].to(state["mean"])})
    return compact.eval()


def _completed(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A state with the matrices that :func:`save` leaves out in half precision.

    The root of a covariance is symmetric, and its upper triangle is stored; its inverse whitens.
    """
    root = state.get("colouring")
    if DERIVED in state or root is None or root.ndim != 2 or root.shape[0] != root.shape[1]:
        return state
    root = root.triu() + root.triu(1).mT
    inverse, _ = torch.linalg.inv_ex(root.double())
    return {**state, "colouring": root, DERIVED: inverse.to(root)}


def load(folder: Path | str) -> Rotation:
    """Reads a network written by :func:`save`; cached while the folder does not change.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
            folder holds something else.
    """
    folder = Path(folder)
    cure = f"train one: voicenym train householder --vectors POOL -o {folder}"
    return _loaded(folder, modified(folder, "Householder network", cure))


@lru_cache(maxsize=4)
def _loaded(folder: Path, stamp: int) -> Rotation:
    if configuration(folder).get("kind") != KIND:
        raise VoicenymError(
            f"{folder}: holds no Householder network; give one of voicenym train householder"
        )
    config, state = read(folder)
    with rebuilding(folder):
        network = Householder(**config["options"])
        state = _completed(state)
    fill(network, state, folder)
    return Rotation(network.eval(), config.get("encoder", ""), config.get("version", ""))
