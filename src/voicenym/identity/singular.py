"""Singular value modification of speaker vectors: A2 of VoicePrivacy 2020, approximated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex
from voicenym.identity.pools.kmeans import centroids, least_like
from voicenym.identity.pools.sex_rule import Rule, checked_rule
from voicenym.identity.pools.speaker_pool import Pool, opened
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class SingularValues(Identity):
    """Speaker vector with attenuated small singular directions, blended with a dissimilar centroid.

    An approximation. The survey describes A2 as singular value modification; the details are from
    memory, without access to the paper: X-vectors of 512 elements, a row an utterance of a speaker,
    are decomposed by SVD, low singular values are thresholded or attenuated, the vectors are
    rebuilt and combined with a target, the centroid of that cluster (k-means) of the pool that is
    least like the speaker, and B1 synthesises. Not known: threshold, gain, number of clusters and
    the combination of target and vector, which are parameters here; and whether F0 is changed,
    which is up to the system. The decomposition here is of the pool, because one vector has no
    matrix of utterances. The published method is deterministic; here the pseudonym draws among the
    ``far`` least similar centroids, because otherwise the pool would determine all pseudo-speakers.

    Args:
        pool: of speakers, or its folder.
        keep: share of the pool's variance whose directions are unchanged.
        gain: of the vector along all other directions, 0 to 1.
        clusters: of the pool, by k-means.
        far: number of least similar centroids to draw the target from.
        blend: weight of the target, 0 to 1.
        sex: of the target: ``same``, ``opposite`` or ``any``.

    Published for A2 (women, men; LibriSpeech test): EER of the ignorant 48.9 and 54.3 %, of the
    lazy-informed 28.7 and 31.0 %, G_VD -8.4 and -6.0 dB.

    Source: Mawalim, Galajit, Karnjana and Unoki, "X-vector singular value modification and
    statistical-based decomposition with ensemble regression modeling for speaker anonymization
    system", Interspeech 2020; label: Tomashenko et al. (2022, supplement), table 1; figures: their
    tables 3 and 9.
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

    def own_voice(self, direction: bool = False) -> str:
        if self.blend > 0.0 or (self.gain < 1.0 and self.keep < 1.0):
            return ""
        return "nothing is attenuated, and no target is blended in"

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
        """Vector ``[element]`` with its components along small singular directions scaled by
        ``gain``.
        """
        mean, directions = _large(pool, self.keep)
        away = vector - mean
        along = ((directions * away).sum(1)[:, None] * directions).sum(0)
        return mean + along + self.gain * (away - along)


@lru_cache(maxsize=4)
def _large(pool: Pool, keep: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean, and right singular vectors ``[direction, element]`` that hold a share of the
    variance.
    """
    x = pool.vectors.double()
    mean = x.mean(0)
    _, values, directions = torch.linalg.svd(x - mean, full_matrices=False)
    if not float(values[0]) > 0.0:
        raise VoicenymError("all speakers of the pool are one: add others to it")
    held = values.square().cumsum(0) / values.square().sum()
    count = 0 if keep == 0.0 else int((held < keep - 1e-12).sum()) + 1
    return mean, directions[:count]
