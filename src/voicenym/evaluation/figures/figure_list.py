"""All figures of a report, each with a title, a caption and a text alternative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures.first_figure import points, privacy_and_words
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
from voicenym.evaluation.figures.svg import Palette, colours
from voicenym.evaluation.figures.system_figures import attackers, everybody, exposed, radar
from voicenym.evaluation.figures.training_curves import learning
from voicenym.evaluation.grades import ungraded
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.evaluation.trials import Trials
from voicenym.metrics.crowd import FIRST_AMONG

ORIGINAL = "original"
ATTACKERS, UTILITY = "attackers", "utility"


@dataclass(frozen=True)
class Shown:
    """A figure on the page.

    Args:
        title: what it is.
        how: caption, which says how to read the figure.
        alt: text alternative for readers who do not see the figure.
        svg: the drawing.
        page: of the report that it stands on: ``attackers`` or ``utility``.
    """

    title: str
    how: str
    alt: str
    svg: str
    page: str = ATTACKERS


def first(evaluation: Evaluation) -> Shown | None:
    """The figure of the first page; None where no system has a grade."""
    systems = [system for system in evaluation.systems if not ungraded(system)]
    if not systems:
        return None
    others = [system.name for system in evaluation.systems if ungraded(system)]
    absent = f" Not drawn, since they have no grade: {', '.join(others)}." if others else ""
    return Shown(
        "Protection and words",
        "Each cross is a system; its arms are the 95 % intervals of the strongest attacker's equal "
        "error rate and of the recogniser's word errors. Systems further up hide voices better, "
        f"those further left keep more words. Grey: original speech.{absent}",
        _listed("Crosses. Strongest attackers", _rates(systems)),
        privacy_and_words(points(evaluation), colours(evaluation)),
    )


def gallery(evaluation: Evaluation, evidence: Evidence | None) -> list[Shown]:
    """All figures of the deeper pages for which there are data.

    Args:
        evaluation: what was found.
        evidence: scores and vectors; None leaves out what needs them.
    """
    palette = colours(evaluation)
    shown = _from_results(evaluation, palette)
    if evidence is not None:
        shown += _from_scores(evaluation, evidence, palette)
        shown += _from_vectors(evaluation, evidence, palette)
        shown += _each_attacker(evaluation, evidence, palette)
    return shown


def _from_results(evaluation: Evaluation, palette: Palette) -> list[Shown]:
    systems = _attacked(evaluation)
    shown = []
    if systems:
        shown += [
            Shown(
                "Every attacker on every system",
                "Each mark is the equal error rate of an attacker, the bar its 95 % interval. The "
                "filled diamond is the strongest attacker; grey squares are attackers with the "
                "key. Attackers further left are stronger. A broken attacker is no evidence.",
                _listed("Dots with intervals. Strongest attackers", _rates(systems)),
                attackers(systems, palette),
            ),
            Shown(
                "Privacy and utility",
                "Values on the outer circle are best: EER 50 %, DeID 1, G_VD 0 dB, rho_F0 1, "
                "DNSMOS 4, WER 0. A gap in a line is a metric that was not measured.",
                _listed("Radar of six axes, two of privacy and four of utility", _names(systems)),
                radar(systems, palette),
                UTILITY,
            ),
        ]
    trained = [s for s in systems if any(attack.learning for attack in s.attacks)]
    if trained:
        ends = [
            f"{s.name} {a.learning[-1].eer:.1f} % after {a.learning[-1].seconds / 60:.0f} minutes"
            for s in trained
            for a in s.attacks
            if a.learning
        ]
        shown.append(
            Shown(
                "Training of the attackers",
                "Equal error rate of verifiers during their training on anonymized speech. Where a "
                "line still falls at the end, a longer training would give a stronger attacker, "
                "and the protection is overestimated.",
                _listed("Lines that fall with training time", ends),
                learning(trained, palette),
            )
        )
    hidden = [s for s in systems if s.exposed and not s.strongest.broken]
    if hidden:
        worst = [
            f"{s.name}: {s.exposed[0].speaker}, {100 * s.exposed[0].found:.0f} %" for s in hidden
        ]
        shown += [
            Shown(
                "The least protected speakers",
                "Each bar is a speaker: the share of trials in which the strongest attacker's "
                "first guess is right. The speaker with the lowest mean rank is on top. A speaker "
                "at 100 % has no protection.",
                _listed("Bars. The least protected speaker of each system", worst),
                exposed(hidden, palette),
            ),
            Shown(
                "All speakers",
                "Share of trials in which the first guess is right, for all speakers from the "
                "least to the best protected. Lower lines are better.",
                _listed("Falling steps", _names(hidden)),
                everybody(hidden, palette),
            ),
        ]
    return shown


def _from_scores(evaluation: Evaluation, evidence: Evidence, palette: Palette) -> list[Shown]:
    trials = evidence.trials
    curves: dict[str, np.ndarray] = {}
    known: list[tuple[str, AttackFigures]] = []
    if evaluation.unprotected:
        known.append((ORIGINAL, min(evaluation.unprotected, key=lambda a: a.eer.value)))
    systems = [system for system in _attacked(evaluation) if not system.strongest.broken]
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
        Shown(
            "Detection error trade-off",
            "Misses against false alarms of the strongest attacker at all thresholds. Curves near "
            "the lower left corner are of strong attackers; the dashed line is chance. Shaded "
            "bands are 95 % intervals over speakers.",
            _listed("Curves. Equal error rates", eer),
            det_curves(trials, curves, palette),
        ),
        Shown(
            "Empirical cross-entropy",
            "Uncertainty about the speaker that the scores leave, for every prior probability of "
            "the strongest attacker. The dashed line is the uncertainty without scores; the gap "
            "below it is the disclosed information. Shaded bands are 95 % intervals over speakers.",
            _listed("Bell-shaped curves. Expected disclosure", ece),
            disclosure(trials, curves, palette),
        ),
        Shown(
            "Linkability",
            "Densities of the strongest attacker's scores, scaled to a height of 1: grey for "
            "different speakers, coloured for the same speaker. The dashed line is the local "
            "linkability of a score, 0 to 1; its shaded band is a 95 % interval over speakers in "
            "each bin.",
            _listed("Densities. D_sys", linked),
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
) -> list[Shown]:
    there = {
        name: scores for name, scores in curves.items() if np.isfinite(scores[trials.tested]).all()
    }
    key = FIRST_AMONG.name
    found = [f"{n} {figures[n][key].value:.1f} %" for n in there if key in figures[n]]
    shown = []
    if there:
        shown.append(
            Shown(
                "First among N people",
                "Share of recordings whose speaker the strongest attacker ranks first among N "
                "people, if the others score as the non-target trials do. Dotted beyond the number "
                "of non-target scores, where the tail of their distribution is extrapolated. "
                "Shaded bands are 95 % intervals over speakers, beyond the data also the limits of "
                "two extreme tails.",
                _listed(f"Falling curves. {key.capitalize()}", found),
                crowds(trials, there, palette),
            )
        )
    if compared(evaluation):
        shown.append(
            Shown(
                "Metrics against each other",
                "Each point is an attacker, with all trials or with those of one condition. Points "
                "on one curve show that a metric orders attackers as the EER does; points that "
                "scatter show what the EER hides.",
                _listed("Scattered points against the EER", [m.name for m in compared(evaluation)]),
                against(evaluation, palette),
            )
        )
    return shown


def _from_vectors(evaluation: Evaluation, evidence: Evidence, palette: Palette) -> list[Shown]:
    shown = []
    if evidence.matrices:
        diagonal = [
            f"{name}: {block} {_mean(blocks[block], True):.2f} on the diagonal, "
            f"{_mean(blocks[block], False):.2f} elsewhere"
            for name, blocks in evidence.matrices.items()
            for block in ("oa", "aa")
        ]
        shown.append(
            Shown(
                "Voice similarity",
                "Each row and column is a speaker. A bright diagonal in oa shows that anonymized "
                "voices resemble their own originals; a bright diagonal in aa shows that "
                "anonymized speakers are distinct from each other, a uniform square in aa that "
                "they are not.",
                _listed("Matrices of similarity. Means", diagonal),
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
            shown.append(
                Shown(
                    "Diversity of voices",
                    "Share of pairs of different speakers below each similarity, before (grey) and "
                    "after anonymization. A line to the right of the grey one shows that voices "
                    "became more similar; D_KS is the largest vertical gap.",
                    _listed("Rising steps. D_KS", gaps),
                    diversity(evidence.trials, original, others, palette),
                    UTILITY,
                )
            )
        how = (
            "t-SNE"
            if neighbours()
            else "the first two principal components, because t-SNE is not installed"
        )
        shown.append(
            Shown(
                "Speaker vectors",
                f"Vectors of recordings of at most {MOST_SPEAKERS} speakers, original and "
                f"anonymized ({how}). Each speaker has a colour and a shape; a cluster of one kind "
                "is a consistent voice. Distances between clusters have no meaning.",
                _listed("Scattered points", [ORIGINAL, *others]),
                vectors(evidence.trials, original, others),
                UTILITY,
            )
        )
    return shown


def _each_attacker(evaluation: Evaluation, evidence: Evidence, palette: Palette) -> list[Shown]:
    return [
        Shown(
            f"Scores on {system.name}",
            "Scores of different speakers (grey) and of the same speaker (coloured), one panel for "
            "each attacker. Less overlap means a stronger attacker.",
            _listed(
                "Histograms. Equal error rates",
                [f"{a.attacker}, {a.verifier} {a.eer.value:.1f} %" for a in system.attacks],
            ),
            histograms(evidence.trials, evidence.scores[system.name], palette[system.name]),
        )
        for system in evaluation.systems
        if evidence.scores.get(system.name)
    ]


def _attacked(evaluation: Evaluation) -> list[SystemResults]:
    """Systems that were attacked without the key."""
    return [system for system in evaluation.systems if system.attacked]


def _rates(systems: Sequence[SystemResults]) -> list[str]:
    """The strongest attacker's rate on each system; a broken attacker has none."""
    return [
        f"{s.name} {s.strongest.eer.value:.1f} % by {s.strongest.attacker}, {s.strongest.verifier}"
        for s in systems
        if not s.strongest.broken
    ]


def _names(systems: Sequence[SystemResults]) -> list[str]:
    return [system.name for system in systems]


def _listed(what: str, items: Sequence[str]) -> str:
    return f"{what}: {'; '.join(items)}."


def _mean(matrix: np.ndarray, diagonal: bool) -> float:
    values = matrix[np.eye(len(matrix), dtype=bool) == diagonal]
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")
