"""Sentences of a listening report's first page: what people heard, in plain words."""

from __future__ import annotations

from voicenym.listening.analysis.listening_analysis import ListeningResults, QuestionFigures
from voicenym.listening.analysis.mean_opinions import SystemMean
from voicenym.listening.ratings import RIGHT, VERIFICATION, WORDS

ORIGINAL = "original"


def sentences(results: ListeningResults) -> dict[str, str]:
    """A sentence for each system but the original, without its name."""
    found: dict[str, list[str]] = {}
    for question in results.questions:
        before = next((m for m in question.means if m.system == ORIGINAL), None)
        for one in question.means:
            if one.system != ORIGINAL and not one.system.startswith(f"{ORIGINAL} "):
                found.setdefault(one.system, []).append(_clause(question, one, before))
    return {system: "; ".join(clauses) for system, clauses in found.items()}


def _clause(question: QuestionFigures, one: SystemMean, before: SystemMean | None) -> str:
    value = _figure(question, one)
    beside = "" if before is None else f", the original {_figure(question, before)}"
    name = question.question
    if name == RIGHT[0]:
        return f"people told it from the original in {value} (chance 50 %)"
    if name == RIGHT[1]:
        return f"people picked the speaker out of five in {value} (chance 20 %){beside}"
    if name == WORDS:
        return f"people got {value} of the words wrong{beside}"
    if name in VERIFICATION and question.kind:
        who = "one speaker" if question.kind == "same" else "two speakers"
        return f"pairs of {who} were taken for one person: {value}{beside}"
    return f"{name} {value}{beside}"


def _figure(question: QuestionFigures, one: SystemMean) -> str:
    """A mean with its interval."""
    digits = 0 if question.unit == "%" else 1
    values = [one.mean.value, one.mean.low, one.mean.high]
    shown = [None if v is None else f"{question.factor * v:.{digits}f}" for v in values]
    limits = f" [{shown[1]} to {shown[2]}]" if shown[1] is not None else ""
    unit = f" {question.unit}" if question.unit else ""
    return f"{shown[0]}{unit}{limits}"
