"""Tables of the report by condition: the figures of VoicePrivacy 2020 by sex, age, corpus and list.

A row is a condition with one attacker: ignorant and lazy-informed, as the challenge has them
(Tomashenko et al. 2022), and the strongest attacker of this condition. The worst condition of each
column is marked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from voicenym.attack.attackers import Ignorant, LazyInformed
from voicenym.evaluation.reported_metrics import headline, metrics
from voicenym.evaluation.reports.html import grid, interval
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.evaluation.trial_plans.conditions import ConditionSize
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import TrialScores, VoiceVectors
from voicenym.metrics.verification.zebra import WORST_CASE, tag

POOLED = "pooled"
"""Head of the row of all trials."""
WORST = "<br><small><b>worst</b></small>"
LEADING = ("EER", "ROCCH-EER", "C_llr", "min C_llr", "D_sys", "D_ECE", "worst case")
"""The challenge's metrics of trial scores, in the order of its tables; others follow."""
Row = tuple[str, str, Mapping[str, Measured], bool]
"""A row: head, suffix of the figures' keys, figures, and whether it can be marked as the worst."""


def section(evaluation: Evaluation) -> list[str]:
    """Section with the tables and their explanation; empty without conditions."""
    found = tables(evaluation)
    if not found:
        return []
    return [
        "<p>The figures of a condition are those of its own trials: speakers of one sex, age group "
        "or corpus against each other, or the trials of one list. Each condition has a row for the "
        "ignorant and the lazy-informed attacker (o-a and a-a of the VoicePrivacy Challenges); the "
        "last is of the attacker who is strongest in this condition, one of them or another. "
        "<b>Worst</b> marks the condition with the least protection or the least utility among the "
        "strongest attackers' rows.</p>",
        *found,
    ]


def tables(evaluation: Evaluation) -> list[str]:
    """Tables of each system and of original speech, as HTML; empty without conditions."""
    if not evaluation.conditions:
        return []
    found = [
        part
        for system in evaluation.systems
        for part in (identity(system, evaluation), speech(system, evaluation))
    ]
    found.append(_originals(evaluation))
    return [part for part in found if part]


def identity(system: SystemResults, evaluation: Evaluation) -> str:
    """Figures of trial scores by condition, for up to three attackers."""
    attacks = [attack for attack in system.attacks if not (attack.holds_key or attack.broken)]
    if not attacks:
        return ""
    rows: list[tuple[str, str, AttackFigures | None, bool]] = []
    for head, suffix in _conditions(evaluation):
        strongest = _strongest(attacks, suffix)
        both = [_strongest(_kind(attacks, one.name), suffix) for one in (Ignorant, LazyInformed)]
        others = [one for one in both if one is not strongest]
        rows += [(head, suffix, one, False) for one in others]
        rows.append((head, suffix, strongest, bool(suffix)))
    return _trial_table(f"{system.name} by condition: speaker identity", rows, evaluation, attacks)


def _originals(evaluation: Evaluation) -> str:
    attacks = evaluation.unprotected
    rows = [(h, s, _strongest(attacks, s), bool(s)) for h, s in _conditions(evaluation)]
    return _trial_table("Original speech by condition: speaker identity", rows, evaluation, attacks)


def _trial_table(
    caption: str,
    rows: Sequence[tuple[str, str, AttackFigures | None, bool]],
    evaluation: Evaluation,
    attacks: Sequence[AttackFigures],
) -> str:
    keys = {key for attack in attacks for key in attack.figures}
    displayed = [m for m in _ordered() if m.name in keys and m.subgroups]
    filled = [
        (f"{head}<br><small>{_who(attack)}</small>", suffix, attack.figures, worst)
        for head, suffix, attack, worst in rows
        if attack is not None and _key(headline(), suffix) in attack.figures
    ]

    def category(_: str, suffix: str, figures: Mapping[str, Measured]) -> str:
        worst = figures.get(_key(WORST_CASE, suffix))
        return "–" if worst is None else escape(tag(worst.value))

    return _table(caption, displayed, filled, evaluation, ("tag", category))


def speech(system: SystemResults, evaluation: Evaluation) -> str:
    """Utility figures by condition: words, naturalness, intonation, distinctiveness."""
    rows = [
        (head, suffix, system.utility, bool(suffix)) for head, suffix in _conditions(evaluation)
    ]
    suffixes = [suffix for _, suffix in _conditions(evaluation) if suffix]
    displayed = [
        metric
        for metric in metrics()
        if metric.data is not TrialScores
        and (metric.display.summary or metric.data is VoiceVectors)
        and any(_key(metric, suffix) in system.utility for suffix in suffixes)
    ]
    if not displayed:
        return ""
    return _table(f"{system.name} by condition: speech and voices", displayed, rows, evaluation)


def _ordered() -> list[Metric[Any]]:
    """Metrics of the attackers' table, the challenge's first."""
    there = {m.name: m for m in metrics() if m.display.table == "attackers"}
    first = [there[name] for name in LEADING if name in there]
    return [*first, *(m for m in there.values() if m not in first)]


def _conditions(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Heads and suffixes of rows: all trials, and conditions that were measured."""
    found = [(POOLED, "")]
    return found + [(_head(c), c.name) for c in evaluation.conditions if not c.lacking]


def _head(size: ConditionSize) -> str:
    return f"{escape(size.words)} ({size.speakers})"


def _kind(attacks: Sequence[AttackFigures], name: str) -> list[AttackFigures]:
    return [attack for attack in attacks if attack.attacker == name]


def _strongest(attacks: Sequence[AttackFigures], suffix: str) -> AttackFigures | None:
    """Attacker with the lowest EER in a condition."""
    key = _key(headline(), suffix)
    there = [attack for attack in attacks if key in attack.figures]
    return min(there, key=lambda attack: attack.figures[key].value, default=None)


def _who(attack: AttackFigures) -> str:
    return f"{escape(attack.attacker)}, {escape(attack.verifier)}"


def _key(metric: Metric[Any], suffix: str) -> str:
    return f"{metric.name} {suffix}".strip()


def _table(
    caption: str,
    displayed: Sequence[Metric[Any]],
    rows: Sequence[Row],
    evaluation: Evaluation,
    last: tuple[str, Callable[[str, str, Mapping[str, Measured]], str]] | None = None,
) -> str:
    marked = {metric.name: worst(metric, rows) for metric in displayed}
    cells = []
    for number, (head, suffix, figures, _) in enumerate(rows):
        line = [head]
        for metric in displayed:
            text = interval(figures.get(_key(metric, suffix)), metric.display.digits, "–")
            line.append(text + (WORST if marked[metric.name] == number else ""))
        cells.append([*line, *([] if last is None else [last[1](head, suffix, figures)])])
    small = [condition for condition in evaluation.conditions if condition.lacking]
    width = len(displayed) + (last is not None)
    for condition in small:
        blanks = ["–"] * (width - 1)
        cells.append([_head(condition), f"not measured, {escape(condition.lacking)}", *blanks])
    heads = ["condition (speakers)", *(metric.column for metric in displayed)]
    heads += [] if last is None else [last[0]]
    return f'<div class="more">{grid(caption, heads, cells)}</div>'


def worst(metric: Metric[Any], rows: Sequence[Row]) -> int | None:
    """Row of the worst condition of a metric; None if fewer than two were measured.

    Args:
        metric: with its direction.
        rows: of a table.
    """
    if metric.better == "neither":
        return None
    found = {
        number: figures[_key(metric, suffix)].value
        for number, (_, suffix, figures, sought) in enumerate(rows)
        if sought and _key(metric, suffix) in figures
    }
    found = {number: value for number, value in found.items() if not math.isnan(value)}
    if len(set(found.values())) < 2:
        return None
    choose = min if metric.better == "higher" else max
    return choose(found, key=lambda number: found[number])
