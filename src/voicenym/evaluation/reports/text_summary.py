"""Results of an evaluation as plain text, which ``voicenym evaluate`` prints at its end."""

from __future__ import annotations

import math

from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.reported_metrics import metrics
from voicenym.evaluation.results import Evaluation, Measured, SystemResults
from voicenym.metrics.metric import Metric


def summary(evaluation: Evaluation) -> str:
    """Warnings, and for each system the strongest attacker's figures and the utility figures.

    Notes on a system are among the warnings, since they name attackers that did not run: its EER
    without them is an upper bound.
    """
    lines = [f"warning: {warning}" for warning in evaluation.warnings]
    for system in evaluation.systems:
        own = (note for note in system.notes if note not in evaluation.warnings)
        lines += [f"warning: {system.name}: {note}" for note in own]
    for system in evaluation.systems:
        lines += _system(system)
    return "\n".join(lines)


def _system(system: SystemResults) -> list[str]:
    why = ungraded(system)
    if not system.attacked or system.strongest.broken:
        head, figures = f"{system.name}: protection unknown, since {why}", system.utility
    else:
        top = system.strongest
        unknown = f"protection unknown, since {why}; " if why else ""
        head = f"{system.name}: {unknown}the strongest attacker is {top.attacker}, {top.verifier}"
        figures = {**top.figures, **system.utility}
    displayed = [
        metric
        for metric in metrics()
        if metric.name in figures
        and (metric.display.table == "attackers" or metric.display.summary)
    ]
    width = max((len(metric.name) for metric in displayed), default=0)
    return [
        head,
        *(
            f"  {metric.name:<{width}}  {figure(metric, figures[metric.name])}"
            for metric in displayed
        ),
    ]


def figure(metric: Metric[object], measured: Measured) -> str:
    """A figure with its unit, interval and chance level.

    Example:
        >>> from voicenym.metrics.verification.eer import EQUAL_ERROR_RATE
        >>> figure(EQUAL_ERROR_RATE, Measured(10.04, 8.0, 13.0, "%"))
        '10.0 % (8.0 to 13.0), chance 50 %'
        >>> figure(EQUAL_ERROR_RATE, Measured(math.nan))
        'unknown'
    """
    digits = metric.display.digits
    unit = f" {measured.unit}" if measured.unit else ""
    if math.isnan(measured.value):
        return "unknown"
    text = f"{measured.value:.{digits}f}{unit}"
    if not (measured.low is None or measured.high is None or math.isnan(measured.low)):
        text += f" ({measured.low:.{digits}f} to {measured.high:.{digits}f})"
    if metric.chance is not None:
        text += f", chance {metric.chance:g}{unit}"
    return text
