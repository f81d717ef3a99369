"""Text of a reproduced table: the paper's rows and columns, ours below theirs, and what differs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from voicenym.reproduction.narrow_intervals import marked
from voicenym.reproduction.outcome import Finding, OurPanel, OurRow, Outcome, figure_text
from voicenym.reproduction.paper_table import PaperTable
from voicenym.reproduction.published_figures import PublishedPanel

Grid = list[list[str]]
WIDE = 120
"""Columns of text beyond which a table is split into blocks."""


def grids(table: PaperTable, outcome: Outcome | None) -> list[tuple[str, Grid]]:
    """Titles and grids of a table: a heading, then rows of texts, ours marked.

    A panel of ours with the title of a published panel shares its grid. A row of ours stands below
    the row of the paper that it names, or at the end.
    """
    own = {panel.title: panel for panel in (outcome.panels if outcome else ())}
    found = [(panel.title, _joined(panel, own.pop(panel.title, None))) for panel in table.published]
    return [*found, *((panel.title, _ours(panel)) for panel in own.values())]


def _joined(panel: PublishedPanel, ours: OurPanel | None) -> Grid:
    grid = [["", *panel.columns]]
    rest = [] if ours is None else list(ours.rows)
    digits = 0 if ours is None else ours.digits
    for row in panel.rows:
        grid.append([row.label, *(text if text is not None else "–" for text in row.texts)])
        grid += [_row(own, digits) for own in rest if own.beside == row.label]
        rest = [own for own in rest if own.beside != row.label]
    return [*grid, *(_row(own, digits) for own in rest)]


def _row(own: OurRow, digits: int) -> list[str]:
    return [f"**{own.label}**", *(figure_text(figure, digits) for figure in own.figures)]


def _ours(panel: OurPanel) -> Grid:
    return [["", *panel.columns], *(_row(row, panel.digits) for row in panel.rows)]


def missing(outcome: Outcome) -> list[str]:
    """Reasons of missing figures, with the columns that they concern."""
    where: dict[str, list[str]] = {}
    for panel in outcome.panels:
        for row in panel.rows:
            for column, figure in zip(panel.columns, row.figures, strict=True):
                if figure.missing:
                    names = where.setdefault(figure.missing, [])
                    if column not in names:
                        names.append(column)
    found = []
    for reason, names in where.items():
        listed = ", ".join(names) if len(names) <= 12 else f"{len(names)} columns"
        found.append(f"{listed}: {reason}")
    return found


def sizes(outcome: Outcome) -> str:
    """A sentence on data, budget and date of an outcome."""
    parts = [outcome.data, outcome.budget and f"budget {outcome.budget}", outcome.date]
    return "; ".join(part for part in parts if part)


def text(table: PaperTable, outcome: Outcome | None) -> str:
    """A table for a terminal or a pipe."""
    outcome = None if outcome is None else marked(outcome)
    lines = [f"{table.paper.cited}, {table.called}: {table.title}", table.paper.reference]
    lines += ["", f"Ours: {table.how}."]
    if outcome is not None:
        lines.append(f"Run: {sizes(outcome)}.")
    for title, grid in grids(table, outcome):
        lines += ["", f"{title}:", *_blocks(grid)]
    if outcome is not None:
        if outcome.findings:
            lines += ["", "The paper's claims:"]
            lines += [f"  {line}" for f in outcome.findings for line in _claim(f)]
        lines += _listed("Missing of ours:", missing(outcome))
        lines += _listed("Notes:", outcome.notes)
    lines += _listed("What differs:", table.differs)
    return "\n".join(lines) + "\n"


def _claim(finding: Finding) -> list[str]:
    kind = " (the paper's own numbers)" if finding.arithmetic else ""
    first = f"{finding.verdict}{kind}: {finding.claim}"
    return [
        first,
        *textwrap.wrap(finding.evidence, 96, initial_indent="  ", subsequent_indent="  "),
    ]


def _listed(heading: str, sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    found = ["", heading]
    for sentence in sentences:
        found += textwrap.wrap(sentence, 96, initial_indent="  - ", subsequent_indent="    ")
    return found


def _blocks(grid: Grid) -> list[str]:
    """Aligned columns; a grid wider than :data:`WIDE` is split, with the labels repeated."""
    plain = [[cell.replace("**", "") for cell in row] for row in grid]
    widths = [max(len(row[i]) for row in plain) for i in range(len(plain[0]))]
    blocks: list[list[int]] = [[]]
    used = widths[0]
    for i in range(1, len(widths)):
        if blocks[-1] and used + widths[i] + 2 > WIDE:
            blocks.append([])
            used = widths[0]
        blocks[-1].append(i)
        used += widths[i] + 2
    lines = []
    for number, block in enumerate(blocks):
        if number:
            lines.append("")
        for row in plain:
            cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in block)]
            lines.append("  " + "  ".join(cells).rstrip())
    return lines


def markdown(table: PaperTable, outcome: Outcome | None, command: str) -> str:
    """A section of the documentation.

    Args:
        table: of the paper.
        outcome: ours; None where it has not been run.
        command: that computes it.
    """
    outcome = None if outcome is None else marked(outcome)
    lines = [f"## {table.heading}", "", f"{table.title}. Ours: {table.how}.", ""]
    if outcome is None:
        lines += ["**Not run yet.**", ""]
    else:
        lines += [f"Run: {sizes(outcome)}.", ""]
    lines += ["```", command, "```", ""]
    for title, grid in grids(table, outcome):
        lines += [f"{title[0].upper()}{title[1:]}:", "", *_markdown(grid), ""]
    if outcome is not None:
        if outcome.findings:
            lines += [*(f"- {_bullet(finding)}" for finding in outcome.findings), ""]
        lines += _bullets("Missing of ours", missing(outcome))
        lines += _bullets("Notes", outcome.notes)
    lines += _bullets("What differs", table.differs)
    return "\n".join(lines)


def _bullet(finding: Finding) -> str:
    kind = " (the paper's own numbers)" if finding.arithmetic else ""
    return f"**{finding.verdict}**{kind}: {sentences(finding)}"


def sentences(finding: Finding) -> str:
    """Claim and evidence for a page."""
    evidence = _escaped(finding.evidence)
    if evidence[1:2].isalpha():  # not a symbol, such as r
        evidence = evidence[0].upper() + evidence[1:]
    return f"{_escaped(finding.claim)}. {evidence}."


def _bullets(heading: str, sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    return [f"{heading}:", "", *(f"- {_escaped(sentence)}" for sentence in sentences), ""]


def _escaped(sentence: str) -> str:
    return sentence.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").rstrip(".")


def _markdown(grid: Grid) -> list[str]:
    def line(row: Sequence[str]) -> str:
        cells = (cell if cell.startswith("**") else _escaped(cell) for cell in row)
        return "| " + " | ".join(cells) + " |"

    return [line(grid[0]), "| --- " * len(grid[0]) + "|", *(line(row) for row in grid[1:])]
