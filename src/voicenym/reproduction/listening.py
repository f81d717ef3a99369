"""Listeners' answers from a file: means, normalised ranks, tests, and verification by listeners.

The file is tab-separated with a heading: ``listener``, ``item`` (the recording), ``system``,
``question`` (such as ``naturalness``), ``kind`` (``same`` or ``different`` speaker; may be empty),
``score``, and, if there are several, ``set`` (the recordings' test set). Questions of the papers:
naturalness, intelligibility, similarity, acceptability, MOS.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.metrics import eer, min_cllr, rocch_eer
from voicenym.metrics.listening_ranks import mann_whitney, normalised_ranks
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, absent

FIELDS = ("listener", "item", "system", "question", "kind", "score")
ORIGINAL = ("original", "Original", "Orig", "B0")
"""Names of original speech in a file of answers."""
NO_ANSWERS = "needs listeners' answers: --answers FILE"


@dataclass(frozen=True)
class Answer:
    """One answer of a listener; fields as in the file."""

    listener: str
    item: str
    system: str
    question: str
    kind: str
    score: float
    set: str = ""


def answers(path: Path) -> tuple[Answer, ...]:
    """Answers of a file, as they are now.

    Raises:
        VoicenymError: a missing column, or a score that is no number; it names the line.
    """
    try:
        return _answers(path, path.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise VoicenymError(f"{path}: cannot be read as answers ({error})") from error


@lru_cache(maxsize=2)
def _answers(path: Path, content: bytes) -> tuple[Answer, ...]:
    """Answers in the bytes of a file, which each table and figure asks for.

    Raises:
        VoicenymError: as of :func:`answers`.
        UnicodeDecodeError: they are no UTF-8.
    """
    text = io.StringIO(content.decode(), newline="")
    rows = list(csv.DictReader(text, delimiter="\t"))
    if not rows or not set(FIELDS) <= set(rows[0]):
        raise VoicenymError(f"{path}: answers are tab-separated columns {', '.join(FIELDS)}")
    found = []
    for line, row in enumerate(rows, 2):
        try:
            score = float(row["score"])
        except (TypeError, ValueError):
            score = math.nan
        if not math.isfinite(score):
            raise VoicenymError(f"{path}, line {line}: the score {row['score']!r} is no number")
        who, what, system, question, kind = (row[name] or "" for name in FIELDS[:-1])
        found.append(Answer(who, what, system, question, kind, score, row.get("set") or ""))
    return tuple(found)


def asked(bench: Bench, question: str, kind: str = "") -> list[Answer]:
    """Answers to a question; none without a file."""
    if bench.answers is None:
        return []
    every = answers(bench.answers)
    return [a for a in every if a.question == question and kind in ("", a.kind)]


def ranked(found: Sequence[Answer], *, items: bool = False) -> np.ndarray:
    """Scores as normalised ranks by listener, and with ``items`` then by item."""
    scores = normalised_ranks([a.score for a in found], [a.listener for a in found])
    return normalised_ranks(scores, [a.item for a in found]) if items else scores


def opinions(bench: Bench, title: str, columns: tuple[str, ...], question: str) -> OurPanel:
    """Numbers of ratings, means and standard deviations by system."""
    found = asked(bench, question)
    rows = []
    for system in dict.fromkeys(a.system for a in found):
        scores = np.array([a.score for a in found if a.system == system])
        spread = float(scores.std(ddof=1)) if len(scores) > 1 else math.nan
        figures = Figure(float(len(scores))), Figure(float(scores.mean())), Figure(spread)
        rows.append(OurRow(f"ours {system}", figures))
    if not found:
        rows.append(OurRow("ours", tuple(absent(NO_ANSWERS) for _ in columns)))
    return OurPanel(title, columns, tuple(rows), 3)


def pair_tests(bench: Bench, question: str, kind: str = "", *, items: bool = False) -> OurPanel:
    """Mann-Whitney tests of all pairs of systems, on normalised ranks."""
    found = asked(bench, question, kind)
    title = ", ".join(part for part in ("tests", question, kind) if part)
    if not found:
        return OurPanel(title, ("U", "p"), (OurRow("ours", (absent(NO_ANSWERS),) * 2),))
    scores = ranked(found, items=items)
    systems = list(dict.fromkeys(a.system for a in found))
    own = {s: scores[[a.system == s for a in found]] for s in systems}
    rows = []
    for i, first in enumerate(systems):
        for second in systems[i + 1 :]:
            test = mann_whitney(own[first], own[second])
            rows.append(OurRow(f"{first}, {second}", (Figure(test.u), Figure(test.p))))
    return OurPanel(title, ("U", "p"), tuple(rows), 4)


def normalised_means(bench: Bench, questions: Sequence[tuple[str, str]]) -> OurPanel:
    """Means and quartiles of normalised ranks by system and question."""
    columns = ("mean", "25 % below", "median", "75 % below")
    rows = []
    for question, kind in questions:
        found = asked(bench, question, kind)
        name = f"{question} {kind}".strip()
        if not found:
            rows.append(OurRow(name, tuple(absent(NO_ANSWERS) for _ in columns)))
            continue
        scores = ranked(found)
        for system in dict.fromkeys(a.system for a in found):
            own = scores[[a.system == system for a in found]]
            values = float(own.mean()), *(float(v) for v in np.percentile(own, (25, 50, 75)))
            rows.append(OurRow(f"{name}, {system}", tuple(map(Figure, values))))
    return OurPanel("normalised ranks", columns, tuple(rows), 3)


def spreads(
    bench: Bench, questions: Sequence[tuple[str, str]], *, ranks: bool
) -> dict[str, dict[str, np.ndarray]]:
    """Scores, or normalised ranks, by question and system; questions without answers are left out.

    Args:
        bench: with the answers.
        questions: and the kind of pair; empty for all.
        ranks: whether the scores are normalised.
    """
    parts = {}
    for question, kind in questions:
        found = asked(bench, question, kind)
        if not found:
            continue
        scores = ranked(found) if ranks else np.array([a.score for a in found])
        parts[f"{question} {kind}".strip()] = {
            system: scores[[a.system == system for a in found]]
            for system in dict.fromkeys(a.system for a in found)
        }
    return parts


def verification(bench: Bench) -> OurPanel:
    """EER, ROCCH-EER and min C_llr of listeners' similarity scores by system."""
    columns = ("EER, %", "ROCCH-EER, %", "min C_llr")
    found = asked(bench, "similarity")
    rows = []
    for system in dict.fromkeys(a.system for a in found):
        target, nontarget = (
            [a.score for a in found if a.system == system and a.kind == kind]
            for kind in ("same", "different")
        )
        if not target or not nontarget:
            figures = tuple(
                absent("no answers on the same, or on different speakers") for _ in columns
            )
        else:
            figures = (
                Figure(100.0 * eer(target, nontarget).value),
                Figure(100.0 * rocch_eer(target, nontarget).value),
                Figure(min_cllr(target, nontarget).value),
            )
        rows.append(OurRow(f"listeners, {system}", figures))
    if not found:
        rows.append(OurRow("listeners", tuple(absent(NO_ANSWERS) for _ in columns)))
    return OurPanel("verification by listeners", columns, tuple(rows), 2)
