"""Speed of the metrics: 520,000 and 10,000,000 trials, and bootstraps of 1,000 replicates.

    python benchmarks/metrics.py

The limit of the values is one sort of all scores; the peer is a plain implementation with the
structure of the VoicePrivacy Challenge's code (:mod:`metrics_reference`). Bootstraps are compared
with one pass a replicate, in which every trial is given a weight and the weights are added up, as
without bins. All are measured in the same run. Beside the time by the clock is that of the
processor, which other programs on the machine change less.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

import metrics_reference
from voicenym.metrics import Speakers, cllr, eer, linkability, min_cllr, roc_band, rocch_eer, zebra
from voicenym.metrics.crowd import first_among
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.verification.low_false_matches import true_match_rates

TARGET_SHARE = 0.02
SPEAKERS = 60
REPLICATES = 1000
FOUR = (eer, min_cllr, zebra, linkability)
INTERVALS = {
    "EER": eer,
    "ROCCH-EER": rocch_eer,
    "C_llr": cllr,
    "min C_llr": min_cllr,
    "ZEBRA": zebra,
    "linkability": linkability,
    "true-match rates": true_match_rates,
    "ROC band": roc_band,
    "first of 1,000": lambda *case, **options: first_among(*case, people=(1000,), **options),
}


def seconds(function: Callable[[], object], repeats: int = 1) -> tuple[float, float]:
    """Least of several times by the clock and of the processor."""
    clock, processor = [], []
    for _ in range(repeats):
        before = time.perf_counter(), time.process_time()
        function()
        clock.append(time.perf_counter() - before[0])
        processor.append(time.process_time() - before[1])
    return min(clock), min(processor)


def memory() -> float:
    """Most that the process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(what: str, time: tuple[float, float], limit: str) -> None:
    print(f"{what:48s} {time[0]:8.2f} {time[1]:10.2f} {memory():8.0f}   {limit}")


def trials(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    targets = round(count * TARGET_SHARE)
    return rng.normal(2, 1, targets), rng.normal(0, 1, count - targets)


def speakers_of(targets: int, nontargets: int, count: int = SPEAKERS) -> Speakers:
    rng = np.random.default_rng(1)
    same = np.repeat(rng.integers(0, count, targets)[:, None], 2, axis=1)
    one = rng.integers(0, count, nontargets)
    other = (one + rng.integers(1, count, nontargets)) % count
    return Speakers(same, np.stack([one, other], axis=1))


def everything(target: np.ndarray, nontarget: np.ndarray) -> None:
    """EER, min C_llr, ZEBRA and linkability without intervals, sharing one sort."""
    shared = SortedTrials(target, nontarget)
    for metric in FOUR:
        metric(shared, interval=None)


def with_intervals(
    target: np.ndarray, nontarget: np.ndarray, speakers: Speakers | None, replicates: int
) -> None:
    """The same with their intervals, sharing the replicates."""
    shared = SortedTrials(target, nontarget, speakers)
    for metric in FOUR:
        metric(shared, replicates=replicates)


def one_pass(trials: int) -> float:
    """Processor's seconds to give all trials weights from a table of pairs and to add them up."""
    rng = np.random.default_rng(2)
    table = rng.random(SPEAKERS * SPEAKERS)
    pairs = rng.integers(0, table.size, trials)
    weights = np.empty(trials)

    def weigh() -> None:
        np.take(table, pairs, out=weights, mode="clip")
        weights.sum()

    return seconds(weigh, 20)[1]


def main() -> None:
    print(f"{'':48s} {'seconds':>8s} {'processor':>10s} {'peak MB':>8s}   limit")
    everything(*trials(1000))  # scipy is imported
    target, nontarget = trials(520_000)
    few = np.concatenate([target, nontarget])
    speakers = speakers_of(len(target), len(nontarget))
    sorting = seconds(lambda: np.sort(few), 3)
    ours = seconds(lambda: everything(target, nontarget), 5)
    row("EER, min C_llr, ZEBRA, linkability, 520,000", ours, "25 x one sort")
    print(f"  {ours[1] / sorting[1]:.1f} x one sort")
    theirs = seconds(lambda: metrics_reference.everything(target, nontarget), 3)
    row("the same, one PAV loop for each", theirs, "the challenge's structure")
    print(f"  {theirs[1] / ours[1]:.0f} x ours")

    passes = one_pass(few.size) * REPLICATES
    for who, drawn in ((speakers, f"{SPEAKERS} speakers"), (None, "trials")):
        for name, metric in INTERVALS.items():
            if metric is eer and who is None:
                continue  # no bootstrap
            spent = seconds(lambda m=metric, w=who: m(target, nontarget, w, replicates=REPLICATES))
            row(f"{name}, {REPLICATES:,} x {drawn}, 520,000", spent, "2 s")
            print(f"  {spent[1] / passes:.2f} x one pass a replicate")
        spent = seconds(lambda w=who: with_intervals(target, nontarget, w, REPLICATES))
        row(f"the first four, {REPLICATES:,} x {drawn}, 520,000", spent, "")

    target, nontarget = trials(10_000_000)
    sorting = seconds(lambda: np.sort(np.concatenate([target, nontarget])), 2)
    ours = seconds(lambda: everything(target, nontarget), 2)
    row("EER, min C_llr, ZEBRA, linkability, 10,000,000", ours, "25 x one sort")
    print(f"  {ours[1] / sorting[1]:.1f} x one sort")


if __name__ == "__main__":
    main()
