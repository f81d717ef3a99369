"""Detail tables of the report: kinds of errors, sound, diversity, similarity, weighted means."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from voicenym.evaluation.reported_metrics import WEIGHTED, headline, metrics, named
from voicenym.evaluation.reports.html import grid, interval
from voicenym.evaluation.reports.report_tables import explanations
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured

TABLES = {
    "errors": "Errors of the recogniser, in %",
    "sound": "Sound",
    "labels": "Emotion and accent, in %",
    "diversity": "Diversity of voices",
    "similarity": "Voice similarity, 0 to 1",
}
"""Captions of the tables of utility metrics, by :attr:`voicenym.metrics.metric.Display.table`."""
Column = tuple[str, str, int]
"""Key, heading, digits."""


def utility(evaluation: Evaluation) -> list[str]:
    """Tables of utility metrics; empty without measurements."""
    every = [("(original)", _of_originals(evaluation.utility))]
    every += [(system.name, system.utility) for system in evaluation.systems]
    tables = []
    for table, caption in TABLES.items():
        own = [metric for metric in metrics() if metric.display.table == table]
        tables.append(_table(caption, [(m.name, m.heading, m.display.digits) for m in own], every))
    keys = list(dict.fromkeys(key for _, figures in every for key in figures))
    means = _table(
        "Means over data sets with the weights of the VoicePrivacy Challenge",
        [(key, key, _digits(key)) for key in keys if key.startswith(WEIGHTED)],
        every,
    )
    if not any((*tables, means)):
        return []
    explained = [
        metric
        for metric in metrics()
        if metric.display.table in TABLES and metric.name in keys and not metric.display.summary
    ]
    text = [*tables, means, explanations(explained)]
    if means:
        text.append(
            "<p>Weighted: means over data sets and sexes with the weights of the EER; the word "
            "error rate is the mean of LibriSpeech and VCTK with equal weights. results.csv has "
            "the figures of each part.</p>"
        )
    return [part for part in text if part]


def _of_originals(figures: dict[str, Measured]) -> dict[str, Measured]:
    """Figures of originals, without metrics that compare recordings with their originals."""
    metric = {key: named(key) for key in figures}
    return {key: m for key, m in figures.items() if (found := metric[key]) and found.originals}


def _digits(key: str) -> int:
    metric = named(key)
    return 1 if metric is None else metric.display.digits


def _table(
    caption: str, columns: Sequence[Column], every: list[tuple[str, dict[str, Measured]]]
) -> str:
    """Table with a row for each system and a column for each metric that has a figure."""
    there = [column for column in columns if any(column[0] in figures for _, figures in every)]
    rows = [
        [escape(name), *(interval(figures.get(key), d, "\N{EN DASH}") for key, _, d in there)]
        for name, figures in every
        if any(key in figures for key, _, _ in there)
    ]
    if not rows:
        return ""
    heads = ["system", *(heading for _, heading, _ in there)]
    return f'<div class="more">{grid(caption, heads, rows)}</div>'


def attackers(evaluation: Evaluation) -> list[str]:
    """Explanation of the metrics in the tables of attackers."""
    attacks: list[AttackFigures] = [*evaluation.unprotected]
    attacks += [attack for system in evaluation.systems for attack in system.attacks]
    keys = {key for attack in attacks for key in attack.figures}
    own = [metric for metric in metrics() if metric.name in keys and metric is not headline()]
    text = [explanations(own)] if own else []
    if any(key.startswith(WEIGHTED) for key in keys):
        text.append(
            "<p>Weighted: mean of the rates of all data sets and sexes, each with its own "
            "threshold, with the weights of the VoicePrivacy Challenge (Miao et al. 2023, appendix "
            "A): 0.25 for LibriSpeech, 0.20 for VCTK with different sentences and 0.05 with common "
            "ones, for women and for men alike.</p>"
        )
    if any("AS-norm" in attack.attacker for attack in attacks):
        text.append("<p>AS-norm: scores normalised by those of other speakers.</p>")
    return text
