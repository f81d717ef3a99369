"""The report of an evaluation: one HTML file that needs no network and can be printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from voicenym.errors import counted, printable_page
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures import ATTACKERS, UTILITY, first, gallery
from voicenym.evaluation.figures.first_figure import words_metric
from voicenym.evaluation.reported_metrics import headline
from voicenym.evaluation.reports import (
    condition_tables,
    report_details,
    report_tables,
    search_tables,
)
from voicenym.evaluation.reports.html import STYLE, figure_html, sentence
from voicenym.evaluation.reports.verdict import in_a_sentence, verdict
from voicenym.evaluation.results import Evaluation
from voicenym.private import private_folder, write_private

PAGE = "index.html"


def write(evaluation: Evaluation, evidence: Evidence | None, folder: Path) -> Path:
    """Writes ``index.html``.

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
    """HTML text of the page."""
    common = _common(evaluation)
    told = dict.fromkeys([*evaluation.warnings, *common])  # one of all systems may be in both
    warnings = [f'<p class="warning">{sentence(w)}</p>' for w in told]
    displayed = gallery(evaluation, evidence)
    drawn = [(one.page, figure_html(n, one)) for n, one in enumerate(displayed, 1)]
    pages = {
        "Systems": _systems(evaluation, common),
        "By attacker": [
            *(figure for page, figure in drawn if page == ATTACKERS),
            *report_details.attackers(evaluation),
            *search_tables.limits(evaluation),
            *search_tables.amounts(evaluation),
            *(report_tables.attacks(system.name, system.attacks) for system in evaluation.systems),
            report_tables.attacks("original speech", evaluation.unprotected),
        ],
        "By condition": condition_tables.section(evaluation),
        "Utility": [
            *(figure for page, figure in drawn if page == UTILITY),
            *report_details.utility(evaluation),
        ],
    }
    pages = {title: parts for title, parts in pages.items() if any(parts)}
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Voice protection: {escape(evaluation.data)}</title>",
        f"<style>{STYLE}</style></head><body><main>",
        "<h1>How well are these voices protected?</h1>",
        f'<p class="about">{escape(evaluation.data)}: {counted(evaluation.speakers, "speaker")}, '
        f"{counted(evaluation.recordings, 'recording')} tried. voicenym "
        f"{escape(evaluation.version)}, "
        f"{escape(evaluation.date)}. {escape(evaluation.settings)}</p>",
        *warnings,
        *_first_page(evaluation),
        _contents(pages),
        *(part for title, found in pages.items() for part in _page(title, found)),
        "</main></body></html>",
    ]
    return printable_page("\n".join(filter(None, parts)) + "\n")


def _first_page(evaluation: Evaluation) -> list[str]:
    """First page: one sentence for each system, one figure, one table."""
    words = words_metric()
    original = evaluation.utility.get(words)
    figure = first(evaluation)
    return [
        "<h2>Verdict</h2>",
        f"<p>An attacker errs who mistakes one voice for another: in {headline().chance:g} % of "
        "cases by chance, in 0 % if it recognises everybody.</p>",
        '<ul class="verdicts">',
        *(in_a_sentence(system, original, words) for system in evaluation.systems),
        "</ul>",
        "" if figure is None else figure_html(0, figure),
        "<h2>Summary</h2>",
        report_tables.summary(evaluation),
        "<p>In brackets: 95 % intervals. The strongest attacker is the attacker without the key "
        "that has the lowest EER. The lowest of many rates is partly low by chance: compare "
        "intervals, not single figures. The smaller number below a figure is its difference from "
        f"the original's.{_retrained(evaluation)}</p>",
    ]


def _systems(evaluation: Evaluation, common: list[str]) -> list[str]:
    """Section on the systems: meaning of the figures, figures not measured, recordings left out."""
    explained = [metric for _, metric in report_tables.columns(evaluation)]
    return [
        *(verdict(system, common) for system in evaluation.systems),
        *report_tables.missing(evaluation),
        report_tables.explanations(dict.fromkeys([headline(), *explained])),
        *report_tables.left_out(evaluation),
    ]


def _contents(pages: Iterable[str]) -> str:
    links = " \u00b7 ".join(f'<a href="#{_anchor(title)}">{title}</a>' for title in pages)
    return f"<nav>In detail: {links}</nav>"


def _page(title: str, parts: Sequence[str]) -> list[str]:
    return [f'<section id="{_anchor(title)}">', f"<h2>{title}</h2>", *parts, "</section>"]


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _common(evaluation: Evaluation) -> list[str]:
    """Notes on all of several systems, which the page prints once."""
    first, *rest = [system.notes for system in evaluation.systems] or [()]
    return [note for note in first if rest and all(note in notes for notes in rest)]


def _retrained(evaluation: Evaluation) -> str:
    """Explanation of the column of a retrained recogniser, if there is one."""
    if all(key == metric.name for key, metric in report_tables.columns(evaluation)):
        return ""
    return " Retrained: by a recogniser that was trained on this system's output."
