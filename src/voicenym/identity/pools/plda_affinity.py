"""PLDA affinity of speaker vectors, stored with a pool.

The two-covariance model after Ioffe, "Probabilistic linear discriminant analysis" (ECCV 2006),
behind the chain of the VoicePrivacy Challenges: centre, project, length-normalise. ``voicenym pool
build`` trains it from recordings; here it only ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.verification.plda import PLDA

PREFIX = "plda."


@dataclass(frozen=True, eq=False, repr=False)
class Affinity:
    """PLDA model in the basis with diagonal between-speaker covariance and within-speaker
    covariance I.

    Args:
        centre: subtracted from a vector, ``[element]``.
        projection: then applied, ``[kept, element]``.
        mean: of the projected vectors, ``[kept]``.
        basis: of the model, ``[kept, kept]``.
        psi: variance of speakers along each direction of the basis, ``[kept]``, not negative.
        normalise: whether vectors are brought to the length that the model expects.
    """

    centre: torch.Tensor
    projection: torch.Tensor
    mean: torch.Tensor
    basis: torch.Tensor
    psi: torch.Tensor
    normalise: bool = True

    def __post_init__(self) -> None:
        kept, size = self.projection.shape
        shapes = {"centre": (size,), "mean": (kept,), "basis": (kept, kept), "psi": (kept,)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if tuple(value.shape) != shape:
                raise VoicenymError(
                    f"PLDA's {name} is {list(value.shape)}, not {list(shape)}: build the pool again"
                )
        if not all(v.isfinite().all() for v in self.state().values()) or (self.psi < 0).any():
            raise VoicenymError("PLDA's numbers are not finite variances: build the pool again")

    @classmethod
    def of(cls, plda: PLDA) -> Affinity:
        """Affinity from a trained back end."""
        parts = (plda.centre, plda.projection, plda.model.mean, *plda.model.diagonal)
        centre, projection, mean, basis, psi = (
            torch.from_numpy(np.ascontiguousarray(part)).double() for part in parts
        )
        return cls(centre, projection, mean, basis, psi, plda.normalise)

    def latent(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors ``[row, element]`` in the model's basis: ``[row, kept]``, double precision."""
        x = (vectors.double() - self.centre.double()) @ self.projection.double().T
        if not self.normalise:
            return (x - self.mean.double()) @ self.basis.double().T
        size = math.sqrt(x.shape[1])
        x = x * (size / x.norm(dim=1, keepdim=True).clamp_min(1e-300))
        u = (x - self.mean.double()) @ self.basis.double().T
        expected = (u.square() / (self.psi.double() + 1.0)).sum(1, keepdim=True)
        scaled: torch.Tensor = u * (size / expected.clamp_min(1e-300).sqrt())
        return scaled

    def query(self, latent: torch.Tensor) -> torch.Tensor:
        """Factor for latent vectors in the score of one vector ``[kept]``."""
        psi = self.psi.double()
        return latent * psi / (2.0 * psi + 1.0)

    def penalty(self, latent: torch.Tensor) -> torch.Tensor:
        """Terms ``[row]`` subtracted for the other latent vectors ``[row, kept]``."""
        psi = self.psi.double()
        excess = (psi + 1.0) / (2.0 * psi + 1.0) - 1.0 / (psi + 1.0)
        penalty: torch.Tensor = 0.5 * latent.square() @ excess
        return penalty

    def scores(self, vector: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """PLDA log-likelihood ratios in nats, same speaker against different speakers: ``[row]``.

        Args:
            vector: ``[element]``.
            others: ``[row, element]``.
        """
        u, t = self.latent(vector[None])[0], self.latent(others)
        psi = self.psi.double()
        own = (u.square() * psi.square() / ((psi + 1.0) * (2.0 * psi + 1.0))).sum()
        volume = (2.0 * (psi + 1.0).log() - (2.0 * psi + 1.0).log()).sum()
        ratio: torch.Tensor = t @ self.query(u) - self.penalty(t) + 0.5 * (volume - own)
        return ratio

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors by name, for a file."""
        names = [field.name for field in fields(self) if field.name != "normalise"]
        found = {PREFIX + name: getattr(self, name) for name in names}
        return {**found, PREFIX + "normalise": torch.tensor(int(self.normalise))}

    @classmethod
    def from_state(cls, state: Mapping[str, torch.Tensor]) -> Affinity | None:
        """Model from a file's tensors; None without one."""
        own = {n.removeprefix(PREFIX): v for n, v in state.items() if n.startswith(PREFIX)}
        if not own:
            return None
        try:
            return cls(**{**own, "normalise": bool(own.pop("normalise"))})  # type: ignore[arg-type]
        except (TypeError, KeyError, ValueError) as error:
            raise VoicenymError(f"PLDA of a pool: {error}; build the pool again") from None
