"""Report on an evaluation of identity methods on vectors: a page, a table and a file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from voicenym.errors import printable_page
from voicenym.evaluation.figures.score_figures import histograms
from voicenym.evaluation.figures.similarity_figures import diversity, vectors
from voicenym.evaluation.figures.svg import COLOURS, Palette
from voicenym.evaluation.measurements.vector_evaluation import ATTACKERS, UNPROTECTED, Bench, Judged
from voicenym.evaluation.reported_metrics import of
from voicenym.evaluation.reports.html import grid, interval, sentence
from voicenym.evaluation.results import Measured, cell
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import VoiceVectors
from voicenym.private import private_folder, write_private

RESULTS, PAGE = "vectors.json", "index.html"
STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;text-align:right}"
    "th[scope=row]{text-align:left}.range{color:#666;font-size:.8em}.wide{overflow-x:auto}"
    "svg{width:100%;height:auto}"
)


def write(judged: Sequence[Judged], bench: Bench, folder: Path, settings: str) -> Path:
    """Writes ``index.html`` and ``vectors.json``; returns the page.

    Args:
        judged: methods.
        bench: vectors and trials.
        folder: created if missing.
        settings: of the evaluation, in a line.
    """
    private_folder(folder)
    content = {"settings": settings, "methods": [_plain(one) for one in judged]}
    write_private(folder / RESULTS, json.dumps(content, indent=1) + "\n")
    page = folder / PAGE
    write_private(page, _page(judged, bench, settings))
    return page


def _columns() -> list[Metric[VoiceVectors]]:
    """Metrics of speaker vectors that cards show."""
    return [metric for metric in of(VoiceVectors) if metric.display.card]


def records(judged: Sequence[Judged]) -> list[dict[str, str]]:
    """Figures with their intervals by heading, a record a method; EERs in percent by attacker."""
    attackers = [name for name in ATTACKERS if name != UNPROTECTED]
    columns = _columns()
    found = [
        {
            "method": one.name,
            **{name: cell(one.errors.get(name), 1) for name in attackers},
            **{m.name: cell(one.figures.get(m.name), m.display.digits) for m in columns},
        }
        for one in judged
    ]
    if judged:
        bare = {**dict.fromkeys(found[0], ""), "method": "(unprotected)"}
        found.insert(0, {**bare, attackers[0]: cell(judged[0].errors[UNPROTECTED], 1)})
    return found


def _plain(one: Judged) -> dict[str, Any]:
    def finite(measured: Measured) -> dict[str, Any]:
        found = asdict(measured)
        return {
            k: None if isinstance(v, float) and not math.isfinite(v) else v
            for k, v in found.items()
        }

    return {
        "name": one.name,
        "EER": {name: finite(m) for name, m in one.errors.items()},
        "figures": {name: finite(m) for name, m in one.figures.items()},
        "seconds a vector": one.seconds,
        "notes": list(one.notes),
    }


def _page(judged: Sequence[Judged], bench: Bench, settings: str) -> str:
    palette: Palette = {one.name: COLOURS[i % len(COLOURS)] for i, one in enumerate(judged)}
    original = bench.tried.double().numpy()
    attackers = [name for name in ATTACKERS if name != UNPROTECTED]
    columns = _columns()
    rows = [
        [escape(one.name), *(interval(one.errors.get(name)) for name in attackers)]
        + [interval(one.figures.get(m.name), m.display.digits) for m in columns]
        for one in judged
    ]
    if judged:
        first = interval(judged[0].errors[UNPROTECTED])
        rows.insert(0, ["unprotected", first, *[""] * (len(attackers) + len(columns) - 1)])
    parts = [
        "<h1>Identity methods on vectors</h1>",
        f"<p>{sentence(settings)} The figures are of the method alone; resynthesised speech "
        "discloses more about the speaker.</p>",
        grid(
            "Equal error rates in percent (chance level: 50), gain of voice distinctiveness in dB, "
            "de-identification, Kolmogorov-Smirnov distance of similarities",
            ["method", *attackers, *(metric.name for metric in columns)],
            rows,
        ),
        "<ul>" + "".join(f"<li>{sentence(f'{n}: {k}')}</li>" for n, k in ATTACKERS.items()),
        "</ul>",
        *(f"<p>{sentence(f': {note}', one.name)}</p>" for one in judged for note in one.notes),
    ]
    moving = {one.name: one.published for one in judged if one.figures}
    if moving:
        parts += [
            "<h2>Similarity of different voices</h2>",
            diversity(bench.trials, original, moving, palette),
            "<h2>Vectors in two dimensions</h2>",
            vectors(bench.trials, original, moving),
        ]
    parts.append("<h2>Scores of the same speaker and of different speakers</h2>")
    for one in judged:
        parts += [
            f"<h3>{escape(one.name)}</h3>",
            histograms(bench.trials, one.scores, palette[one.name]),
        ]
    return printable_page(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Identity methods</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n"
    )
