"""Tables of the report: systems side by side, attackers, and recordings left out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any

from voicenym.errors import counted
from voicenym.evaluation.grades import UNCHECKED, UNINFORMED, ungraded
from voicenym.evaluation.reported_metrics import RETRAINED, WEIGHTED, headline, metrics, named
from voicenym.evaluation.reports.html import grid, interval, number, sentence
from voicenym.evaluation.reports.verdict import bounded, trials, with_key
from voicenym.evaluation.results import AttackFigures, Evaluation, SystemResults, by_strength
from voicenym.metrics.metric import Metric

LISTED = 200
"""Largest number of left-out recordings that the page names."""
SUBGROUP_DIGITS = 2


NO_EVIDENCE = "no evidence"
"""Text in place of the EER of an attacker that also finds nobody on a control."""


def explanations(found: Iterable[Metric[Any]]) -> str:
    """List of metrics with their meaning, direction, chance level and interval."""
    items = (
        f"<li><b>{escape(metric.name)}</b>: {escape(metric.explanation)}</li>" for metric in found
    )
    return f'<ul class="about">{"".join(items)}</ul>'


def columns(evaluation: Evaluation) -> list[tuple[str, Metric[Any]]]:
    """Keys and metrics of the first table, with those of a retrained recogniser if there is one."""
    found = [(metric.name, metric) for metric in metrics() if metric.display.summary]
    for name, metric in list(found):
        key = f"{name} {RETRAINED}"
        if any(key in system.utility for system in evaluation.systems):
            found.append((key, metric))
    return found


def summary(evaluation: Evaluation) -> str:
    """Table of privacy and utility of each system."""
    displayed = columns(evaluation)
    rate = headline().column
    heads = ["system", f"{rate}, strongest attacker", "strongest attacker", f"{rate}, key lost"]
    heads += [
        metric.heading + (f", {RETRAINED}" if key != metric.name else "")
        for key, metric in displayed
    ]
    rows = []
    if evaluation.unprotected:
        bare = min(evaluation.unprotected, key=lambda a: a.eer.value)
        cells = [
            interval(evaluation.utility.get(key), metric.display.digits)
            if metric.originals and key == metric.name
            else "–"
            for key, metric in displayed
        ]
        rows.append(["(original)", interval(bare.eer), _named(bare), "–", *cells])
    for system in evaluation.systems:
        if not system.attacked:
            top = ["not measured", "none"]
        else:
            top_eer = system.strongest.eer
            eer = NO_EVIDENCE if system.strongest.broken else interval(top_eer)
            if ungraded(system) in (UNINFORMED, UNCHECKED):
                eer += "<br><small>no protection shown</small>"
            elif bounded(system):
                eer += "<br><small>upper bound</small>"
            if system.left_out:
                eer += f"<br><small>failed on {trials(system.left_out)}</small>"
            top = [eer, _named(system.strongest)]
        row = [escape(system.name), *top, interval(with_key(system))]
        rows.append(
            [*row, *(_change(system, evaluation, key, m.display.digits) for key, m in displayed)]
        )
    return grid("Privacy and utility of each system", heads, rows)


def _named(attack: AttackFigures) -> str:
    return f"{escape(attack.attacker)}<br><small>{escape(attack.verifier)}</small>"


def _change(system: SystemResults, evaluation: Evaluation, key: str, digits: int) -> str:
    """Text of a figure and its difference from that of the originals."""
    found, before = system.utility.get(key), evaluation.utility.get(key)
    text = interval(found, digits)
    if found is not None and before is not None and math.isfinite(found.value - before.value):
        text += f"<br><small>{number(found.value - before.value, digits, '+')}</small>"
    return text


def missing(evaluation: Evaluation) -> list[str]:
    """Metrics that were not measured, with the reason from the notes."""
    items = ""
    for system in evaluation.systems:
        absent: dict[str, list[str]] = {}
        for metric in (m for m in metrics() if m.display.summary):
            if metric.name not in system.utility:
                word = metric.display.subject or metric.name
                notes = (*system.notes, *evaluation.warnings)
                why = next((n for n in notes if word in n and "not measured" in n), "")
                absent.setdefault(why, []).append(metric.name)
        if with_key(system) is None:
            absent["no attacker who has the key was run"] = [
                f"{headline().name} if the key is lost"
            ]
        for why, names in absent.items():
            reason = why or "no reason was noted"
            about = f", {', '.join(names)}: {reason}"
            items += f"<li>{sentence(about, system.name)}</li>"
    return [f'<p>Not measured:</p><ul class="about">{items}</ul>'] if items else []


def left_out(evaluation: Evaluation) -> list[str]:
    """Recordings that no figure counts."""
    if not evaluation.left_out:
        return []
    items = [
        f"<li>{escape(f'{one.step}: ' if one.step else '')}{escape(one.name)}: "
        f"{sentence(one.reason)}</li>"
        for one in evaluation.left_out[:LISTED]
    ]
    rest = len(evaluation.left_out) - LISTED
    if rest > 0:
        items.append(f"<li>and {rest} more, in results.json</li>")
    count = len(evaluation.left_out)
    head = f"{counted(count, 'recording was', 'recordings were')} left out; no figure counts them:"
    return ["<h3>Left out</h3>", f'<p>{head}</p><ul class="about">{"".join(items)}</ul>']


def attacks(name: str, found: tuple[AttackFigures, ...]) -> str:
    """Table of all attackers of a system, the strongest first, with all metrics of their scores.

    Broken attackers follow the sound ones, and attackers with the key come last.
    """
    if not found:
        return ""
    first = headline()
    keys = list(dict.fromkeys(m for a in found for m in a.figures if _listed(m)))
    rows = []
    for attack in by_strength(found):
        who = _named(attack) + (" <small>(has the key)</small>" if attack.holds_key else "")
        cells = [interval(attack.figures.get(key), _digits(key), "–") for key in keys]
        eer = NO_EVIDENCE if attack.broken else interval(attack.eer)
        rows.append([who + _checked(attack), eer, *cells, escape(attack.tag)])
    counts = f"{found[0].targets} target and {found[0].nontargets} non-target trials"
    heads = ["attacker", first.column, *keys, "tag"]
    return f'<div class="more">{grid(f"{name}: {counts}", heads, rows)}</div>'


def _checked(attack: AttackFigures) -> str:
    """Figures of the attacker on controls."""
    figures = [f"{escape(c.name)} {number(c.eer.value, 1)} %" for c in attack.controls]
    found = ", ".join([*figures, *(f"{escape(name)}: not run" for name in attack.unchecked)])
    return f"<br><small>on {found}</small>" if found else ""


def _listed(key: str) -> bool:
    """Whether a figure has a column in the table of attackers; of conditions only the EER has
    one.
    """
    metric = named(key)
    if metric is headline():
        return key != metric.name
    return metric is None or key == metric.name or key.startswith(WEIGHTED)


def _digits(key: str) -> int:
    """Decimal places of a metric; two for subgroups, and for metrics of other releases."""
    metric = named(key)
    return metric.display.digits if metric and metric.name == key else SUBGROUP_DIGITS
