"""A figure of a report with its title, caption and text alternative, and the texts' lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voicenym.evaluation.results import Evaluation, SystemResults

ORIGINAL = "original"
ATTACKERS, UTILITY = "attackers", "utility"


@dataclass(frozen=True)
class CaptionedFigure:
    """A figure on the page.

    Args:
        title: what it is.
        how: caption, which says how to read the figure.
        alt: text alternative for readers who do not see the figure.
        svg: the drawing.
        page: page of the report: ``attackers`` or ``utility``.
    """

    title: str
    how: str
    alt: str
    svg: str
    page: str = ATTACKERS


def attacked(evaluation: Evaluation) -> list[SystemResults]:
    """Systems that were attacked without the key."""
    return [system for system in evaluation.systems if system.attacked]


def rates(systems: Sequence[SystemResults]) -> list[str]:
    """EER of the strongest attacker on each system; a broken attacker has none."""
    return [
        f"{s.name} {s.strongest.eer.value:.1f} % by {s.strongest.attacker}, {s.strongest.verifier}"
        for s in systems
        if not s.strongest.broken
    ]


def names(systems: Sequence[SystemResults]) -> list[str]:
    """Names of systems."""
    return [system.name for system in systems]


def listed(what: str, items: Sequence[str]) -> str:
    """A text alternative: what is drawn, and its items."""
    return f"{what}: {'; '.join(items)}."
