"""Searches as branches of a fusion.

A search on the trials among the pool's speakers
(:mod:`voicenym.attack.fusion.branch_weights`) says how much it counts beside branches that compare
channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voicenym.attack.attackers import Attacker
from voicenym.attack.fusion.branch_weights import Fold, Measured
from voicenym.attack.scenario import Model, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform
from voicenym.pseudonym import Key
from voicenym.verification.scoring import Array
from voicenym.verification.verifier import Verifier


@dataclass(frozen=True)
class SearchBranch:
    """An attacker that searches for voices, on a scenario and on its pool.

    Args:
        attacker: such as a key search.
        scenario: of the attack.
        verifier: turns recordings into vectors.
        embedder: computes and caches them.
        published: transform of the pool's trials, under a key that stands for the user's.
        key: for the attack on the pool. Another one than that of ``published`` and of the attack
            on the scenario: a search that tries the key of the trials would seem to find more than
            it does.
    """

    attacker: Attacker
    scenario: Scenario
    verifier: Verifier
    embedder: Embedder
    published: Transform
    key: Key

    @property
    def name(self) -> str:
        """Name of the attacker."""
        return self.attacker.name

    def scores(self) -> np.ndarray:
        """Scores ``[model, trial]`` on the scenario."""
        return self.attacker.scores(self.scenario, self.verifier, self.embedder)

    def on_pool(self, pool: Measured, folds: Sequence[Fold]) -> list[Array]:
        """Scores ``[model, trial]`` of each fold; what the attacker learns from are the others.

        Args:
            pool: measures of the pool's recordings, of which only their names are used.
            folds: models and trials among them.
        """
        by_name = {(one.speaker, one.name): one for one in self.scenario.pool}

        def recordings(rows: np.ndarray) -> tuple[Recording, ...]:
            keys = zip(pool.speakers[rows].tolist(), pool.names[rows].tolist(), strict=True)
            return tuple(by_name[key] for key in dict.fromkeys(keys))

        found = []
        for fold in folds:
            rows = zip(fold.speakers, fold.enrolled, strict=True)
            part = replace(
                self.scenario,
                models=tuple(Model(name, name, recordings(own)) for name, own in rows),
                trials=recordings(fold.tried),
                protection=replace(self.scenario.protection, transform=self.published),
                key=self.key,
                pool=recordings(np.flatnonzero(fold.others)),
            )
            found.append(self.attacker.scores(part, self.verifier, self.embedder))
        return found
