"""Speed of voice similarity matrices: M_oo, M_oa and M_aa of 60 speakers with 30 segments each.

    python benchmarks/similarity.py

The limit is the one matrix product that any implementation needs, of vectors to scores; it is
measured in the same run, as is one sort of all scores, which calibration by sorting would need.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from voicenym.metrics import deidentification, gain_of_voice_distinctiveness, similarity_matrix

SPEAKERS, SEGMENTS, DIMENSION = 60, 30, 192
REPEATS = 5


def seconds(function: Callable[[], object]) -> float:
    """Of the fastest of some runs, so that others on the machine matter less."""
    spent = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


def vectors(clearness: float, seed: int) -> np.ndarray:
    """Voices around each speaker's own, ``[segment, dimension]`` of length 1."""
    rng = np.random.default_rng(seed)
    people = clearness * np.random.default_rng(0).standard_normal((SPEAKERS, DIMENSION))
    found = np.repeat(people, SEGMENTS, axis=0)
    found = found + rng.standard_normal(found.shape)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def row(name: str, spent: float, product: float) -> None:
    print(f"{name:52s} {spent:8.3f} {spent / product:10.1f}")


def main() -> None:
    who = np.repeat(np.arange(SPEAKERS), SEGMENTS)
    itself = np.eye(len(who), dtype=bool)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':52s} {'seconds':>8s} {'x product':>10s}")
    for name, clearness in (("voices apart", 1.0), ("voices hard to tell apart", 0.1)):
        o, a = vectors(1.0, 1), vectors(clearness, 2)
        tables = o @ o.T, o @ a.T, a @ a.T

        def three(tables: tuple[np.ndarray, ...] = tables) -> list:
            return [similarity_matrix(scores, who, who, itself) for scores in tables]

        product = seconds(lambda o=o, a=a: (o @ o.T, o @ a.T, a @ a.T))
        oo, oa, aa = three()
        row(f"three matrix products, {len(who):,} x {DIMENSION}", product, product)
        row("one sort of each", seconds(lambda t=tables: [np.sort(s.ravel()) for s in t]), product)
        row(f"three matrices, {name} (limit 0.2 s)", seconds(three), product)
        row(
            "G_VD and DeID, 1,000 replicates each",
            seconds(
                lambda oo=oo, oa=oa, aa=aa: (
                    gain_of_voice_distinctiveness(oo, aa),
                    deidentification(oo, oa),
                )
            ),
            product,
        )


if __name__ == "__main__":
    main()
