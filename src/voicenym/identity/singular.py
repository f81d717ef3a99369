"""Singular values of speaker vectors, modified: the challenge's A2, as far as it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.kmeans import centroids, least_like
from voicenym.identity.pools.speaker_pool import Pool, Rule, checked_rule, opened
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class SingularValues(Identity):
    """A vector without its part along small singular values, blended with an unlike centroid.

    An approximation. The survey says that A2 modifies singular values; how is told here from
    memory, the paper not being at hand: X-vectors of 512 elements, a row an utterance of a speaker,
    are decomposed by SVD, low singular values are thresholded or attenuated, the vectors are
    rebuilt and combined with a target, the centroid of that cluster (k-means) of the pool that is
    least like the speaker, and B1's synthesis speaks. Not known: threshold, gain, number of
    clusters, how target and vector are combined, which all are parameters; and whether F0 is
    changed, which is the system's to do. One vector has no matrix of utterances, so that here it is
    the pool's.
    The published method draws nothing; here the pseudonym draws among the ``far`` least alike
    centroids, or whoever has the pool could compute everybody's pseudo-speaker.

    Args:
        pool: of speakers, or its folder.
        keep: share of the pool's variance along whose directions a vector stays as it is.
        gain: of the vector along all other directions, 0 to 1.
        clusters: of the pool, by k-means.
        far: least alike centroids among which the target is drawn.
        blend: weight of the target, 0 to 1.
        sex: of the target: ``same``, ``opposite`` or ``any``.

    Published for A2 (women, men; LibriSpeech test): EER of the ignorant 48.9 and 54.3 %, of the
    lazy-informed 28.7 and 31.0 %, G_VD -8.4 and -6.0 dB.

    Source: Mawalim, Galajit, Karnjana and Unoki, "X-vector singular value modification and
    statistical-based decomposition with ensemble regression modeling for speaker anonymization
    system", Interspeech 2020; label and figures: Tomashenko et al. (2022), table 1.
    """

    pool: Pool | str
    keep: float = 0.8
    gain: float = 0.0
    clusters: int = 16
    far: int = 4
    blend: float = 0.7
    sex: Rule = "same"

    name: ClassVar[str] = "singular-values"
    source: ClassVar[str] = "Mawalim et al. 2020 (A2 in Tomashenko et al. 2022), approximated"

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        for field in ("keep", "gain", "blend"):
            if not 0.0 <= getattr(self, field) <= 1.0:
                raise UnknownSystemError(
                    f"singular-values: {field} needs 0 to 1, not {getattr(self, field)}"
                )
        if not 1 <= self.far <= self.clusters:
            raise UnknownSystemError(
                f"singular-values: far needs 1 to clusters={self.clusters}, not {self.far}"
            )

    def encoder(self) -> str:
        return opened(self.pool).version

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        pool = opened(self.pool)
        pool.check(vectors)
        found = []
        for vector, pseudonym, sex in zip(vectors.cpu().double(), pseudonyms, sexes, strict=True):
            wanted, _ = pool.among(self.sex, vector, sex, self.clusters)
            centres = centroids(pool, wanted, self.clusters)
            unlike = least_like(vector, centres)[: self.far]
            target = centres[unlike[pseudonym.index("singular-values.target", self.far)]]
            found.append((1 - self.blend) * self.modified(pool, vector) + self.blend * target)
        return torch.stack(found)

    def modified(self, pool: Pool, vector: torch.Tensor) -> torch.Tensor:
        """A vector ``[element]`` with its part along small singular values scaled by ``gain``."""
        mean, directions = _large(pool, self.keep)
        away = vector - mean
        along = ((directions * away).sum(1)[:, None] * directions).sum(0)
        return mean + along + self.gain * (away - along)


@lru_cache(maxsize=4)
def _large(pool: Pool, keep: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean, and right singular vectors ``[direction, element]`` that hold a share of variance."""
    x = pool.vectors.double()
    mean = x.mean(0)
    _, values, directions = torch.linalg.svd(x - mean, full_matrices=False)
    if not float(values[0]) > 0.0:
        raise VoicenymError("all speakers of the pool are one: add others to it")
    held = values.square().cumsum(0) / values.square().sum()
    count = 0 if keep == 0.0 else int((held < keep - 1e-12).sum()) + 1
    return mean, directions[:count]
