"""Pools of speaker vectors, as targets or as speakers to keep a distance from.

A folder with ``config.json`` and ``model.safetensors``, written by ``voicenym pool build``; the
SHA-256 in the configuration detects damage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError, counted
from voicenym.identity.method import Sex
from voicenym.identity.pools.plda_affinity import Affinity
from voicenym.identity.pools.sex_rule import Rule, chosen_sex
from voicenym.private import private_folder

KIND = "pool"


@dataclass(frozen=True, eq=False)
class Pool:
    """Speaker vectors with their speakers' labels.

    Args:
        vectors: ``[row, element]``, finite, none of them zero.
        sexes: of each row: ``f``, ``m``, or empty where unknown.
        speakers: of each row; methods want each speaker once (:meth:`per_speaker`).
        encoder: name of the speaker encoder. Vectors of different encoders are not comparable.
        version: of the encoder's weights, empty where unknown.
        clusters: number of each row's cluster, ``[row]``, or None.
        affinity: PLDA of these vectors, or None.

    Raises:
        VoicenymError: inconsistent shapes, or invalid rows.

    Example:
        >>> pool = Pool(torch.eye(3), ("f", "f", "m"), ("a", "b", "c"), "ecapa-small")
        >>> pool
        Pool(3 x 3, 2 f, 1 m, encoder='ecapa-small')
    """

    vectors: torch.Tensor
    sexes: tuple[str, ...]
    speakers: tuple[str, ...]
    encoder: str
    version: str = ""
    clusters: torch.Tensor | None = None
    affinity: Affinity | None = None

    def __post_init__(self) -> None:
        x = self.vectors
        if x.ndim != 2 or not x.numel():
            raise VoicenymError(f"a pool needs vectors [row, element], not {list(x.shape)}")
        if not len(x) == len(self.sexes) == len(self.speakers):
            raise VoicenymError(
                f"{len(x)} vectors, {len(self.sexes)} sexes and {len(self.speakers)} speakers of a "
                "pool do not fit: one of each a row"
            )
        wrong = sorted(set(self.sexes) - {"f", "m", ""})
        if wrong:
            raise VoicenymError(f"sex {wrong[0]!r} in a pool: write f or m, or nothing")
        if not self.encoder:
            raise VoicenymError("a pool must say which encoder made its vectors")
        bad = ~(x.isfinite().all(1) & (x != 0).any(1))
        if bad.any():
            row = int(bad.nonzero()[0])
            raise VoicenymError(
                f"the pool's vector of {self.speakers[row]} is zero or not finite: leave this "
                "speaker out, and build it again"
            )
        if self.clusters is not None and len(self.clusters) != len(x):
            raise VoicenymError(f"{len(self.clusters)} clusters for {len(x)} vectors of a pool")

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        women, men = self.sexes.count("f"), self.sexes.count("m")
        rows, size = self.vectors.shape
        return f"Pool({rows} x {size}, {women} f, {men} m, encoder={self.encoder!r})"

    @property
    def size(self) -> int:
        """Elements of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def people(self) -> int:
        """Number of different speakers."""
        return len(set(self.speakers))

    @cached_property
    def unit(self) -> torch.Tensor:
        """Vectors of length one, in double precision."""
        return unit(self.vectors)

    @cached_property
    def _rows(self) -> dict[str, torch.Tensor]:
        rows = {s: [i for i, sex in enumerate(self.sexes) if sex == s] for s in ("f", "m")}
        rows[""] = list(range(len(self)))
        return {s: torch.tensor(found, dtype=torch.long) for s, found in rows.items()}

    def rows(self, sex: Sex | None = None) -> torch.Tensor:
        """Indices of the rows of one sex, or of all."""
        return self._rows[sex or ""]

    @cached_property
    def _axis(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Direction from men to women ``[element]``, and the midpoint between them."""
        women, men = (self.unit[self._rows[s]].mean(0) for s in ("f", "m"))
        return women - men, 0.5 * (women + men)

    def sex_of(self, vector: torch.Tensor) -> Sex:
        """Estimated sex of a vector ``[element]``: that of the nearer centroid (mean of unit
        vectors).

        Raises:
            VoicenymError: the pool does not know both sexes.
        """
        missing = [s for s in ("f", "m") if not len(self._rows[s])]
        if missing:
            raise VoicenymError(
                f"the speaker's sex is unknown, and the pool has no speakers of sex {missing[0]!r} "
                "to infer it from: give the sex, add such speakers to the pool, or set sex='any'"
            )
        axis, middle = self._axis
        # element by element, so that a row's answer does not depend on how many are asked
        side = ((unit(vector[None])[0] - middle) * axis).sum()
        return "f" if side > 0 else "m"

    def among(
        self, rule: Rule, vector: torch.Tensor, sex: Sex | None, least: int = 1
    ) -> tuple[Sex | None, torch.Tensor]:
        """Candidates of a selection: their sex (None for all), and their rows.

        Args:
            rule: sex of the candidates relative to the speaker's.
            vector: of the speaker; an unknown sex is estimated from it.
            sex: of the speaker.
            least: least number of candidates.

        Raises:
            VoicenymError: too few candidates in the pool, or a sex that cannot be estimated.
        """
        wanted = chosen_sex(rule, None if rule == "any" else sex or self.sex_of(vector))
        rows = self.rows(wanted)
        if len(rows) < least:
            who = "speakers" if wanted is None else f"speakers of sex {wanted!r}"
            raise VoicenymError(
                f"the pool has {len(rows)} {who}, and {least} are needed: add speakers to it, ask "
                "for fewer, or set sex='any'"
            )
        return wanted, rows

    def check(self, vectors: torch.Tensor) -> None:
        """Rejects vectors ``[row, element]`` of another size than this pool's.

        Raises:
            VoicenymError: another number of elements.
        """
        if vectors.shape[-1] != self.size:
            raise VoicenymError(
                f"a speaker vector has {vectors.shape[-1]} elements, those of the pool, by "
                f"{self.encoder}, have {self.size}: use the pool's encoder, or build a pool with "
                "the other one"
            )

    def made_by(self, encoder: str, version: str = "") -> Pool:
        """The pool itself, if its vectors are an encoder's.

        Raises:
            VoicenymError: they are another's, or of other weights.
        """
        if encoder != self.encoder:
            raise VoicenymError(
                f"the pool holds vectors by {self.encoder}, not by {encoder}: build one with "
                f"voicenym pool build --encoder {encoder}"
            )
        if version and self.version and version != self.version:
            raise VoicenymError(
                f"the pool was built with other weights of {encoder} ({self.version}, not "
                f"{version}): build it again"
            )
        return self

    def per_speaker(self) -> Pool:
        """Pool with one vector per speaker, the mean of its rows; clusters and affinity are
        dropped.
        """
        index = {name: i for i, name in enumerate(dict.fromkeys(self.speakers))}
        of = torch.tensor([index[name] for name in self.speakers])
        sums = torch.zeros(len(index), self.size, dtype=torch.float64)
        sums.index_add_(0, of, self.vectors.double())
        means = sums / torch.bincount(of)[:, None]
        sexes = dict(zip(reversed(self.speakers), reversed(self.sexes), strict=True))
        return replace(
            self,
            vectors=means.to(self.vectors),
            sexes=tuple(sexes[name] for name in index),
            speakers=tuple(index),
            clusters=None,
            affinity=None,
        )


def unit(vectors: torch.Tensor) -> torch.Tensor:
    """Vectors ``[row, element]`` scaled to length one, in double precision."""
    x = vectors.double()
    scaled: torch.Tensor = x / x.norm(dim=1, keepdim=True)
    return scaled


def opened(pool: Pool | str) -> Pool:
    """Pool from an object or a folder, with each speaker once.

    Raises:
        VoicenymError: no pool there, or one of utterances.
    """
    found = pool if isinstance(pool, Pool) else load(Path(pool))
    if found.people != len(found):
        raise VoicenymError(
            f"the pool has {counted(len(found), 'vector')} of "
            f"{counted(found.people, 'speaker')}: build it "
            "without --utterances, so that each has one"
        )
    return found


def save(pool: Pool, folder: Path) -> None:
    """Writes a pool to a folder readable by its owner alone: its vectors are voiceprints.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
    """
    from voicenym.nets.checkpoint import write

    state = {"vectors": pool.vectors.float()}
    if pool.clusters is not None:
        state["clusters"] = pool.clusters
    if pool.affinity is not None:
        state |= pool.affinity.state()
    config = {
        "kind": KIND,
        "encoder": pool.encoder,
        "version": pool.version,
        "sexes": list(pool.sexes),
        "speakers": list(pool.speakers),
    }
    write(private_folder(folder), state, config)


def load(folder: Path) -> Pool:
    """Reads a pool written by :func:`save`; cached while the folder does not change.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
            folder holds something else.
    """
    from voicenym.nets.checkpoint import modified

    cure = f"build one: voicenym pool build DATA -o {folder}"
    return _loaded(folder, modified(folder, "pool", cure))


def _clusters(config: Mapping[str, Any], state: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    """Clusters as :func:`save` writes them, or from the configuration: those of the bundled pool
    were found after its vectors, whose digest runs record.
    """
    named = config.get("clusters")
    return state.get("clusters") if named is None else torch.tensor(named, dtype=torch.long)


@lru_cache(maxsize=4)
def _loaded(folder: Path, stamp: int) -> Pool:
    from voicenym.nets.checkpoint import read, rebuilding

    config, state = read(folder)
    if config.get("kind") != KIND or "vectors" not in state:
        raise VoicenymError(
            f"{folder}: holds no pool of speakers; build one: voicenym pool build DATA -o FOLDER"
        )
    with rebuilding(folder):
        return Pool(
            vectors=state["vectors"],
            sexes=tuple(config.get("sexes", ())),
            speakers=tuple(config.get("speakers", ())),
            encoder=config.get("encoder", ""),
            version=config.get("version", ""),
            clusters=_clusters(config, state),
            affinity=Affinity.from_state(state),
        )
