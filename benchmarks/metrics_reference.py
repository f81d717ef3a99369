"""Reference of the metrics: each of its own sort, with a Python loop of PAV over all trials.

Our own, from the published descriptions; it has the structure of the VoicePrivacy Challenge's code,
where EER, min C_llr and ZEBRA each sort the scores and run pool-adjacent-violators (PAV) one trial
after another, and linkability counts a histogram. ``benchmarks/metrics.py`` compares the speed of
:mod:`voicenym.metrics` with it, and their results.
"""

from __future__ import annotations

import numpy as np

MOST_BINS, TARGETS_OF_BIN = 100, 10
"""Bins of linkability: at most so many, and so many target trials for each."""


def pooled(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and sizes of the blocks of PAV, of 0 and 1 sorted by score; Ayer et al. 1955.

    Blocks stand in arrays, as in the circulating code; with Python lists the loop needs half the
    time.
    """
    means, sizes = np.zeros(len(labels)), np.zeros(len(labels))
    last = -1
    for label in labels:
        last += 1
        means[last], sizes[last] = label, 1
        while last and means[last - 1] >= means[last]:
            size = sizes[last - 1] + sizes[last]
            means[last - 1] += sizes[last] / size * (means[last] - means[last - 1])
            sizes[last - 1] = size
            last -= 1
    return means[: last + 1], sizes[: last + 1].astype(int)


def sorted_labels(target: np.ndarray, nontarget: np.ndarray) -> np.ndarray:
    """1.0 of a target and 0.0 of another trial, by score; of equal scores targets come first."""
    labels = np.concatenate([np.ones(len(target)), np.zeros(len(nontarget))])
    scores = np.concatenate([target, nontarget])
    return labels[np.argsort(scores, kind="stable")]


def ratios(target: np.ndarray, nontarget: np.ndarray, laplace: bool) -> tuple[np.ndarray, ...]:
    """Calibrated log-likelihood ratios of the target and of the other trials, in nats."""
    labels = sorted_labels(target, nontarget)
    if laplace:
        labels = np.concatenate([[1.0, 0.0], labels, [1.0, 0.0]])
    means, sizes = pooled(labels)
    with np.errstate(divide="ignore"):
        blocks = np.log(means) - np.log1p(-means) - np.log(len(target) / len(nontarget))
    found = np.repeat(blocks, sizes)
    if laplace:
        found, labels = found[2:-2], labels[2:-2]
    return found[labels == 1], found[labels == 0]


def rocch_eer(target: np.ndarray, nontarget: np.ndarray) -> float:
    """Equal error rate of the ROC's convex hull."""
    means, sizes = pooled(sorted_labels(target, nontarget))
    hits = np.rint(means * sizes)
    miss = np.concatenate([[0.0], np.cumsum(hits)]) / len(target)
    false = 1.0 - np.concatenate([[0.0], np.cumsum(sizes - hits)]) / len(nontarget)
    k = int(np.argmax(miss >= false))
    rise, fall = miss[k] - miss[k - 1], false[k - 1] - false[k]
    return float(miss[k - 1] + (false[k - 1] - miss[k - 1]) * rise / (rise + fall))


def min_cllr(target: np.ndarray, nontarget: np.ndarray) -> float:
    """Least cost of the log-likelihood ratio, in bits; Brümmer and du Preez 2006."""
    of_target, of_others = ratios(target, nontarget, laplace=False)
    costs = np.logaddexp(0.0, -of_target).mean() + np.logaddexp(0.0, of_others).mean()
    return float(costs / (2.0 * np.log(2.0)))


def zebra(target: np.ndarray, nontarget: np.ndarray) -> tuple[float, float]:
    """Expected disclosure in bits, by its closed form, and worst case; Nautsch et al. 2020."""
    of_target, of_others = ratios(target, nontarget, laplace=False)
    expected = sum(_disclosure(part) for part in (of_target, -of_others)) / np.log(2.0)
    smoothed = np.concatenate(ratios(target, nontarget, laplace=True))
    return float(expected), float(np.abs(smoothed).max() / np.log(10.0))


def linkability(target: np.ndarray, nontarget: np.ndarray) -> float:
    """D_sys by a histogram of equal bins; Gomez-Barrero et al. 2017, Maouche et al. 2020."""
    both = np.concatenate([target, nontarget])
    bins = max(1, min(MOST_BINS, len(target) // TARGETS_OF_BIN))
    edges = np.linspace(both.min(), both.max(), bins + 1)
    mated, others = (np.histogram(x, edges)[0] / len(x) for x in (target, nontarget))
    ratio = np.divide(mated, others, out=np.full(len(mated), np.inf), where=others > 0)
    with np.errstate(invalid="ignore"):
        local = np.where(np.isinf(ratio), 1.0, 2.0 * ratio / (1.0 + ratio) - 1.0)
    return float((mated * np.clip(local, 0.0, None)).sum())


def everything(target: np.ndarray, nontarget: np.ndarray) -> None:
    """All four."""
    rocch_eer(target, nontarget)
    min_cllr(target, nontarget)
    zebra(target, nontarget)
    linkability(target, nontarget)


def _disclosure(nats: np.ndarray) -> float:
    """Mean of 1/4 + (a - b) / (2 b²), b = e^a - 1."""
    near = np.abs(nats) < 1e-3
    a = np.where(near | np.isposinf(nats), 1.0, nats)
    with np.errstate(over="ignore", invalid="ignore"):
        b = np.expm1(a)
        found = 0.25 + (a - b) / (2.0 * b * b)
        found = np.where(near, nats / 6.0 - nats**2 / 24.0, found)
    return float(np.where(np.isposinf(nats) | ~np.isfinite(found), 0.25, found).mean())
