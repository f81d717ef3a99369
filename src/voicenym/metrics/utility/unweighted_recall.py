"""Unweighted average recall (UAR) of a classifier of labels, such as emotions or accents.

UAR = (1/C) sum_c correct_c / count_c over C classes: the mean of the recall of each class, so that
frequent classes do not hide rare ones. The VoicePrivacy Challenge 2024 measures with it whether
anonymized speech keeps the speaker's emotion (Tomashenko et al., "The VoicePrivacy 2024 Challenge
evaluation plan").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from voicenym.errors import ScoreError
from voicenym.metrics.intervals.binomial import unanimous
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.metric import BOOTSTRAP_OF_MEAN, Display, Estimate, Metric
from voicenym.metrics.metric_inputs import GuessedAccents, GuessedEmotions, GuessedLabels
from voicenym.metrics.trials.scores import Array


def unweighted_recall(labels: Sequence[str], guesses: Sequence[str]) -> float:
    """Mean over the classes of ``labels`` of the share of their recordings with this guess.

    Args:
        labels, guesses: of each recording.

    Raises:
        ScoreError: as of :func:`recall`.

    Example:
        >>> unweighted_recall(["sad", "sad", "sad", "glad"], ["sad", "sad", "glad", "glad"])
        0.8333333333333333
    """
    return recall(labels, guesses, [""] * len(labels)).value


def recall(labels: Sequence[str], guesses: Sequence[str], speakers: Sequence[str]) -> Drawn:
    """UAR as a function of drawn speakers; classes of which nobody was drawn do not count.

    Args:
        labels, guesses, speakers: of each recording.

    Raises:
        ScoreError: no recordings, or lengths that differ.
    """
    if not len(labels) == len(guesses) == len(speakers) or not len(labels):
        raise ScoreError(f"{len(guesses)} guesses of {len(labels)} labels, which must be as many")
    classes, which = np.unique(list(labels), return_inverse=True)
    people, who = np.unique(list(speakers), return_inverse=True)
    count, correct = np.zeros((2, len(people), len(classes)))
    np.add.at(count, (who, which), 1.0)
    np.add.at(correct, (who, which), np.asarray(list(labels)) == np.asarray(list(guesses)))

    def again(times: Array) -> float:
        there = times @ count
        drawn = there > 0.0
        return float(((times @ correct)[drawn] / there[drawn]).mean()) if drawn.any() else math.nan

    return Drawn(again(np.ones(len(people))), people, again)


def _measured(guessed: GuessedLabels) -> Estimate:
    drawn = recall(guessed.labels, guessed.guesses, guessed.speakers)
    draws = replicate([drawn], **guessed.bootstrap)[0]
    people = len(drawn.speakers)
    interval = unanimous(drawn.value, percentiles(draws), people) if people > 1 else None
    return Estimate(drawn.value, interval)


EMOTION = Metric(
    name="emotion UAR",
    unit="%",
    better="higher",
    chance=None,
    interval=BOOTSTRAP_OF_MEAN,
    definition="Unweighted average recall of emotions, by a classifier that was trained on "
    "original speech of other speakers; chance is 100 % over the number of emotions",
    data=GuessedEmotions,
    measure=_measured,
    display=Display(table="labels", digits=1, subject="emotion"),
    scale=100.0,
    originals=True,
    subgroups=False,
)
ACCENT = Metric(
    name="accent UAR",
    unit="%",
    better="neither",
    chance=None,
    interval=BOOTSTRAP_OF_MEAN,
    definition="The same of accents, which identify speakers and belong to how they speak",
    data=GuessedAccents,
    measure=_measured,
    display=Display(table="labels", digits=1, subject="accent"),
    scale=100.0,
    originals=True,
    subgroups=False,
)
