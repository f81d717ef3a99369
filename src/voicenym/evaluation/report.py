"""The report of an evaluation: one HTML file that needs no network and can be printed."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from voicenym.evaluation import condition_tables, report_details, report_tables
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures import Shown, gallery
from voicenym.evaluation.html import STYLE, sentence
from voicenym.evaluation.reported_metrics import headline
from voicenym.evaluation.results import Evaluation
from voicenym.evaluation.verdict import verdict
from voicenym.private import private_folder, write_private

PAGE = "index.html"


def write(evaluation: Evaluation, evidence: Evidence | None, folder: Path) -> Path:
    """Write ``index.html``.

    Args:
        evaluation: the results.
        evidence: scores and vectors for the figures; None leaves out the figures that need them.
        folder: of the report.

    Returns:
        The page.
    """
    private_folder(folder)
    page = folder / PAGE
    write_private(page, html(evaluation, evidence))
    return page


def html(evaluation: Evaluation, evidence: Evidence | None) -> str:
    """The page's text."""
    common = _common(evaluation)
    warnings = [f'<p class="warning">{sentence(w)}</p>' for w in (*evaluation.warnings, *common)]
    drawn = [_drawn(n, shown) for n, shown in enumerate(gallery(evaluation, evidence))]
    explained = [metric for _, metric in report_tables.columns(evaluation)]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Voice protection: {escape(evaluation.data)}</title>",
        f"<style>{STYLE}</style></head><body><main>",
        "<h1>How well are these voices protected?</h1>",
        f'<p class="about">{escape(evaluation.data)}: {evaluation.speakers} speakers, '
        f"{evaluation.recordings} recordings tried. voicenym {escape(evaluation.version)}, "
        f"{escape(evaluation.date)}. {escape(evaluation.settings)}</p>",
        *warnings,
        "<h2>Verdict</h2>",
        *(verdict(system, common) for system in evaluation.systems),
        "<h2>Summary</h2>",
        report_tables.summary(evaluation),
        *report_tables.missing(evaluation),
        "<p>In brackets: 95 % intervals. The strongest attacker is the attacker without the key "
        "that has the lowest EER. The lowest of many rates is partly low by chance: compare "
        "intervals, not single figures. The smaller number below a figure is its difference from "
        f"the original's.{_retrained(evaluation)}</p>",
        report_tables.explanations(dict.fromkeys([headline(), *explained])),
        *report_tables.left_out(evaluation),
        "<h2>Figures</h2>",
        *drawn,
        *report_details.utility(evaluation),
        *condition_tables.section(evaluation),
        "<h2>All attackers</h2>",
        *report_details.attackers(evaluation),
        *(report_tables.attacks(system.name, system.attacks) for system in evaluation.systems),
        report_tables.attacks("original speech", evaluation.unprotected),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _common(evaluation: Evaluation) -> list[str]:
    """Notes on all of several systems, which the page prints once."""
    first, *rest = [system.notes for system in evaluation.systems] or [()]
    return [note for note in first if rest and all(note in notes for notes in rest)]


def _retrained(evaluation: Evaluation) -> str:
    """Explains the column of a retrained recogniser, where there is one."""
    if all(key == metric.name for key, metric in report_tables.columns(evaluation)):
        return ""
    return " Retrained: by a recogniser that was trained on this system's output."


def _drawn(number: int, shown: Shown) -> str:
    """A figure whose ids no other on the page has, and which names no address."""
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", shown.svg)
    svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"f{number}-", svg)
    label = escape(f"{shown.title}. {shown.alt}")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return (
        f"<figure><h3>{escape(shown.title)}</h3>{svg}"
        f"<figcaption>{escape(shown.how)}</figcaption></figure>"
    )
