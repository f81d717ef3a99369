"""Growth of the metrics with the number of trials, of speakers and of segments.

    python benchmarks/metrics_growth.py [growth.png]

Each row is a size with the processor's seconds and the peak of the memory that the computation asks
for; below each table are the exponents of both, the slope of a line through the logarithms of the
larger half of the sizes. The first table is the reference: one sort of the scores.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import metrics
from voicenym.metrics import similarity_matrix
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.voices.clustering import link

TRIALS = (10_000, 31_600, 100_000, 316_000, 1_000_000, 3_160_000, 10_000_000)
SPEAKERS = (10, 32, 100, 316, 1000, 3160, 10_000)
SEGMENTS = (500, 1000, 2000, 4000)
DIMENSION = 64
FIXED = 520_000
"""Trials of the tables by speakers."""
Curve = tuple[Sequence[int], list[float], list[float]]


def sort(count: int) -> Callable[[], object]:
    return partial(np.sort, np.concatenate(metrics.trials(count)))


def values(count: int) -> Callable[[], object]:
    return partial(metrics.everything, *metrics.trials(count))


def intervals(count: int, speakers: int = metrics.SPEAKERS) -> Callable[[], object]:
    case = metrics.trials(count)
    who = metrics.speakers_of(*map(len, case), speakers)
    return partial(metrics.with_intervals, *case, who, metrics.REPLICATES)


def preparation(count: int) -> Callable[[], object]:
    """What intervals do once: sorting, bins, and the pairs of speakers."""
    case = metrics.trials(count)
    who = metrics.speakers_of(*map(len, case))
    return lambda: next(SortedTrials(*case, who).replicates(1).weights())


def segments(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    who = np.arange(count) // 10
    voices = rng.standard_normal((count // 10 + 1, DIMENSION))[who]
    voices = voices + rng.standard_normal(voices.shape)
    return voices / np.linalg.norm(voices, axis=1, keepdims=True), who


def matrix(count: int) -> Callable[[], object]:
    voices, who = segments(count)
    itself = np.eye(count, dtype=bool)
    return lambda: similarity_matrix(voices @ voices.T, who, who, itself)


def clusters(count: int) -> Callable[[], object]:
    return partial(link, *segments(count))


TABLES = {
    "one sort, by trials": (sort, TRIALS),
    "values of four metrics, by trials": (values, TRIALS),
    "preparation of their intervals, by trials": (preparation, TRIALS),
    "values and intervals, 60 speakers, by trials": (intervals, TRIALS),
    f"values and intervals, {FIXED:,} trials, by speakers": (partial(intervals, FIXED), SPEAKERS),
    "voice similarity matrix, by segments": (matrix, SEGMENTS),
    "clusters, by segments": (clusters, SEGMENTS),
}


def measured(run: Callable[[], object]) -> tuple[float, float]:
    """Processor's seconds, and peak of the memory in MB, in runs of their own."""
    spent = metrics.seconds(run, 2)[1]
    if spent < 1.0:
        spent = min(spent, metrics.seconds(run, 3)[1])
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return spent, peak


def exponent(sizes: Sequence[int], figures: Sequence[float]) -> float:
    half = len(sizes) // 2
    slope: float = np.polyfit(np.log(sizes[half:]), np.log(figures[half:]), 1)[0]
    return slope


def plot(
    curves: dict[str, Curve],
    path: str,
    sizes_are: str = "trials, speakers or segments",
    memory_is: str = "peak memory, MB",
) -> None:
    """Both figures of each table against its size, logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.4), layout="constrained")
    for name, (sizes, *both) in curves.items():
        growth = ", ".join(f"{exponent(sizes, figures):.2f}" for figures in both)
        for axis, figures in zip(axes, both, strict=True):
            axis.loglog(sizes, figures, marker="o", ms=3, lw=1.2, label=f"{name}: {growth}")
    for axis, label in zip(axes, ("seconds of one core", memory_is), strict=True):
        axis.set(xlabel=sizes_are, ylabel=label)
        axis.grid(alpha=0.3)
    handles, names = axes[0].get_legend_handles_labels()
    title = "exponents of time and memory"
    figure.legend(handles, names, title=title, loc="outside lower center", ncols=2, fontsize=8)
    figure.savefig(path, dpi=90)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(48).save(path, optimize=True)


def main(path: str = "") -> None:
    metrics.everything(*metrics.trials(1000))  # scipy is imported
    curves = {}
    for name, (prepare, sizes) in TABLES.items():
        print(name)
        spent, peak = [], []
        for size in sizes:
            seconds, memory = measured(prepare(size))
            spent.append(seconds)
            peak.append(memory)
            print(f"{size:12,d} {seconds:9.3f} s {memory:8.1f} MB", flush=True)
        growth = exponent(sizes, spent), exponent(sizes, peak)
        print(f"    exponent {growth[0]:5.2f}   {growth[1]:8.2f}\n")
        curves[name] = (sizes, spent, peak)
    if path:
        plot(curves, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
