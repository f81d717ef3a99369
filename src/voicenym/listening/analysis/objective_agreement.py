"""Correlation of objective measures with people, by system or by recording."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.evaluation import results_file
from voicenym.evaluation.results import Evaluation
from voicenym.listening.ratings import VERIFICATION, Rating
from voicenym.metrics.listening_ranks import ranks

Measures = dict[str, dict[tuple[str, str], float]]
"""Values by measure, and by system and utterance; the utterance is empty for a whole system."""
FEWEST = 3


@dataclass(frozen=True)
class Correlation:
    """An objective measure against a question.

    Args:
        measure, question: names.
        level: ``system`` or ``recording``.
        pairs: objective value and mean rating, with the name of each pair.
        pearson: with ``low`` and ``high`` of its 95 % interval by Fisher's transformation.
        spearman: correlation of ranks.
    """

    measure: str
    question: str
    level: str
    pairs: tuple[tuple[float, float, str], ...]
    pearson: float
    low: float
    high: float
    spearman: float


def of_evaluation(folder: Path) -> Measures:
    """Figures of each system in a report of ``voicenym evaluate``.

    Figures of attackers are those of the strongest one without the key.

    Raises:
        VoicenymError: no report.
    """
    return measures(results_file.load(folder))


def measures(evaluation: Evaluation) -> Measures:
    """Figures of each system of an evaluation."""
    found: Measures = {}
    for name, figure in evaluation.utility.items():
        found.setdefault(name, {})["original", ""] = figure.value
    if evaluation.unprotected:
        bare = min(evaluation.unprotected, key=lambda attack: attack.eer.value)
        for name, figure in bare.figures.items():
            found.setdefault(name, {})["original", ""] = figure.value
    for system in evaluation.systems:
        figures = dict(system.utility)
        if system.attacked:
            figures |= system.strongest.figures
        for name, figure in figures.items():
            found.setdefault(name, {})[system.name, ""] = figure.value
    return found


def of_table(path: Path) -> Measures:
    """Measures of a CSV or TSV file: ``system``, perhaps ``utterance``, and a column a measure.

    Raises:
        VoicenymError: no such columns, or a value that is no number.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise VoicenymError(f"{path}: cannot be read as a table of measures ({error})") from None
    mark = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)
    columns = [name for name in reader.fieldnames or () if name not in ("system", "utterance")]
    if "system" not in (reader.fieldnames or ()) or not columns:
        raise VoicenymError(
            f"{path}: a table of measures has a column system, perhaps utterance, and one for each "
            "measure"
        )
    found: Measures = {name: {} for name in columns}
    for line, row in enumerate(reader, 2):
        for name in columns:
            try:
                value = float(row[name])
            except (TypeError, ValueError):
                raise VoicenymError(
                    f"{path}, line {line}: {name} {row[name]!r} is no number; mend the line"
                ) from None
            found[name][row["system"], row.get("utterance") or ""] = value
    return found


def correlations(ratings: Sequence[Rating], found: Measures) -> list[Correlation]:
    """Correlations of each measure with each question, where there are three pairs.

    Args:
        ratings: of kept listeners.
        found: measures.
    """
    from voicenym.reproduction.published_checks import interval_of_correlation

    questions = dict.fromkeys(
        (one.question, one.kind if one.question in VERIFICATION else "") for one in ratings
    )
    listed = []
    for measure, values in found.items():
        whole = any(not utterance for _, utterance in values)
        for question, kind in questions:
            own = [r for r in ratings if r.question == question and kind in ("", r.kind)]
            scores: dict[tuple[str, str], list[float]] = {}
            for one in own:
                place = (one.system, "" if whole else one.utterance)
                if place in values:
                    scores.setdefault(place, []).append(one.score)
            pairs = tuple(
                (values[place], float(np.mean(rated)), " ".join(filter(None, place)))
                for place, rated in scores.items()
            )
            x, y = (np.array([pair[i] for pair in pairs]) for i in range(2))
            if len(pairs) < FEWEST or x.std() == 0.0 or y.std() == 0.0:
                continue
            r = float(np.corrcoef(x, y)[0, 1])
            low, high = interval_of_correlation(r, len(pairs))
            rho = float(np.corrcoef(ranks(x), ranks(y))[0, 1])
            name = f"{question}, pairs of {kind} speakers" if kind else question
            level = "system" if whole else "recording"
            if math.isfinite(r):
                listed.append(Correlation(measure, name, level, pairs, r, low, high, rho))
    return listed
