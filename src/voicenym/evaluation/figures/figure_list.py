"""All figures of a report, each with a title, a caption and a text alternative."""

from __future__ import annotations

from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures.captioned_figure import (
    UTILITY,
    CaptionedFigure,
    attacked,
    listed,
    names,
    rates,
)
from voicenym.evaluation.figures.evidence_figures import each_attacker, from_scores, from_vectors
from voicenym.evaluation.figures.first_figure import points, privacy_and_words
from voicenym.evaluation.figures.svg import Palette, colours
from voicenym.evaluation.figures.system_figures import attackers, everybody, exposed, radar
from voicenym.evaluation.figures.training_curves import learning
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.results import Evaluation


def first(evaluation: Evaluation) -> CaptionedFigure | None:
    """Figure of the first page; None if no system has a grade."""
    systems = [system for system in evaluation.systems if not ungraded(system)]
    if not systems:
        return None
    others = [system.name for system in evaluation.systems if ungraded(system)]
    absent = f" Not drawn, since they have no grade: {', '.join(others)}." if others else ""
    return CaptionedFigure(
        "Protection and words",
        "Each cross is a system; its arms are the 95 % intervals of the strongest attacker's equal "
        "error rate and of the recogniser's word errors. Systems further up hide voices better, "
        f"those further left keep more words. Grey: original speech.{absent}",
        listed("Crosses. Strongest attackers", rates(systems)),
        privacy_and_words(points(evaluation), colours(evaluation)),
    )


def gallery(evaluation: Evaluation, evidence: Evidence | None) -> list[CaptionedFigure]:
    """All figures of the deeper pages for which there are data.

    Args:
        evaluation: the results.
        evidence: scores and vectors; None leaves out the figures that need them.
    """
    palette = colours(evaluation)
    displayed = _from_results(evaluation, palette)
    if evidence is not None:
        displayed += from_scores(evaluation, evidence, palette)
        displayed += from_vectors(evaluation, evidence, palette)
        displayed += each_attacker(evaluation, evidence, palette)
    return displayed


def _from_results(evaluation: Evaluation, palette: Palette) -> list[CaptionedFigure]:
    systems = attacked(evaluation)
    displayed = []
    if systems:
        displayed += [
            CaptionedFigure(
                "Every attacker on every system",
                "Each mark is the equal error rate of an attacker, the bar its 95 % interval. The "
                "filled diamond is the strongest attacker; grey squares are attackers with the "
                "key. Attackers further left are stronger. A broken attacker is no evidence.",
                listed("Dots with intervals. Strongest attackers", rates(systems)),
                attackers(systems, palette),
            ),
            CaptionedFigure(
                "Privacy and utility",
                "Values on the outer circle are best: EER 50 %, DeID 1, G_VD 0 dB, rho_F0 1, "
                "DNSMOS 4, WER 0. A gap in a line is a metric that was not measured.",
                listed("Radar of six axes, two of privacy and four of utility", names(systems)),
                radar(systems, palette),
                UTILITY,
            ),
        ]
    trained = [s for s in systems if any(attack.learning for attack in s.attacks)]
    if trained:
        ends = [
            f"{s.name} {a.learning[-1].eer:.1f} % after {a.learning[-1].seconds / 60:.0f} minutes, "
            f"{a.learning[-1].step:,} steps"
            for s in trained
            for a in s.attacks
            if a.learning
        ]
        displayed.append(
            CaptionedFigure(
                "Training of the attackers",
                "Equal error rate of verifiers during their training on anonymized speech. Where a "
                "line still falls at the end, a longer training would give a stronger attacker, "
                "and the protection is overestimated.",
                listed("Lines that fall with training time", ends),
                learning(trained, palette),
            )
        )
    hidden = [s for s in systems if s.exposed and not s.strongest.broken]
    if hidden:
        worst = [
            f"{s.name}: {s.exposed[0].speaker}, {100 * s.exposed[0].found:.0f} %" for s in hidden
        ]
        displayed += [
            CaptionedFigure(
                "The least protected speakers",
                "Each bar is a speaker: the share of trials in which the strongest attacker's "
                "first guess is right. The speaker with the lowest mean rank is on top. A speaker "
                "at 100 % has no protection.",
                listed("Bars. The least protected speaker of each system", worst),
                exposed(hidden, palette),
            ),
            CaptionedFigure(
                "All speakers",
                "Share of trials in which the first guess is right, for all speakers from the "
                "least to the best protected. Lower lines are better.",
                listed("Falling steps", names(hidden)),
                everybody(hidden, palette),
            ),
        ]
    return displayed
