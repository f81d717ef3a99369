"""Report of a listening test: one HTML file in the shape of the evaluation's, JSON and tables."""

from __future__ import annotations

import dataclasses
import json
import math
from html import escape
from pathlib import Path
from typing import Any

from voicenym.errors import counted, printable_page
from voicenym.evaluation.figures.captioned_figure import CaptionedFigure
from voicenym.evaluation.reports.html import STYLE, figure_html, grid, interval, number, sentence
from voicenym.listening.analysis import listening_figures, report_sentences
from voicenym.listening.analysis.listening_analysis import ListeningResults, QuestionFigures
from voicenym.listening.exchange.answer_tables import as_answers, as_csv, as_json
from voicenym.metrics.metric import Measured
from voicenym.private import private_folder, write_private

PAGE, RESULTS = "index.html", "results.json"
TABLES = ("ratings.csv", "ratings.json", "answers.tsv")
MOST_DRAWN = 12
"""Scatter plots of correlations."""


def write(results: ListeningResults, folder: Path, title: str, about: str) -> Path:
    """Writes the report.

    Args:
        results: to report.
        folder: gets ``index.html``, ``results.json``, ``ratings.csv`` and ``.json``, and
            ``answers.tsv`` for ``voicenym reproduce --answers``.
        title: of the study.
        about: how it was made, a sentence or more.

    Returns:
        The page.
    """
    private_folder(folder)
    write_private(folder / PAGE, html(results, title, about))
    write_private(folder / RESULTS, json.dumps(plain(results), ensure_ascii=False, indent=1) + "\n")
    texts = (as_csv(results.ratings), as_json(results.ratings), as_answers(results.ratings))
    for name, text in zip(TABLES, texts, strict=True):
        write_private(folder / name, text)
    return folder / PAGE


def html(results: ListeningResults, title: str, about: str) -> str:
    """HTML text of the page."""
    kept = sum(one.kept for one in results.listeners)
    pages = {
        "By question": _questions(results),
        "Tests between systems": _comparisons(results),
        "Verification by listeners": _verification(results),
        "Agreement": _agreement(results),
        "Objective measures": _objective(results),
        "Listeners": _listeners(results),
    }
    pages = {name: parts for name, parts in pages.items() if parts}
    links = " \u00b7 ".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in pages)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>What people heard: {escape(title)}</title>",
        f"<style>{STYLE}</style></head><body><main>",
        "<h1>What did people hear?</h1>",
        f'<p class="about">{escape(title)}: {counted(len(results.listeners), "listener")}, '
        f"{kept} of them kept, {counted(len(results.ratings), 'rating')}. {escape(about)}</p>",
        *(f'<p class="warning">{sentence(note)}</p>' for note in results.notes),
        *_first_page(results),
        f"<nav>In detail: {links}</nav>" if links else "",
        *(part for name, found in pages.items() for part in _section(name, found)),
        "</main></body></html>",
    ]
    return printable_page("\n".join(filter(None, parts)) + "\n")


def _first_page(results: ListeningResults) -> list[str]:
    """Sentences, one figure, one table."""
    if not results.questions:
        return []
    said = report_sentences.sentences(results)
    verdicts = [f'<li class="verdict"><b>{escape(system)}</b>: {escape(text)}.</li>'
                for system, text in said.items()]  # fmt: skip
    palette = listening_figures.palette_of([one.system for one in results.ratings])
    figure = CaptionedFigure(
        "Means of people's ratings",
        "A point is a mean, a line its 95 % interval over listeners and speakers.",
        "; ".join(f"{system}: {text}" for system, text in said.items()),
        listening_figures.means_by_system(results.questions, palette),
    )
    return [
        "<h2>Verdict</h2>",
        f'<ul class="verdicts">{"".join(verdicts)}</ul>',
        figure_html(0, figure),
        "<h2>Summary</h2>",
        _summary(results),
        "<p>In brackets: 95 % intervals. Similarity of the <em>same</em> speaker is lower, and the "
        "line-up nearer to chance (20 %), the better a voice is hidden.</p>",
    ]


def _summary(results: ListeningResults) -> str:
    names = [m.system for q in results.questions for m in q.means]
    rows = []
    for system in dict.fromkeys(sorted(names, key=lambda name: name != "original")):
        row = [escape(system)]
        for question in results.questions:
            mean = next((m.mean for m in question.means if m.system == system), None)
            row.append(interval(_shown(question, mean), 1 if question.unit == "%" else 2, "–"))
        rows.append(row)
    heads = [f"{q.title}{f' ({q.unit})' if q.unit else ''}" for q in results.questions]
    return grid("Mean ratings of each system", ["system", *heads], rows)


def _shown(question: QuestionFigures, mean: Measured | None) -> Measured | None:
    if mean is None:
        return None
    values = (None if v is None else question.factor * v for v in (mean.value, mean.low, mean.high))
    value, low, high = values
    return Measured(value or 0.0, low, high, question.unit)


def _questions(results: ListeningResults) -> list[str]:
    if not results.questions:
        return []
    palette = listening_figures.palette_of([one.system for one in results.ratings])
    figure = CaptionedFigure(
        "Normalised ranks",
        "Ranks among the ratings of one listener, from 0 to 1, which removes how each uses the "
        "scale (Rosenberg and Ramabhadran 2017). A dot and the number below: the mean; a bar: the "
        "middle half.",
        "Violin plots of normalised ranks by system for each question.",
        listening_figures.violins(results.ratings, results.questions, palette),
    )
    parts = [figure_html(1, figure)]
    for question in results.questions:
        rows = [
            [escape(m.system), interval(_shown(question, m.mean), 2), str(m.ratings),
             str(m.listeners), number(question.factor * m.deviation, 2)]
            for m in question.means
        ]  # fmt: skip
        heads = ["system", f"mean {question.unit}", "ratings", "listeners", "deviation"]
        parts.append(grid(question.title, heads, rows))
    return parts


def _comparisons(results: ListeningResults) -> list[str]:
    parts = []
    for question in results.questions:
        rows = [
            [f"{escape(c.first)}, {escape(c.second)}", number(c.u, 1), _p(c.p), _p(c.corrected),
             number(c.superiority, 2)]
            for c in question.comparisons
        ]  # fmt: skip
        heads = ["systems", "U", "p", "p after Holm", "first above second"]
        if rows:
            parts.append(
                grid(f"{question.title}: Mann-Whitney tests of normalised ranks", heads, rows)
            )
    return parts


def _p(value: float) -> str:
    return "&lt; 0.0001" if value < 1e-4 else f"{value:.4f}"


def _verification(results: ListeningResults) -> list[str]:
    if not results.verification:
        return []
    palette = listening_figures.palette_of([one.system for one in results.ratings])
    figure = CaptionedFigure(
        "Detection error trade-off of listeners",
        "Each point is a threshold of the score above which a pair counts as one speaker. Nearer "
        "to the dashed line: people confuse speakers more.",
        "DET curves of listeners' scores by system.",
        listening_figures.det_by_ear(results.verification, palette),
    )
    measures = [name for name in ("EER", "C_llr", "min C_llr", "ROCCH-EER")
                if name in results.objective]  # fmt: skip
    rows = []
    for one in results.verification:
        known = (results.objective[m].get((one.system, "")) for m in measures)
        rows.append(
            [f"{escape(one.system)}<br><small>{one.question}</small>", interval(one.eer),
             interval(one.hull), interval(one.cllr, 2),
             interval(one.least, 2), f"{one.trials.target.size}, {one.trials.nontarget.size}",
             *("–" if value is None else number(value, 2) for value in known)]
        )  # fmt: skip
    heads = ["system", "EER, %", "ROCCH-EER, %", "C_llr, bit", "min C_llr, bit",
             "pairs same, different", *(f"{m} of the machine" for m in measures)]  # fmt: skip
    text = "Verification by listeners; C_llr after calibration on the other listeners"
    return [figure_html(2, figure), grid(text, heads, rows)]


def _agreement(results: ListeningResults) -> list[str]:
    rows = []
    for question in results.questions:
        a = question.agreement
        if a is not None:
            rows.append(
                [escape(question.title), interval(a.single, 2), interval(a.average, 2),
                 interval(a.alpha, 2), number(a.raters, 1), str(a.items), str(a.listeners)]
            )  # fmt: skip
    heads = ["question", "ICC(2,1)", "ICC(2,k)", "Krippendorff's alpha", "k", "items", "listeners"]
    return [grid("Agreement of listeners; 1 is complete, 0 is chance", heads, rows)] if rows else []


def _objective(results: ListeningResults) -> list[str]:
    if not results.correlations:
        return []
    figure = CaptionedFigure(
        "Objective measures and people",
        "Each point is a system or a recording: the measure across, people's mean upwards.",
        "Scatter plots of objective measures against mean ratings.",
        listening_figures.objective_and_people(results.correlations[:MOST_DRAWN]),
    )
    rows = [
        [escape(f"{c.measure}, {c.question}"),
         interval(Measured(c.pearson, c.low, c.high), 2), number(c.spearman, 2),
         f"{len(c.pairs)} {c.level}s"]
        for c in results.correlations
    ]  # fmt: skip
    heads = ["measure, question", "Pearson's r", "Spearman's rho", "pairs"]
    return [figure_html(3, figure), grid("Correlation with people", heads, rows)]


def _listeners(results: ListeningResults) -> list[str]:
    rows = []
    for q in results.listeners:
        cells = [q.gold, q.traps, q.fast, q.spread, q.agreement]
        rows.append(
            [escape(q.listener), "; ".join(q.reasons) or "kept", str(q.ratings),
             *("–" if value is None else number(value, 2) for value in cells),
             "–" if q.comparisons is None else str(q.comparisons),
             {None: "–", True: "passed", False: "failed"}[q.headphones]]
        )  # fmt: skip
    heads = ["listener", "kept, or why not", "ratings", "gold", "traps", "too fast", "spread",
             "agreement", "noise comparisons", "headphones"]  # fmt: skip
    return [grid("Quality of listeners; shares from 0 to 1", heads, rows)] if rows else []


def _section(title: str, parts: list[str]) -> list[str]:
    return [f'<section id="{_anchor(title)}">', f"<h2>{title}</h2>", *parts, "</section>"]


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def plain(value: Any) -> Any:
    """Results as values of JSON; ratings and sorted trials are left to the tables."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in ("ratings", "trials", "objective")
            or isinstance(getattr(value, field.name), int)
        }
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
