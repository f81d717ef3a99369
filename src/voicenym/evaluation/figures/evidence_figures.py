"""Captioned figures of the scores and vectors behind an evaluation."""

from __future__ import annotations

import numpy as np

from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures.captioned_figure import (
    ORIGINAL,
    UTILITY,
    CaptionedFigure,
    attacked,
    listed,
)
from voicenym.evaluation.figures.score_figures import (
    det_curves,
    disclosure,
    histograms,
    linkabilities,
)
from voicenym.evaluation.figures.search_figures import against, compared, crowds
from voicenym.evaluation.figures.similarity_figures import (
    MOST_SPEAKERS,
    diversity,
    neighbours,
    similarities,
    vectors,
)
from voicenym.evaluation.figures.svg import Palette
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.crowd import FIRST_AMONG


def from_scores(
    evaluation: Evaluation, evidence: Evidence, palette: Palette
) -> list[CaptionedFigure]:
    """Figures of the strongest attackers' trial scores."""
    trials = evidence.trials
    curves: dict[str, np.ndarray] = {}
    known: list[tuple[str, AttackFigures]] = []
    if evaluation.unprotected:
        known.append((ORIGINAL, min(evaluation.unprotected, key=lambda a: a.eer.value)))
    systems = [system for system in attacked(evaluation) if not system.strongest.broken]
    known += [(system.name, system.strongest) for system in systems]
    for name, attack in known:
        scores = evidence.scores.get(name, {}).get(f"{attack.attacker}, {attack.verifier}")
        if scores is not None:
            curves[name] = scores
    if not curves:
        return []
    figures = {name: attack.figures for name, attack in known if name in curves}
    eer = [f"{name} {m['EER'].value:.1f} %" for name, m in figures.items()]
    ece = [f"{name} {m['D_ECE'].value:.2f} bit" for name, m in figures.items() if "D_ECE" in m]
    linked = [f"{name} {m['D_sys'].value:.2f}" for name, m in figures.items() if "D_sys" in m]
    return [
        CaptionedFigure(
            "Detection error trade-off",
            "Misses against false alarms of the strongest attacker at all thresholds. Curves near "
            "the lower left corner are of strong attackers; the dashed line is chance. Shaded "
            "bands are 95 % intervals over speakers.",
            listed("Curves. Equal error rates", eer),
            det_curves(trials, curves, palette),
        ),
        CaptionedFigure(
            "Empirical cross-entropy",
            "Uncertainty about the speaker that the scores leave, for every prior probability of "
            "the strongest attacker. The dashed line is the uncertainty without scores; the gap "
            "below it is the disclosed information. Shaded bands are 95 % intervals over speakers.",
            listed("Bell-shaped curves. Expected disclosure", ece),
            disclosure(trials, curves, palette),
        ),
        CaptionedFigure(
            "Linkability",
            "Densities of the strongest attacker's scores, scaled to a height of 1: grey for "
            "different speakers, coloured for the same speaker. The dashed line is the local "
            "linkability of a score, 0 to 1; its shaded band is a 95 % interval over speakers in "
            "each bin.",
            listed("Densities. D_sys", linked),
            linkabilities(trials, curves, palette),
        ),
        *_searches(evaluation, trials, curves, palette, figures),
    ]


def _searches(
    evaluation: Evaluation,
    trials: Trials,
    curves: dict[str, np.ndarray],
    palette: Palette,
    figures: dict[str, dict[str, Measured]],
) -> list[CaptionedFigure]:
    there = {
        name: scores for name, scores in curves.items() if np.isfinite(scores[trials.tested]).all()
    }
    key = FIRST_AMONG.name
    found = [f"{n} {figures[n][key].value:.1f} %" for n in there if key in figures[n]]
    displayed = []
    if there:
        displayed.append(
            CaptionedFigure(
                "First among N people",
                "Share of recordings whose speaker the strongest attacker ranks first among N "
                "people, if the others score as the non-target trials do. Dotted beyond the number "
                "of non-target scores, where the tail of their distribution is extrapolated. "
                "Shaded bands are 95 % intervals over speakers, beyond the data also the limits of "
                "two extreme tails.",
                listed(f"Falling curves. {key.capitalize()}", found),
                crowds(trials, there, palette),
            )
        )
    if compared(evaluation):
        displayed.append(
            CaptionedFigure(
                "Metrics against each other",
                "Each point is an attacker, with all trials or with those of one condition. Points "
                "on one curve show that a metric orders attackers as the EER does; points that "
                "scatter show what the EER hides.",
                listed("Scattered points against the EER", [m.name for m in compared(evaluation)]),
                against(evaluation, palette),
            )
        )
    return displayed


def from_vectors(
    evaluation: Evaluation, evidence: Evidence, palette: Palette
) -> list[CaptionedFigure]:
    """Figures of speaker vectors and of their similarities."""
    displayed = []
    if evidence.matrices:
        diagonal = [
            f"{name}: {block} {_mean(blocks[block], True):.2f} on the diagonal, "
            f"{_mean(blocks[block], False):.2f} elsewhere"
            for name, blocks in evidence.matrices.items()
            for block in ("oa", "aa")
        ]
        displayed.append(
            CaptionedFigure(
                "Voice similarity",
                "Each row and column is a speaker. A bright diagonal in oa shows that anonymized "
                "voices resemble their own originals; a bright diagonal in aa shows that "
                "anonymized speakers are distinct from each other, a uniform square in aa that "
                "they are not.",
                listed("Matrices of similarity. Means", diagonal),
                similarities(evidence.matrices),
                UTILITY,
            )
        )
    original = evidence.vectors.get(ORIGINAL)
    if original is not None:
        others = {n: v for n, v in evidence.vectors.items() if n != ORIGINAL}
        if others and len({r.speaker for r in evidence.trials.recordings}) > 1:
            gaps = [
                f"{s.name} {s.utility['D_KS'].value:.2f}"
                for s in evaluation.systems
                if "D_KS" in s.utility
            ]
            displayed.append(
                CaptionedFigure(
                    "Diversity of voices",
                    "Share of pairs of different speakers below each similarity, before (grey) and "
                    "after anonymization. A line to the right of the grey one shows that voices "
                    "became more similar; D_KS is the largest vertical gap.",
                    listed("Rising steps. D_KS", gaps),
                    diversity(evidence.trials, original, others, palette),
                    UTILITY,
                )
            )
        how = (
            "t-SNE"
            if neighbours()
            else "the first two principal components, because t-SNE is not installed"
        )
        displayed.append(
            CaptionedFigure(
                "Speaker vectors",
                f"Vectors of recordings of at most {MOST_SPEAKERS} speakers, original and "
                f"anonymized ({how}). Each speaker has a colour and a shape; a cluster of one kind "
                "is a consistent voice. Distances between clusters have no meaning.",
                listed("Scattered points", [ORIGINAL, *others]),
                vectors(evidence.trials, original, others),
                UTILITY,
            )
        )
    return displayed


def each_attacker(
    evaluation: Evaluation, evidence: Evidence, palette: Palette
) -> list[CaptionedFigure]:
    """Histograms of every attacker's scores, a figure for each system."""
    return [
        CaptionedFigure(
            f"Scores on {system.name}",
            "Scores of different speakers (grey) and of the same speaker (coloured), one panel for "
            "each attacker. Less overlap means a stronger attacker.",
            listed(
                "Histograms. Equal error rates",
                [f"{a.attacker}, {a.verifier} {a.eer.value:.1f} %" for a in system.attacks],
            ),
            histograms(evidence.trials, evidence.scores[system.name], palette[system.name]),
        )
        for system in evaluation.systems
        if evidence.scores.get(system.name)
    ]


def _mean(matrix: np.ndarray, diagonal: bool) -> float:
    values = matrix[np.eye(len(matrix), dtype=bool) == diagonal]
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")
