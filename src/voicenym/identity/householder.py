"""Householder rotation of speaker vectors about their mean: S-ROH, S-LOH, and a rotation by the
key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.nets.identity.bundled_networks import BUNDLED, bundled
from voicenym.nets.identity.householder_checkpoint import KIND, Rotation, load
from voicenym.nets.identity.reflections import reflect
from voicenym.nets.names_and_paths import hint, is_path
from voicenym.pseudonym import Pseudonym

Turns = Literal["both", "key", "model"]


@dataclass(frozen=True)
class Householder(Identity):
    """Rotation of the speaker vector by a trained network, by the pseudonym, or by both.

    The network is the published part: it keeps the distance from the mean of all speakers and the
    similarity of vectors. Its only secret is the seed of its training: one for all speakers, 32
    bits at best, and known to whoever has the weights. ``turns="model"`` is the network alone,
    independent of the key, for measurements.

    The rotation by the pseudonym is ours. It draws an orthogonal matrix from the uniform (Haar)
    distribution, as a product of Householder reflections, and rotates the network's output in
    coordinates where speakers have covariance I (equation 7), so that the result is as likely a
    speaker as the vector was. Without the pseudonym, the direction is uniform whatever the vector:
    vectors of two keys, two speakers, or two utterances with pseudonyms of their own share only the
    distance from the mean, and with ``radius="drawn"`` not even that. Distances between recordings
    under one pseudonym are kept, so that one voice stays one voice; differences between a speaker's
    recordings (a cold, a room) are kept as well.

    ``turns="key"`` omits the network: an untrained ROH, drawn for each pseudonym.

    Args:
        model: a network, its folder (of ``voicenym train householder``; a path needs a separator),
            or the name of one that comes with the package.
        turns: ``both``, ``key`` or ``model``.
        radius: ``kept``: the distance from the mean (in those coordinates) is the speaker's.
            ``drawn``: the pseudonym draws it, as for a Gaussian of covariance I: all recordings
            under it have one. Not with ``turns="model"``.

    Source: Miao et al., "Speaker anonymization using orthogonal Householder neural network"
    (2023), equations 7 to 11. Uniform matrices by reflections: Stewart, "The efficient
    generation of random orthogonal matrices" (SIAM J. Numer. Anal. 17, 1980).
    """

    model: Rotation | str
    turns: Turns = "both"
    radius: Literal["kept", "drawn"] = "drawn"

    name: ClassVar[str] = "householder"
    source: ClassVar[str] = "Miao et al. 2023, equations 7 to 11; the key's rotation is ours"

    def __post_init__(self) -> None:
        if self.turns not in get_args(Turns):
            raise UnknownSystemError(
                f"householder: turns is one of {', '.join(get_args(Turns))}, not {self.turns!r}"
            )
        if self.radius not in ("kept", "drawn"):
            raise UnknownSystemError(f"householder: radius is kept or drawn, not {self.radius!r}")

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(place for place in super().folders if is_path(place))  # others are bundled

    @property
    def draws(self) -> bool:
        return self.turns != "model"

    def own_voice(self, direction: bool = False) -> str:
        network = opened(self.model).network
        if self.turns != "model" or network.layers * network.reflections:
            return ""
        return "the network has no reflections, and turns=model leaves out the key's"

    def encoder(self) -> str:
        return opened(self.model).version

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        rotation = opened(self.model)
        if vectors.shape[1] != rotation.size:
            raise VoicenymError(
                f"a speaker vector has {vectors.shape[1]} elements, those of the network, by "
                f"{rotation.encoder}, have {rotation.size}: use the network's encoder, or train a "
                "network on vectors of the other one"
            )
        found: list[torch.Tensor] = [torch.empty(0)] * len(vectors)
        rows: dict[Pseudonym, list[int]] = {}
        for row, pseudonym in enumerate(pseudonyms):
            rows.setdefault(pseudonym, []).append(row)
        with torch.no_grad():
            for pseudonym, own in rows.items():
                turn = None if self.turns == "model" else Turn.drawn(pseudonym, rotation.size)
                for row in own:
                    found[row] = self._one(rotation, vectors[row].cpu(), turn)
        return torch.stack(found)

    def _one(self, rotation: Rotation, vector: torch.Tensor, turn: Turn | None) -> torch.Tensor:
        x = vector.double() if self.turns == "key" else rotation.turned(vector)
        if turn is None:
            return x
        z = turn(rotation.white(x))
        if self.radius == "drawn":
            z = z * (turn.radius / z.norm().clamp_min(1e-12))
        return rotation.coloured(z)


@dataclass(frozen=True, eq=False)
class Turn:
    """Random rotation and radius of a pseudonym.

    Args:
        reflections: ``[size, size]``, one a row, the first is applied first.
        signs: of the elements before them, ``[size]``.
        radius: the length of a draw from N(0, I).
    """

    reflections: torch.Tensor
    signs: torch.Tensor
    radius: float

    @classmethod
    def drawn(cls, pseudonym: Pseudonym, size: int) -> Turn:
        """Draws a uniform orthogonal matrix.

        Reflection k takes the first axis of k dimensions to a Gaussian direction of theirs, to its
        sign, so that, from the smallest up, the matrix is uniform in one dimension more each time.
        """
        normal = _normals(pseudonym, "householder.turn", size * size + 2 * size)
        rows = normal[: size * size].reshape(size, size).triu()
        first = rows.diagonal()
        signs = torch.where(first < 0.0, -1.0, 1.0).double()
        # v = x + sign(x_1) |x| e_1: the sum never cancels.
        reflections = rows + torch.diag(signs * rows.norm(dim=1))
        radius = float(normal[size * size : size * size + size].norm())
        return cls(reflections.flip(0), torch.where(normal[-size:] < 0.0, -1.0, 1.0), radius)

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """Rotated vectors ``Q z`` of ``z`` ``[..., size]``."""
        return reflect(self.signs * z, self.reflections)


def _normals(pseudonym: Pseudonym, purpose: str, count: int) -> torch.Tensor:
    """Draws from N(0, 1) by the Box-Muller transform of 53-bit words, ``[count]`` float64."""
    import numpy as np

    pairs = -(-count // 2)
    words = pseudonym.rng(purpose).bit_generator.random_raw(2 * pairs) >> np.uint64(11)
    radius = np.sqrt(-2.0 * np.log((words[:pairs] + 1.0) * 2.0**-53))
    angle = 2.0 * math.pi * 2.0**-53 * words[pairs:]
    both = np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))
    return torch.from_numpy(both[:count])


def opened(model: Rotation | str) -> Rotation:
    """Network from an object, from a folder (a path with a separator), or bundled by its name.

    Raises:
        VoicenymError: no network there.
    """
    if isinstance(model, Rotation):
        return model
    if is_path(model):
        return load(Path(model))
    if model not in (names := bundled(KIND)):
        raise VoicenymError(
            f"no Householder network {model!r}; there are: {', '.join(names)}, and folders of "
            f"voicenym train householder{hint(model)}"
        )
    return load(BUNDLED / model)
