"""Tomashenko et al. 2022, figures 25 and 26: what listeners detect, as error rates and DET curves.

For naturalness and intelligibility the task is to tell original speech. For similarity it is to
tell the same speaker; the paper plots pairs of the same and of different speakers apart, and says
that originals have the best curve in both. Here the curve of the same speaker has a system's pairs
of one speaker and originals' pairs of two, and that of different speakers the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.verification.eer import equal_error
from voicenym.reproduction import joint_figures, listening
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.listening import NO_ANSWERS, ORIGINAL, Answer
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    above,
    absent,
    all_of,
    negated,
)
from voicenym.reproduction.panel_drawings import detection
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import compared
from voicenym.reproduction.tomashenko.challenge_speech import det

TASKS = ("naturalness", "intelligibility", "similarity, same speaker",
         "similarity, different speakers")  # fmt: skip
Scored = tuple[Sequence[Answer], Sequence[Answer]]
"""Answers on what is to be found, and on the others."""


def pooled(bench: Bench) -> Ours:
    """Figure 25: all answers; with speech, DET curves of our attackers beside them."""
    found = tasks(listening.answers(bench.answers) if bench.answers else ())
    panel = _rates("EER of listeners, %", found, bench)
    drawings = [("listeners.svg", _drawn(found))] if any(found.values()) else []
    findings = tuple(_claims(found, bench)) if any(found.values()) else ()
    machine = det(bench).drawings if bench.speech is not None else ()
    return Ours((panel, listening.verification(bench)), findings, (), (*drawings, *machine))


def by_set(bench: Bench) -> Ours:
    """Figure 26: the same for each test set, by the column ``set`` of the answers."""
    every = listening.answers(bench.answers) if bench.answers else ()
    sets = list(dict.fromkeys(answer.set for answer in every if answer.set))
    if not sets:
        reason = NO_ANSWERS if not every else "the answers have no column 'set'"
        row = OurRow("listeners", tuple(absent(reason) for _ in TASKS))
        return Ours((OurPanel("EER of listeners, %", TASKS, (row,), 1),))
    panels, drawings = [], []
    for name in sets:
        found = tasks([answer for answer in every if answer.set == name])
        panels.append(_rates(f"EER of listeners, %, {name}", found, bench))
        drawings.append((f"{name}.svg", _drawn(found)))
    return Ours(tuple(panels), (), (), tuple(drawings))


def tasks(answers: Sequence[Answer]) -> dict[str, dict[str, Scored]]:
    """Answers by task and system, those on what is to be found first.

    Original speech itself is a system of the tasks of similarity alone.
    """
    found: dict[str, dict[str, Scored]] = {task: {} for task in TASKS}
    systems = list(dict.fromkeys(answer.system for answer in answers))

    def chosen(system: str, question: str, kind: str = "") -> list[Answer]:
        of = [a for a in answers if (a.system, a.question) == (system, question)]
        return [answer for answer in of if kind in ("", answer.kind)]

    bare = next((name for name in ORIGINAL if name in systems), "")
    for system in systems:
        pairs: list[Scored] = [
            *((chosen(bare, q), chosen(system, q)) for q in TASKS[:2]),
            (chosen(system, "similarity", "same"), chosen(bare, "similarity", "different")),
            (chosen(bare, "similarity", "same"), chosen(system, "similarity", "different")),
        ]
        for task, (first, second) in zip(TASKS, pairs, strict=True):
            if first and second and (system != bare or task not in TASKS[:2]):
                found[task][system] = first, second
    return found


def _rate(scored: Scored, bench: Bench) -> Figure:
    """Equal error rate with its interval over listeners, whose answers hang together."""
    first, second = (np.array([answer.score for answer in one]) for one in scored)
    names = [answer.listener for one in scored for answer in one]
    _, index = np.unique(names, return_inverse=True)
    who = np.stack([index, index], axis=1)
    speakers = Speakers(who[: len(first)], who[len(first) :])
    return joint_figures.percent(equal_error(first, second, speakers), bench.budget.replicates)


def _rates(title: str, found: dict[str, dict[str, Scored]], bench: Bench) -> OurPanel:
    systems = list(dict.fromkeys(system for own in found.values() for system in own))
    rows = [
        OurRow(f"listeners, {system}", tuple(
            _rate(found[task][system], bench) if system in found[task]
            else absent("no answers, or none on original speech") for task in TASKS
        ))
        for system in systems
    ]  # fmt: skip
    if not rows:
        rows = [OurRow("listeners", tuple(absent(NO_ANSWERS) for _ in TASKS))]
    return OurPanel(title, TASKS, tuple(rows), 1)


def _drawn(found: dict[str, dict[str, Scored]]) -> str:
    return detection({
        task: {system: tuple([answer.score for answer in one] for one in scored)  # type: ignore[misc]
               for system, scored in own.items()}
        for task, own in found.items() if own
    })  # fmt: skip


def _claims(found: dict[str, dict[str, Scored]], bench: Bench) -> list[Finding]:
    """Claims of section 4.2: listeners tell originals from every system."""
    lines = []
    for task, words in (
        ("naturalness", "Listeners tell originals from every system by naturalness"),
        ("intelligibility", "Listeners tell originals from every system by intelligibility"),
    ):
        rates = {system: _rate(scored, bench) for system, scored in found[task].items()}
        verdict = all_of([negated(above(rate, 50.0)) for rate in rates.values()])
        lines.append(compared(f"{words} (EER below 50 %)", verdict, *rates.items()))
    return lines
