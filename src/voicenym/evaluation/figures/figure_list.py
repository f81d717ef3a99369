"""All figures of a report, each with its title, how to read it, and what it shows in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures.score_figures import (
    det_curves,
    disclosure,
    histograms,
    linkabilities,
)
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
from voicenym.evaluation.results import AttackFigures, Evaluation, SystemResults

ORIGINAL = "original"


@dataclass(frozen=True)
class Shown:
    """A figure on the page.

    Args:
        title: what it is.
        how: to read it, in a sentence.
        alt: what one who does not see it must know.
        svg: the drawing.
    """

    title: str
    how: str
    alt: str
    svg: str


def gallery(evaluation: Evaluation, evidence: Evidence | None) -> list[Shown]:
    """What can be drawn.

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
        strongest = [f"{s.name} {s.strongest.eer.value:.1f} % by {_who(s)}" for s in systems]
        shown += [
            Shown(
                "Every attacker on every system",
                "Each mark is an attacker's equal error rate, the bar its 95 % interval; the full "
                "diamond is the strongest, grey squares have the key, and the further left, the "
                "better the attacker.",
                _listed("Dots with intervals. Strongest attackers", strongest),
                attackers(systems, palette),
            ),
            Shown(
                "Privacy and utility",
                "The rim is best: an EER of 50 %, DeID of 1, G_VD of 0 dB, rho_F0 of 1, DNSMOS of "
                "4, WER of 0; where a line is broken, nothing was measured.",
                _listed("Radar of six axes, two of privacy and four of utility", _names(systems)),
                radar(systems, palette),
            ),
        ]
    taught = [s for s in systems if any(attack.learning for attack in s.attacks)]
    if taught:
        ends = [
            f"{s.name} {a.learning[-1].eer:.1f} % after {a.learning[-1].seconds / 60:.0f} minutes"
            for s in taught
            for a in s.attacks
            if a.learning
        ]
        shown.append(
            Shown(
                "How the attackers learnt",
                "A verifier learns to find speakers behind anonymized voices: where its line still "
                "falls at the end, more time would find more, and protection is overstated.",
                _listed("Lines that fall with training time", ends),
                learning(taught, palette),
            )
        )
    hidden = [system for system in evaluation.systems if system.exposed]
    if hidden:
        worst = [
            f"{s.name}: {s.exposed[0].speaker}, {100 * s.exposed[0].found:.0f} %" for s in hidden
        ]
        shown += [
            Shown(
                "The least protected speakers",
                "Each bar is one speaker, and how often the strongest attacker's first guess is "
                "right, the least protected by mean rank on top; a speaker at 100 % has no "
                "protection, whatever the average says.",
                _listed("Bars. The least protected speaker of each system", worst),
                exposed(hidden, palette),
            ),
            Shown(
                "All speakers",
                "How often the first guess is right (upward), for all speakers from the least to "
                "the best protected; the lower a line, the better.",
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
    known += [(system.name, system.strongest) for system in _attacked(evaluation)]
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
            "Misses against false alarms of the strongest attacker at all thresholds: the nearer "
            "to the lower left corner, the better it recognises; on the dashed line it guesses. "
            "Shades are 95 % intervals over speakers.",
            _listed("Curves. Equal error rates", eer),
            det_curves(trials, curves, palette),
        ),
        Shown(
            "Empirical cross-entropy",
            "What is left to guess for every prior belief of the strongest attacker; the gap below "
            "the dashed line, which is one who hears nothing, is what the voices disclose. Shades "
            "are 95 % intervals over speakers.",
            _listed("Bell-shaped curves. Expected disclosure", ece),
            disclosure(trials, curves, palette),
        ),
        Shown(
            "Linkability",
            "Densities of the strongest attacker's scores, scaled to a height of 1: grey for "
            "different speakers, in colour for the same; the dashed line is how surely a score "
            "links two recordings, from 0 to 1, its shade a 95 % interval over speakers, bin by "
            "bin.",
            _listed("Densities. D_sys", linked),
            linkabilities(trials, curves, palette),
        ),
    ]


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
                "Each row and column is a speaker: a bright diagonal in oa says that people "
                "resemble their own originals, one in aa that they stay apart, and an even square "
                "in aa that they cannot be told apart.",
                _listed("Matrices of similarity. Means", diagonal),
                similarities(evidence.matrices),
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
                    "How many pairs of different speakers are less alike than a given similarity, "
                    "before (grey) and after; a line to the right of the grey one says that voices "
                    "became more alike, and D_KS is the largest gap between the two.",
                    _listed("Rising steps. D_KS", gaps),
                    diversity(evidence.trials, original, others, palette),
                )
            )
        how = "t-SNE" if neighbours() else "the first two principal components; t-SNE is missing"
        shown.append(
            Shown(
                "Speaker vectors",
                f"Recordings of at most {MOST_SPEAKERS} speakers as the verifier places them, "
                f"original and as published ({how}): each speaker has a colour and shape, and "
                "heaps of one kind are a voice that stays together; distances between heaps mean "
                "little.",
                _listed("Scattered points", [ORIGINAL, *others]),
                vectors(evidence.trials, original, others),
            )
        )
    return shown


def _each_attacker(evaluation: Evaluation, evidence: Evidence, palette: Palette) -> list[Shown]:
    return [
        Shown(
            f"Scores on {system.name}",
            "Scores of different speakers (grey) and of the same (in colour), a panel for each "
            "attacker; the less they overlap, the better it recognises.",
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
    """Systems that somebody without the key tried."""
    return [s for s in evaluation.systems if not all(a.holds_key for a in s.attacks)]


def _who(system: SystemResults) -> str:
    return f"{system.strongest.attacker}, {system.strongest.verifier}"


def _names(systems: Sequence[SystemResults]) -> list[str]:
    return [system.name for system in systems]


def _listed(what: str, items: Sequence[str]) -> str:
    return f"{what}: {'; '.join(items)}."


def _mean(matrix: np.ndarray, diagonal: bool) -> float:
    values = matrix[np.eye(len(matrix), dtype=bool) == diagonal]
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")
