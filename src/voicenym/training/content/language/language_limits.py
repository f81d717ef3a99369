"""Limits of language scores: mean scores above which speech counts as another language.

Means of short speech scatter more, so that the limit falls with the seconds of speech. The examples
are of speakers that the scoring network did not learn from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.training.content.language.language_examples import Example

PREFIXES = (1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
"""Seconds of speech for which the limit is found."""


@torch.inference_mode()
def prefix_means(network: LanguageScores, example: Example, rate: float) -> dict[float, float]:
    """Mean scores of the first :data:`PREFIXES` seconds of an example's speech, as far as it has
    them.
    """
    scores = network(example.states[None].float(), example.misfit[None])[0][example.speech]
    found = {}
    for seconds in PREFIXES:
        count = round(seconds * rate)
        if count <= len(scores):
            found[seconds] = float(scores[:count].mean())
    return found


def limits(means: Sequence[dict[float, float]], alarms: float) -> tuple[float, float]:
    """Limit and spread, so that at most a share of the examples of each length is above.

    Args:
        means: of :func:`prefix_means`, of examples of the own language.
        alarms: the share.

    Returns:
        ``limit`` and ``spread`` of :meth:`LanguageScores.limit_for`: the least squares line through
        the quantiles over 1 / sqrt(seconds), raised above all of them.

    Lengths of fewer than 1 / alarms examples do not count.

    Raises:
        CorpusError: too few examples are long enough.
    """
    quantiles = [
        (seconds**-0.5, float(np.quantile(some, 1.0 - alarms)))
        for seconds in PREFIXES
        if len(some := [one[seconds] for one in means if seconds in one]) * alarms >= 1.0
    ]
    if not quantiles:
        raise CorpusError(
            f"fewer than {1 / alarms:.0f} examples have {PREFIXES[0]} s of speech; give more "
            "speakers"
        )
    x, y = np.array(quantiles).T
    slope = float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else 0.0
    spread = max(0.0, slope)
    return float((y - spread * x).max()), spread


def missed(
    network: LanguageScores, means: Sequence[dict[float, float]], examples: Sequence[Example]
) -> dict[str, float]:
    """Share of the examples of other languages that the limit lets pass, in %, by length.

    Args:
        network: with its limit.
        means: of :func:`prefix_means`, of each example by a network that did not learn from it.
        examples: the same, of both sides.
    """
    found = {}
    for seconds in PREFIXES:
        passed = [
            some[seconds] <= network.limit_for(seconds)
            for some, example in zip(means, examples, strict=True)
            if example.other and seconds in some
        ]
        if passed:
            found[f"missed % of {seconds:g} s on held-out speakers"] = 100 * float(np.mean(passed))
    return found
