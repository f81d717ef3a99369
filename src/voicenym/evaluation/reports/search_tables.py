"""Tables of the report on searches: the amount of speech, and limits by the numbers of trials."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from voicenym.evaluation.measurements.speech_amount import REPORTED
from voicenym.evaluation.reported_metrics import named
from voicenym.evaluation.reports.html import grid, interval, sentence
from voicenym.evaluation.results import Amount, AttackFigures, Evaluation


def amounts(evaluation: Evaluation) -> list[str]:
    """Table of rates by the number of recordings for each system; empty without measurements."""
    found = [_table(system.name, system.amounts) for system in evaluation.systems if system.amounts]
    if not found:
        return []
    return [
        "<h3>By the amount of speech</h3>",
        "<p>Rates of attackers who have several recordings of each speaker. Score average: the "
        "mean of the scores of all pairs. Embedding average: the mean of the speaker vectors of "
        "each side is compared. All enrolled: the enrolment is the evaluation's, and so many "
        "recordings are tested. Numbers of recordings that fewer than four speakers have are left "
        "out.</p>",
        *found,
    ]


def _table(name: str, found: Sequence[Amount]) -> str:
    metrics = [metric for metric in map(named, REPORTED) if metric is not None]
    rows = [
        [
            f"{escape(one.attacker)}<br><small>{escape(one.verifier)}</small>",
            escape(one.average),
            str(one.recordings),
            str(one.speakers),
            *(interval(one.figures.get(m.name), m.display.digits, "–") for m in metrics),
        ]
        for one in found
    ]
    heads = ["attacker", "average", "recordings", "speakers", *(m.column for m in metrics)]
    return f'<div class="more">{grid(f"{name}: by the amount of speech", heads, rows)}</div>'


def limits(evaluation: Evaluation) -> list[str]:
    """Sentences on figures of the strongest attackers that the numbers of trials limit."""
    strongest: list[tuple[str, AttackFigures]] = []
    if evaluation.unprotected:
        strongest.append(
            ("Original speech", min(evaluation.unprotected, key=lambda a: a.eer.value))
        )
    for system in evaluation.systems:
        if system.attacked and not system.strongest.broken:
            strongest.append((system.name, system.strongest))
    items = [
        f"<li>{sentence(f', {attack.attacker}, {attack.verifier}: {limit}', name)}</li>"
        for name, attack in strongest
        for limit in attack.limits
    ]
    if not items:
        return []
    return [
        "<p>Figures of the strongest attackers that the numbers of trials limit:</p>",
        f'<ul class="about">{"".join(items)}</ul>',
    ]
