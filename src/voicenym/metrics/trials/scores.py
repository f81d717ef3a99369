"""Verification scores: checks, sorting, and the speakers of each trial.

Every metric here takes scores of *target* trials (the same speaker) and *non-target* trials
(different speakers); a higher score says that the speakers are likelier to be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import ScoreError

Array = npt.NDArray[np.float64]
Scores = npt.ArrayLike


def check(target: Scores, nontarget: Scores) -> tuple[Array, Array]:
    """Both classes as flat float64 arrays; infinities are allowed.

    Args:
        target, nontarget: scores of any shape: arrays, sequences, or tensors of torch.

    Raises:
        ScoreError: a class without trials, or a score that is NaN (the message names it), masked,
            or no number.

    Example:
        >>> check([[2.0, 3.0]], [1.0])
        (array([2., 3.]), array([1.]))
    """
    checked = []
    for name, values in (("target", target), ("non-target", nontarget)):
        scores = _numbers(values, name)
        if not scores.size:
            raise ScoreError(f"there are no {name} scores; both kinds of trials are needed")
        bad = np.flatnonzero(np.isnan(scores))
        if bad.size:
            raise ScoreError(
                f"{name} score {bad[0]} is NaN ({bad.size} of {scores.size} are); mend or leave "
                "out that trial"
            )
        checked.append(scores)
    return checked[0], checked[1]


def _numbers(values: Any, name: str) -> Array:
    """Scores of one class, flat."""
    if callable(getattr(values, "detach", None)):  # torch's, perhaps on a GPU or of 16 bits
        values = values.detach().cpu()
        values = values if values.is_complex() else values.double()
    if np.ma.is_masked(values):
        raise ScoreError(
            f"some {name} scores are masked; leave out those trials, by .compressed() and their "
            "speakers alike"
        )
    try:
        found = np.asarray(values)
        if found.dtype.kind in "cmM":
            raise TypeError(f"they are {found.dtype}")
        return found.astype(np.float64, copy=False).reshape(-1)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ScoreError(
            f"{name} scores are no array of real numbers ({reason}); give a number for each trial, "
            "such as a list or an array"
        ) from None


@dataclass(frozen=True)
class Speakers:
    """Speakers of each trial, by which intervals account for dependent trials.

    Args:
        target: ``[trial, 2]`` integers: speaker of the enrolment and of the trial.
        nontarget: the same for non-target trials.
    """

    target: npt.NDArray[np.integer]
    nontarget: npt.NDArray[np.integer]

    def __post_init__(self) -> None:
        for name in ("target", "nontarget"):
            pairs = np.asarray(getattr(self, name))
            if pairs.ndim != 2 or pairs.shape[1] != 2:
                raise ScoreError(f"speakers of {name} trials need [trial, 2], not {pairs.shape}")
            if pairs.dtype.kind == "f" and np.isnan(pairs).any():
                raise ScoreError(f"a speaker of the {name} trials is NaN; leave out that trial")


@dataclass(frozen=True)
class Sorted:
    """Scores of both classes on one axis, with equal scores merged.

    Args:
        thresholds: ``[score]``, the different scores, ascending.
        target, nontarget: ``[score]``, trials (or their weights) at each.
    """

    thresholds: Array
    target: Array
    nontarget: Array

    @classmethod
    def of(cls, target: Scores, nontarget: Scores) -> Sorted:
        """Sort and count."""
        t, n = (np.sort(scores) for scores in check(target, nontarget))
        # "stable" finds the two sorted runs and merges them in one pass
        pooled = np.sort(np.concatenate([t, n]), kind="stable")
        begin = np.flatnonzero(np.append(True, pooled[1:] != pooled[:-1]))
        thresholds = pooled[begin]
        everything = np.diff(begin, append=pooled.size).astype(np.float64)
        # only the smaller class is looked up; the rest is the other's
        few = np.bincount(
            np.searchsorted(thresholds, min(t, n, key=len)), minlength=thresholds.size
        ).astype(np.float64)
        many = everything - few
        return cls(thresholds, few, many) if t.size <= n.size else cls(thresholds, many, few)

    def runs(self) -> npt.NDArray[np.intp]:
        """``[run]``, where runs begin: neighbours at which there are trials of one class alone.

        Joining each run into one point leaves the ROC, its hull and PAV as they are: within a run
        the ROC is straight, and PAV pools it. With few targets there are far fewer runs than
        scores.
        """
        kind = (self.target > 0).astype(np.int8) + 2 * (self.nontarget > 0)
        borders = (kind[1:] != kind[:-1]) | (kind[1:] == 3)
        return np.flatnonzero(np.append(True, borders))

    def joined(self, begin: npt.NDArray[np.intp]) -> Sorted:
        """The scores from each of ``begin`` (ascending, the first 0) to the next as one point."""
        return Sorted(
            self.thresholds[begin],
            np.add.reduceat(self.target, begin),
            np.add.reduceat(self.nontarget, begin),
        )

    def rates(self) -> tuple[Array, Array]:
        """Miss and false-alarm rate ``[score + 1]`` when all below a threshold are rejected.

        The first accepts everything, the last (a threshold above all scores) nothing.
        """
        # in place: of ten million scores, each array that is not made saves 80 MB
        miss, alarm = np.zeros((2, self.thresholds.size + 1))
        np.cumsum(self.target, out=miss[1:])
        np.cumsum(self.nontarget, out=alarm[1:])
        miss /= miss[-1]
        nontargets = alarm[-1]
        np.subtract(nontargets, alarm, out=alarm)
        alarm /= nontargets
        return miss, alarm


def error_rates(target: Array, nontarget: Array) -> tuple[Array, Array]:
    """Miss and false-alarm rates of replicates, ``[replicate, score + 1]``: :meth:`Sorted.rates`.

    Args:
        target, nontarget: weights in the order of the scores, ``[replicate, score]``.
    """
    shape = len(target), target.shape[1] + 1
    miss, alarm = np.zeros(shape), np.zeros(shape)
    np.cumsum(target, axis=1, out=miss[:, 1:])
    np.cumsum(nontarget, axis=1, out=alarm[:, 1:])
    miss /= miss[:, -1:]
    totals = alarm[:, -1:].copy()
    np.subtract(totals, alarm, out=alarm)
    alarm /= totals
    return miss, alarm


def places(
    target: Array, nontarget: Array
) -> tuple[Array, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The different scores, ascending, and at which of them each trial is."""
    thresholds, at = np.unique(np.concatenate([target, nontarget]), return_inverse=True)
    return thresholds, at[: target.size], at[target.size :]
