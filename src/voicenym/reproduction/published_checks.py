"""Checks of the papers' own numbers: averages, differences, categories and tests computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from voicenym.metrics.listening_ranks import p_of
from voicenym.metrics.verification.zebra import tag
from voicenym.reproduction.outcome import Finding
from voicenym.reproduction.published_figures import (
    PublishedPanel,
    difference_in,
    number_in,
    panels_of,
    published,
)

WEIGHTS = {"LibriSpeech": 0.25, "VCTK different": 0.20, "VCTK common": 0.05}
"""Weights of the VoicePrivacy Challenge's data sets in averages, each sex."""
HALF = 0.0051
"""Half a unit of the second digit, and a little for the printed numbers' own rounding."""


def average_check(
    panel: PublishedPanel, average: str, parts: Sequence[str], weights: Sequence[float]
) -> Finding:
    """Whether a printed average is that of the printed parts, in every column.

    Args:
        panel: of the table.
        average: label of its row.
        parts: labels of the averaged rows.
        weights: of the parts, summing to one.
    """
    wrong, checked = [], 0
    for column in panel.columns:
        values = [panel.number(part, column) for part in parts]
        printed = panel.number(average, column)
        if printed is None or any(value is None for value in values):
            continue
        checked += 1
        found = sum(w * v for w, v in zip(weights, values, strict=True) if v is not None)
        if abs(found - printed) > 2 * HALF:
            wrong.append(f"{column}: printed {printed:.2f}, computed {found:.3f}")
    claim = f"The printed row '{average}' ({panel.title}) is the average of the printed rows"
    evidence = "; ".join(wrong) or f"all {checked} columns agree within rounding"
    return Finding(claim, not wrong, evidence, arithmetic=True)


def challenge_averages(panel: PublishedPanel) -> list[Finding]:
    """Checks of the weighted averages over the challenge's development and test sets."""
    found = []
    for part in ("dev", "test"):
        labels, weights = [], []
        for name, weight in WEIGHTS.items():
            corpus, _, kind = name.partition(" ")
            for sex in ("f", "m"):
                labels.append(" ".join(x for x in (f"{corpus}-{part}", kind, sex) if x))
                weights.append(weight)
        found.append(average_check(panel, f"weighted average {part}", labels, weights))
    return found


def same_numbers(
    claim: str, pairs: Sequence[tuple[str, float | None, float | None, float]]
) -> Finding:
    """Whether numbers that two tables print are equal.

    Args:
        claim: what should be equal.
        pairs: name, the two numbers, and the largest difference by their rounding; a missing number
            leaves the pair out.
    """
    known = [(n, a, b, slack) for n, a, b, slack in pairs if a is not None and b is not None]
    wrong = [f"{n}: {a:g} and {b:g}" for n, a, b, slack in known if abs(a - b) > slack]
    evidence = "; ".join(wrong) or f"all {len(known)} pairs agree"
    return Finding(claim, not wrong if known else None, evidence, arithmetic=True)


def baseline_of_brackets() -> list[Finding]:
    """Whether the baseline behind the differences of Turner et al. is B1 of Tomashenko et al."""
    turner = panels_of("turner-2022", "table-1")[0]
    found = []
    for part, table in (("dev", "table-2"), ("test", "table-3")):
        panels = {panel.title: panel for panel in panels_of("tomashenko-2022", table)}
        pairs = []
        for label in (label for label in turner.labels if not label.endswith("O-O")):
            data, _, scene = label.rpartition(" ")
            attack = {"O-A": "ignorant", "A-A": "lazy-informed"}[scene]
            for metric, slack in (("EER, %", 0.11), ("min C_llr", 0.011)):
                text = turner.text(label, f"{part} {metric}")
                own, difference = number_in(text), difference_in(text)
                implied = None if own is None or difference is None else own - difference
                b1 = panels[f"{metric}, {attack}"].number(data, "B1")
                pairs.append((f"{metric} {label}", implied, b1, slack))
        claim = f"Brackets of the {part} columns are differences to B1 of Tomashenko et al. 2022"
        found.append(same_numbers(claim, pairs))
    return found


def tags_printed() -> Finding:
    """Whether the categories that Turner et al. print follow from the printed worst cases."""
    panel = panels_of("turner-2022", "table-4")[0]
    wrong = []
    for row in panel.rows:
        text = row.texts[panel.columns.index("worst case, log10(l)")] or ""
        value, printed = number_in(text), text.rstrip(")")[-1]
        if value is not None and tag(value) != printed:
            wrong.append(f"{row.label}: {value} is {tag(value)}, printed {printed}")
    evidence = "; ".join(wrong) or f"all {len(panel.rows)} categories agree"
    return Finding("Categories follow from the worst cases", not wrong, evidence, arithmetic=True)


def largest_loss() -> Finding:
    """The largest loss of EER (O-A) in Turner et al.'s text and table."""
    panel = panels_of("turner-2022", "table-1")[0]
    losses = {
        (row.label, column): difference_in(panel.text(row.label, column))
        for row in panel.rows
        if row.label.endswith("O-A")
        for column in ("dev EER, %", "test EER, %")
    }
    where, most = min(losses.items(), key=lambda item: item[1] or 0.0)
    claim = "The text's largest loss of EER under O-A, 6.69 points, is that of table 1"
    evidence = f"the table has {most} ({where[0]}, {where[1].split()[0]})"
    return Finding(claim, abs((most or 0.0) + 6.69) <= 0.051, evidence, arithmetic=True)


def opinions() -> list[Finding]:
    """Turner et al.'s mean opinion scores: whole sums, and their tests from sizes and U."""
    table = panels_of("turner-2022", "table-6")[0]
    tests = panels_of("turner-2022", "table-b7")[0]
    sizes = {row.label: int(row.texts[0] or 0) for row in table.rows}
    sums = {name: sizes[name] * (table.number(name, "MOS") or 0.0) for name in sizes}
    whole = all(abs(total - round(total)) < 1e-3 for total in sums.values())
    text = ", ".join(f"{name} {total:.4f}" for name, total in sums.items())
    found = [
        Finding("Mean scores are means of whole ratings from 1 to 5", whole, text, arithmetic=True)
    ]
    names = sorted(sizes, key=len, reverse=True)
    rows = []
    for row in tests.rows:
        first = next(
            n for n in names if row.label.startswith(n + ", ") and row.label[len(n) + 2 :] in sizes
        )
        second = row.label[len(first) + 2 :]
        u = tests.number(row.label, "U") or 0.0
        rows.append((row.label, p_of(u, sizes[first], sizes[second]), row.texts[1] or ""))
    small = all((p < 1e-4) == printed.startswith("<") for _, p, printed in rows)
    text = ", ".join(f"{label}: {p:.2g}" for label, p, _ in rows)
    claim = "Pairs with a printed p below 0.0001, and no others, have one by their U and sizes"
    found.append(Finding(claim, small, text, arithmetic=True))
    label, p, printed = rows[-1]
    claim = f"The printed p of {label}, {printed}, is two-sided"
    evidence = f"U and sizes give {p:.3f} two-sided and {p / 2:.3f} one-sided, ties left out"
    found.append(Finding(claim, abs(p - float(printed)) < 0.02, evidence, arithmetic=True))
    return found


def correlation(
    tables: Sequence[str], first: str, second: str, attacks: Sequence[str]
) -> tuple[float, int]:
    """Pearson's correlation of two metrics over the systems and data sets of Tomashenko et al.

    Args:
        tables: names of tables with either metric.
        first, second: beginnings of the panels' titles.
        attacks: ends of them.

    Returns:
        The correlation and the number of pairs.
    """
    found = points(tables, first, second, attacks)
    pairs = [pair for own in found.values() for pair in own]
    if len(pairs) < 3:
        return math.nan, len(pairs)
    x, y = np.array(pairs).T
    return float(np.corrcoef(x, y)[0, 1]), len(pairs)


def points(
    tables: Sequence[str], first: str, second: str, attacks: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """Two metrics of the data sets of Tomashenko et al. that both are printed of, by system.

    Args:
        tables, first, second, attacks: as for :func:`correlation`.
    """
    every = published("tomashenko-2022")
    found: dict[str, list[tuple[float, float]]] = {}
    for attack in attacks:
        for part in ("dev", "test"):
            a, b = (_panel(every, tables, name, attack, part) for name in (first, second))
            if a is None or b is None:
                continue
            for label in a.labels:
                for column in a.columns:
                    if column in b.columns:
                        x, y = a.number(label, column), b.number(label, column)
                        if x is not None and y is not None:
                            found.setdefault(column, []).append((x, y))
    return found


def interval_of_correlation(r: float, count: int) -> tuple[float, float]:
    """95 % interval of a correlation of independent pairs, by Fisher's transformation."""
    if count < 4 or math.isnan(r):
        return -1.0, 1.0
    half = 1.96 / math.sqrt(count - 3)
    middle = math.atanh(max(-1 + 1e-9, min(1 - 1e-9, r)))
    return math.tanh(middle - half), math.tanh(middle + half)


def _panel(
    every: dict[str, tuple[PublishedPanel, ...]],
    tables: Sequence[str],
    name: str,
    attack: str,
    part: str,
) -> PublishedPanel | None:
    odd = 1 if part == "test" else 0
    for table in tables:
        if int(table.split("-")[1]) % 2 != odd:
            continue
        for panel in every[table]:
            if panel.title.startswith(name) and panel.title.endswith(attack):
                return panel
    return None
