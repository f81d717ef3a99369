"""Figures of Miao et al. 2023: vectors, scores, similarity, radar charts, naturalness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from voicenym.evaluation.figures import colours, histograms, radar, similarities
from voicenym.evaluation.figures.similarity_figures import flattened
from voicenym.evaluation.figures.svg import COLOURS, drawn, finite, paper, shortened
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench, Measurement
from voicenym.reproduction.counterparts import LOH, SELECTION
from voicenym.reproduction.miao.miao_speech import SYSTEMS
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, absent, all_of, exceeds
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import attacked, compared, original, useful
from voicenym.verification.scoring import unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


MOST_SPEAKERS = 50
"""Speakers of the joint picture, as in the paper."""


@drawn
def joint(trials: Trials, original: np.ndarray, published: Mapping[str, np.ndarray]) -> Picture:
    """Vectors before (dots) and after (triangles) in one t-SNE for each system."""
    speakers = np.array([recording.speaker for recording in trials.recordings])
    people = list(dict.fromkeys(speakers))[:MOST_SPEAKERS]
    pick = np.isin(speakers, people)
    figure, axes = paper(3.4, 1, max(1, len(published)))
    for axis, (name, vectors) in zip(axes[0], published.items(), strict=True):
        flat = flattened(unit(np.concatenate([original[pick], vectors[pick]])))
        for number, speaker in enumerate(people):
            own = np.flatnonzero(speakers[pick] == speaker)
            colour = COLOURS[number % len(COLOURS)]
            axis.plot(*flat[own].T, "o", color=colour, ms=3, mew=0, alpha=0.8)
            axis.plot(*flat[own + pick.sum()].T, "^", color=colour, ms=3.5, mew=0, alpha=0.8)
        axis.set(xticks=[], yticks=[], title=name)
    return figure


@drawn
def boxes(trials: Trials, scores: Mapping[str, np.ndarray]) -> Picture:
    """Box plots of the scores of the same and of different speakers by attacker."""
    figure, axes = paper(3.0)
    axis = axes[0, 0]
    labels = []
    for place, (name, matrix) in enumerate(scores.items()):
        values = finite(matrix)
        for shift, mask in ((-0.17, trials.target), (0.17, trials.nontarget)):
            axis.boxplot(values[mask], positions=[place + shift], widths=0.28, showfliers=False,
                         manage_ticks=False)  # fmt: skip
        labels.append(shortened(name.split(",")[0], 20))
    axis.set_xticks(range(len(labels)), labels)
    axis.set_ylabel("score; left: same speaker")
    return figure


def embeddings(bench: Bench) -> Ours:
    """Figure 5: joint t-SNE of vectors before and after S-Select and S-LOH."""
    names = {"S-Select": SELECTION, "S-LOH": LOH}
    found = {name: bench.measured(system) for name, system in names.items()}
    there = {name: one for name, one in found.items() if isinstance(one, Measurement)}
    drawings = []
    if there:
        one = next(iter(there.values())).evidence
        after = {name: m.evidence.vectors[m.name] for name, m in there.items()}
        drawings.append(("figure-5.svg", joint(one.trials, one.vectors["original"], after)))
    rows = [OurRow(name, (useful(bench, system, "D_KS"), useful(bench, system, "cluster ARI")))
            for name, system in names.items()]  # fmt: skip
    panel = OurPanel("what the picture shows", ("D_KS", "cluster ARI"), tuple(rows), 2)
    return Ours((panel,), (), (), tuple(drawings))


def pair_scores(bench: Bench) -> Ours:
    """Figure 6: scores of pairs, quartiles of the same and of different speakers."""
    columns = ("same, 25 % below", "same, median", "same, 75 % below",
               "different, 25 % below", "different, median", "different, 75 % below")  # fmt: skip
    rows, drawings = [], []
    for name, system in (("S-Select", SELECTION), ("S-LOH", LOH)):
        one = bench.measured(system)
        if isinstance(one, str):
            rows.append(OurRow(name, (absent(one),) * len(columns)))
            continue
        evidence, scores = one.evidence, one.evidence.scores
        by = one.evaluation.unprotected[0].verifier  # other verifiers' scores have other scales
        clean, anonymized = scores["original"], scores[one.name]
        bare = f"unprotected, {by}"
        if not rows:
            rows.append(OurRow("unprotected", _quartiles(clean[bare], evidence.trials)))
        informed = {f"{who}, {by}": anonymized[f"{who}, {by}"] for who in (IGNORANT, LAZY)}
        rows += [OurRow(f"{name}, {who.split(',')[0]}", _quartiles(matrix, evidence.trials))
                 for who, matrix in informed.items()]  # fmt: skip
        own = {bare: clean[bare], **informed}
        shade = next(iter(colours(one.evaluation).values()))
        drawings.append((f"figure-6-{name}.svg", histograms(evidence.trials, own, shade)))
        drawings.append((f"figure-6-{name}-boxes.svg", boxes(evidence.trials, own)))
    return Ours((OurPanel("scores (cosines)", columns, tuple(rows), 2),), (), (), tuple(drawings))


def _quartiles(scores: np.ndarray, trials: Trials) -> tuple[Figure, ...]:
    masks = (trials.target, trials.nontarget)
    return tuple(Figure(float(v)) for mask in masks
                 for v in np.percentile(scores[mask], (25, 50, 75)))  # fmt: skip


def matrices(bench: Bench) -> Ours:
    """Figure 7: similarity matrices of S-Select and S-LOH."""
    rows, drawings = [], []
    columns = ("M_oo own", "M_oo others", "M_oa own", "M_oa others", "M_aa own", "M_aa others")
    for name, system in (("S-Select", SELECTION), ("S-LOH", LOH)):
        rows.append(OurRow(name, tuple(useful(bench, system, metric) for metric in columns)))
        one = bench.measured(system)
        if not isinstance(one, str):
            drawing = similarities({name: one.evidence.matrices[one.name]})
            drawings.append((f"figure-7-{name}.svg", drawing))
    return Ours((OurPanel("mean similarity", columns, tuple(rows), 2),), (), (), tuple(drawings))


def radar_chart(bench: Bench) -> Ours:
    """Figure 8: radar charts; our figures rescaled as in the paper where it states how."""
    columns = ("EER ignorant", "EER lazy-informed", "EER semi-informed", "100 − WER", "G_VD, dB")
    rows, results = [], []
    palette: dict[str, str] = {}
    for name in ("B2", "S-Select", "S-ROH*", "S-LOH*"):
        system = SYSTEMS[name]
        words_kept = useful(bench, system, "WER")
        if words_kept.value is not None:
            words_kept = Figure(100.0 - words_kept.value)
        rows.append(OurRow(name, (
            attacked(bench, system, IGNORANT, "EER"), attacked(bench, system, LAZY, "EER"),
            attacked(bench, system, bench.informed, "EER"), words_kept,
            useful(bench, system, "G_VD"),
        )))  # fmt: skip
        one = bench.measured(system)
        if not isinstance(one, str):
            results.append(one.results)
            palette[one.name] = "#4477AA"
    drawings = (("figure-8.svg", radar(results, palette)),) if results else ()
    return Ours((OurPanel("radar", columns, tuple(rows), 1),), (), (), drawings)


def naturalness(bench: Bench) -> Ours:
    """Figure 9: predicted opinions."""
    rows = [OurRow("original", (original(bench, "DNSMOS"),))]
    found = {}
    for name in ("B2", "S-Select", "S-ROH*", "S-LOH*"):
        found[name] = useful(bench, SYSTEMS[name], "DNSMOS")
        rows.append(OurRow(name, (found[name],)))
    claims = (
        compared("S-Select is predicted to be more natural than B2",
                 exceeds(found["S-Select"], found["B2"]), *list(found.items())[:2], digits=2),
        compared("ROH and LOH are predicted to be more natural than S-Select",
                 all_of([exceeds(found[n], found["S-Select"]) for n in ("S-ROH*", "S-LOH*")]),
                 *list(found.items())[1:], digits=2),
    )  # fmt: skip
    notes = ("DNSMOS where the paper has the network of Cooper et al. 2022; means, no boxes",)
    return Ours((OurPanel("predicted opinion", ("1 to 5",), tuple(rows), 2),), claims, notes)
