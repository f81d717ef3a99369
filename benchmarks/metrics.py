"""Speed of the metrics: 520,000 and 10,000,000 trials, and a bootstrap of 1,000 replicates.

    python benchmarks/metrics.py

The limit of everything is one sort of all scores, measured in the same run.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from voicenym.metrics import Speakers, bootstrap
from voicenym.metrics.cllr import cost
from voicenym.metrics.eer import crossing
from voicenym.metrics.linkability import linkability
from voicenym.metrics.pav import spread
from voicenym.metrics.scores import Sorted
from voicenym.metrics.zebra import disclosure, worst_case

TARGET_SHARE = 0.02


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def trials(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    targets = round(count * TARGET_SHARE)
    return rng.normal(2, 1, targets), rng.normal(0, 1, count - targets)


def everything(target: np.ndarray, nontarget: np.ndarray) -> None:
    """EER, min C_llr, ZEBRA and linkability, each as a user gets it but for the intervals."""
    scores = Sorted.of(target, nontarget)
    crossing(scores)
    cost(scores, spread(scores))
    disclosure(scores)
    worst_case(scores)
    linkability(target, nontarget, replicates=1, shuffles=1)


def main() -> None:
    print(f"{'':52s} {'seconds':>8s}   limit")
    for count, limit in ((520_000, "0.5 s"), (10_000_000, "a few s, 2 GB")):
        target, nontarget = trials(count)
        pooled = np.concatenate([target, nontarget])
        sorting = seconds(lambda p=pooled: np.sort(p))
        ours = min(seconds(lambda t=target, n=nontarget: everything(t, n)) for _ in range(2))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{f'EER, min C_llr, ZEBRA, linkability, {count:,}':52s} {ours:8.2f}   {limit}")
        print(f"{f'  {ours / sorting:.1f} x one sort; peak memory {memory:.0f} MB':52s}")
    target, nontarget = trials(520_000)
    rng = np.random.default_rng(1)
    same = np.repeat(rng.integers(0, 60, len(target))[:, None], 2, axis=1)
    speakers = Speakers(same, rng.integers(0, 60, (len(nontarget), 2)))
    spent = seconds(lambda: bootstrap(lambda s: crossing(s)[0], target, nontarget, speakers))
    print(f"{'EER, 1,000 replicates over 60 speakers, 520,000':52s} {spent:8.2f}   30 s")


if __name__ == "__main__":
    main()
