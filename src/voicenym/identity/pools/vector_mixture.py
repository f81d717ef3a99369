"""Gaussian mixture models of speaker vectors in their principal components, by sex.

A folder with ``config.json`` and ``model.safetensors``, written by ``voicenym train mixture``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from voicenym.errors import VoicenymError
from voicenym.pseudonym import Pseudonym

KIND = "mixture"
PARTS = ("mean", "basis", "weights", "means", "roots")
SEXES = ("f", "m", "")
"""Groups of speakers with a mixture each; the empty one is all speakers."""


@dataclass(frozen=True, eq=False, repr=False)
class Gaussians:
    """Gaussian mixture in principal components, with the inverse projection.

    Args:
        mean: of speaker vectors, ``[element]``.
        basis: principal components, orthonormal rows ``[kept, element]``.
        weights: of the mixture's components, ``[component]``, summing to one.
        means: ``[component, kept]``.
        roots: of their covariances: standard deviations ``[component, kept]``, or lower triangles
            L with L L' = covariance ``[component, kept, kept]``.

    Raises:
        VoicenymError: statistics that are not finite, or inconsistent.
    """

    mean: torch.Tensor
    basis: torch.Tensor
    weights: torch.Tensor
    means: torch.Tensor
    roots: torch.Tensor

    def __post_init__(self) -> None:
        for name in PARTS:
            if not getattr(self, name).isfinite().all():
                raise VoicenymError(
                    f"{name} of the mixture is not finite: train it again, on more speakers or "
                    "with fewer components"
                )
        kept, size = self.basis.shape
        count = len(self.weights)
        square = (count, kept, kept) if self.roots.ndim == 3 else (count, kept)
        for name, shape in (("mean", (size,)), ("means", (count, kept)), ("roots", square)):
            if tuple(getattr(self, name).shape) != shape:
                raise VoicenymError(
                    f"{name} of the mixture is {list(getattr(self, name).shape)}, not "
                    f"{list(shape)}: train it again"
                )
        scales = self.roots.diagonal(dim1=1, dim2=2) if self.roots.ndim == 3 else self.roots
        if (scales <= 0).any() or (self.weights < 0).any() or abs(self.weights.sum() - 1) > 1e-3:
            raise VoicenymError(
                "weights or deviations of the mixture are none: train it again, on more speakers "
                "or with fewer components"
            )

    @property
    def size(self) -> int:
        """Elements of a speaker vector."""
        return int(self.basis.shape[1])

    @property
    def covariances(self) -> torch.Tensor:
        """Variances ``[component, kept]``, or covariances ``[component, kept, kept]``."""
        full = self.roots.ndim == 3
        return self.roots @ self.roots.mT if full else self.roots.square()

    def back(self, reduced: torch.Tensor) -> torch.Tensor:
        """Speaker vectors ``[row, element]`` of projected ones ``[row, kept]``."""
        return self.mean + reduced @ self.basis

    def draw(self, pseudonym: Pseudonym, purpose: str) -> torch.Tensor:
        """Random speaker vector ``[element]``, in double precision, the same in every release."""
        at = pseudonym.uniform(f"{purpose}.component")
        ends = self.weights.double().cumsum(0)
        component = min(int((ends / ends[-1] <= at).sum()), len(self.weights) - 1)
        noise = pseudonym.normals(f"{purpose}.noise", self.means.shape[1])
        white = torch.tensor(noise, dtype=torch.float64)
        root = self.roots[component].double()
        # sums of rows, not a product: their order does not depend on the machine's library
        moved = (root * white).sum(1) if root.ndim == 2 else root * white
        reduced = self.means[component].double() + moved
        return self.mean.double() + (self.basis.double() * reduced[:, None]).sum(0)

    def state(self, sex: str) -> dict[str, torch.Tensor]:
        """Tensors by name, for a file."""
        return {f"{sex or 'any'}.{name}": getattr(self, name) for name in PARTS}


@dataclass(frozen=True, eq=False, repr=False)
class Mixtures:
    """Gaussian mixtures by sex.

    Args:
        groups: by ``f``, ``m``, or the empty string for all speakers.
        encoder: name of the speaker encoder.
        version: of its weights, empty where unknown.
    """

    groups: Mapping[str, Gaussians]
    encoder: str
    version: str = ""

    def __post_init__(self) -> None:
        if not self.groups or set(self.groups) - set(SEXES):
            raise VoicenymError("a mixture is of f, m or all speakers: train it again")
        if len({group.size for group in self.groups.values()}) != 1:
            raise VoicenymError("mixtures of women and men are of different sizes: train again")

    def __repr__(self) -> str:
        parts = [
            f"{sex or 'any'}: {group.means.shape[0]} in {group.means.shape[1]} dimensions"
            for sex, group in self.groups.items()
        ]
        return f"Mixtures({', '.join(parts)}, encoder={self.encoder!r})"

    @property
    def size(self) -> int:
        """Elements of a speaker vector."""
        return next(iter(self.groups.values())).size

    def sex_of(self, vector: torch.Tensor) -> str:
        """Estimated sex of a vector ``[element]``: that of the nearer mean, by cosine.

        Raises:
            VoicenymError: the mixture does not know both sexes.
        """
        missing = [sex for sex in ("f", "m") if sex not in self.groups]
        if missing:
            raise VoicenymError(
                f"the speaker's sex is unknown, and the mixture has no speakers of sex "
                f"{missing[0]!r} to infer it from: give the sex, or set sex='any'"
            )
        means = {sex: self.groups[sex].mean.double() for sex in ("f", "m")}
        women, men = (mean / mean.norm() for mean in (means["f"], means["m"]))
        x = vector.double()
        side = ((x / x.norm() - 0.5 * (women + men)) * (women - men)).sum()
        return "f" if side > 0 else "m"


def save(mixtures: Mixtures, folder: Path, card: Mapping[str, object] | None = None) -> None:
    """Writes mixtures to a folder.

    Args:
        mixtures: to keep.
        folder: made where there is none.
        card: what they were trained on.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
    """
    from voicenym.nets.checkpoint import write

    state = {n: v.float() for sex, g in mixtures.groups.items() for n, v in g.state(sex).items()}
    config = {"kind": KIND, "encoder": mixtures.encoder, "version": mixtures.version}
    write(folder, state, {**config, "card": dict(card or {})})


def opened(mixtures: Mixtures | str) -> Mixtures:
    """Mixtures from an object or a folder, cached while it does not change.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
            folder holds something else.
    """
    if isinstance(mixtures, Mixtures):
        return mixtures
    from voicenym.nets.checkpoint import modified

    folder = Path(mixtures)
    cure = f"train one: voicenym train mixture POOL -o {folder}"
    return _loaded(folder, modified(folder, "mixture", cure))


@lru_cache(maxsize=4)
def _loaded(folder: Path, stamp: int) -> Mixtures:
    from voicenym.nets.checkpoint import read, rebuilding

    config, state = read(folder)
    if config.get("kind") != KIND:
        raise VoicenymError(
            f"{folder}: holds no mixture; train one: voicenym train mixture POOL -o FOLDER"
        )
    with rebuilding(folder):
        groups = {}
        for sex in SEXES:
            own = {name: state.get(f"{sex or 'any'}.{name}") for name in PARTS}
            found = {name: value for name, value in own.items() if value is not None}
            if len(found) == len(PARTS):
                groups[sex] = Gaussians(**found)
        return Mixtures(groups, config.get("encoder", ""), config.get("version", ""))
