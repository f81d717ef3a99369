"""The figures of a report, each a function that gives an SVG."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from voicenym.benchmark.results import Evaluation, SystemResults
from voicenym.benchmark.trials import Trials
from voicenym.metrics import det, ece_profile, linkability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by the colour-blind
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
TARGET, NONTARGET, GREY = "#0072B2", "#D55E00", "#777777"
WIDTH = 8.0
MOST_SPEAKERS_SHOWN = 12

Scores = dict[str, np.ndarray]


def _figure(height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Figure) -> str:
    """Without the file's head, without a date, with ids of its own."""
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "voicenym"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    return re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)


def colours(evaluation: Evaluation) -> dict[str, str]:
    """A colour for each system, the same in all figures."""
    names = [system.name for system in evaluation.systems]
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}


def attackers(evaluation: Evaluation) -> str:
    """EER of every attacker on every system, with intervals."""
    systems = evaluation.systems
    heights = [len(system.attacks) for system in systems]
    figure, axes = _figure(0.27 * sum(heights) + 0.8 * len(systems) + 0.4, len(systems))
    for axis, system in zip(axes[:, 0], systems, strict=True):
        attacks = sorted(system.attacks, key=lambda a: -a.eer.value)
        for place, attack in enumerate(attacks):
            eer = attack.eer
            low, high = (eer.value if v is None else v for v in (eer.low, eer.high))
            strongest = attack is system.strongest
            colour = GREY if attack.holds_key else COLOURS[1] if strongest else COLOURS[0]
            axis.plot([low, high], [place, place], color=colour, lw=2)
            axis.plot(eer.value, place, "D" if strongest else "o", color=colour, ms=6)
        axis.set_yticks(
            range(len(attacks)), [f"{a.attacker}, {a.verifier}" for a in attacks], fontsize=8
        )
        axis.axvline(50, color=GREY, ls=":", lw=1)
        axis.set_xlim(0, 60)
        axis.set_ylim(-0.7, len(attacks) - 0.3)
        axis.set_title(system.name, loc="left", fontsize=10, fontweight="bold")
    axes[-1, 0].set_xlabel("EER in % (50: a guess, 0: always recognised)")
    return _svg(figure)


def histograms(trials: Trials, scores: Scores) -> str:
    """Scores of target and non-target trials for each attacker of a system."""
    rows = math.ceil(len(scores) / 3)
    figure, axes = _figure(1.7 * rows + 0.3, rows, 3)
    for axis in axes.flat[len(scores) :]:
        axis.set_visible(False)
    for axis, (name, matrix) in zip(axes.flat, scores.items(), strict=False):
        both = matrix[trials.tested]
        low, high = np.quantile(both, [0.001, 0.999])
        edges = np.linspace(low, high, 41)
        for mask, colour, label in (
            (trials.nontarget, NONTARGET, "different"),
            (trials.target, TARGET, "same"),
        ):
            axis.hist(
                np.clip(matrix[mask], low, high),
                edges,
                density=True,
                alpha=0.6,
                color=colour,
                label=label,
            )
        axis.set_title(name.replace(", ", "\n"), fontsize=7)
        axis.set_yticks([])
        axis.tick_params(labelsize=6)
    axes.flat[0].legend(fontsize=6, frameon=False)
    return _svg(figure)


def det_curves(trials: Trials, curves: dict[str, np.ndarray], palette: dict[str, str]) -> str:
    """Misses against false alarms of the strongest attacker on each system."""
    from scipy.special import ndtri

    figure, axes = _figure(5.2)
    axis = axes[0, 0]
    for name, matrix in curves.items():
        curve = det(matrix[trials.target], matrix[trials.nontarget])
        axis.plot(curve.alarm, curve.miss, color=palette.get(name, GREY), label=name, lw=1.6)
    ticks = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9])
    places = ndtri(ticks)
    for set_ticks in (axis.set_xticks, axis.set_yticks):
        set_ticks(places, [f"{100 * t:g}" for t in ticks], fontsize=8)
    limits = (ndtri(0.0005), ndtri(0.95))
    axis.plot(limits, limits, color=GREY, lw=0.8, ls=":")
    axis.set(xlim=limits, ylim=limits, xlabel="false alarms in %", ylabel="misses in %")
    axis.set_aspect("equal")
    axis.legend(fontsize=8, frameon=False, loc="upper right")
    return _svg(figure)


def disclosure(trials: Trials, curves: dict[str, np.ndarray], palette: dict[str, str]) -> str:
    """ECE profiles of the strongest attacker on each system."""
    figure, axes = _figure(3.4)
    axis = axes[0, 0]
    profile = None
    for name, matrix in curves.items():
        profile = ece_profile(matrix[trials.target], matrix[trials.nontarget])
        axis.plot(profile.log_odds, profile.ece, color=palette.get(name, GREY), label=name)
    if profile is not None:
        axis.plot(profile.log_odds, profile.default, "k--", lw=1, label="nothing disclosed")
    axis.set(
        xlim=(-6, 6), ylim=(0, 1.05), xlabel="prior log-odds of the same speaker", ylabel="ECE, bit"
    )
    axis.legend(fontsize=8, frameon=False)
    return _svg(figure)


def linkabilities(trials: Trials, curves: dict[str, np.ndarray]) -> str:
    """Local linkability over the scores of the strongest attacker, each system a panel."""
    rows = math.ceil(len(curves) / 3)
    figure, axes = _figure(1.9 * rows + 0.3, rows, 3)
    for axis in axes.flat[len(curves) :]:
        axis.set_visible(False)
    for axis, (name, matrix) in zip(axes.flat, curves.items(), strict=False):
        found = linkability(matrix[trials.target], matrix[trials.nontarget], replicates=1)
        width = np.diff(found.edges)
        top = max((found.target / width).max(), (found.nontarget / width).max())
        for shares, colour in ((found.nontarget, NONTARGET), (found.target, TARGET)):
            axis.stairs(shares / width / top, found.edges, fill=True, alpha=0.5, color=colour)
        centres = (found.edges[:-1] + found.edges[1:]) / 2
        axis.plot(centres, found.local, color="k", lw=1)
        axis.set_title(f"{name}: D_sys {found.value:.2f}", fontsize=8)
        axis.set(ylim=(0, 1.05))
        axis.tick_params(labelsize=6)
    return _svg(figure)


def similarities(matrices: dict[str, dict[str, np.ndarray]]) -> str:
    """Voice similarity matrices, original and anonymized, one row of blocks a system."""
    names = list(matrices)
    figure, axes = _figure(2.6 * len(names) + 0.4, len(names), 3)
    picture = None
    for line, name in zip(axes, names, strict=True):
        for axis, block in zip(line, ("oo", "oa", "aa"), strict=True):
            picture = axis.imshow(matrices[name][block], vmin=0, vmax=1, cmap="viridis")
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_title(f"{name}: {block}", fontsize=8)
    if picture is not None:
        figure.colorbar(picture, ax=axes, shrink=0.5, label="similarity")
    return _svg(figure)


RADAR = (
    ("hides\n(EER)", lambda s: min(s.strongest.eer.value / 50, 1.0)),
    ("unlike originals\n(DeID)", lambda s: _clipped(s, "DeID", 0.0, 1.0)),
    ("keeps voices\napart (G_VD)", lambda s: _clipped(s, "G_VD", -10.0, 0.0)),
    ("keeps melody\n(rho_F0)", lambda s: _clipped(s, "rho_F0", 0.0, 1.0)),
    ("sounds natural\n(DNSMOS)", lambda s: _clipped(s, "DNSMOS", 1.0, 4.0)),
    ("keeps words\n(100 % - WER)", lambda s: _clipped(s, "WER", 100.0, 0.0)),
)


def _clipped(system: SystemResults, metric: str, worst: float, best: float) -> float:
    if metric not in system.utility or not math.isfinite(system.utility[metric].value):
        return 0.0
    return min(max((system.utility[metric].value - worst) / (best - worst), 0.0), 1.0)


def radar(evaluation: Evaluation, palette: dict[str, str]) -> str:
    """Privacy and utility of every system at a glance; the rim is best."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    axis = figure.add_subplot(projection="polar")
    angles = np.linspace(0, 2 * np.pi, len(RADAR), endpoint=False)
    around = np.append(angles, angles[0])
    for system in evaluation.systems:
        values = [measure(system) for _, measure in RADAR]
        axis.plot(around, [*values, values[0]], color=palette[system.name], label=system.name)
    axis.set_xticks(angles, [label for label, _ in RADAR], fontsize=8)
    axis.tick_params(axis="x", pad=22)
    axis.set_yticks([0.25, 0.5, 0.75, 1.0], [])
    axis.set_ylim(0, 1.02)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return _svg(figure)


def vectors(trials: Trials, original: np.ndarray, published: dict[str, np.ndarray]) -> str:
    """Speaker vectors before and after in two dimensions, a colour for each of some speakers."""
    speakers = np.array([r.speaker for r in trials.recordings])
    shown = list(dict.fromkeys(speakers))[:MOST_SPEAKERS_SHOWN]
    pick = np.isin(speakers, shown)
    rows = math.ceil((1 + len(published)) / 3)
    figure, axes = _figure(2.6 * rows + 0.3, rows, 3)
    for axis in axes.flat[1 + len(published) :]:
        axis.set_visible(False)
    panels = {"original": original, **published}
    for axis, (name, values) in zip(axes.flat, panels.items(), strict=False):
        flat, how = _flattened(values[pick])
        for i, speaker in enumerate(shown):
            mine = speakers[pick] == speaker
            axis.plot(*flat[mine].T, "osD^v*"[i // 8], color=COLOURS[i % 8], ms=4, alpha=0.8)
        axis.set_title(f"{name} ({how})", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
    return _svg(figure)


def _flattened(values: np.ndarray) -> tuple[np.ndarray, str]:
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        centred = values - values.mean(0)
        _, _, basis = np.linalg.svd(centred, full_matrices=False)
        return centred @ basis[:2].T, "two principal components"
    perplexity = min(15.0, max(2.0, (len(values) - 1) / 4))
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=0)
    return tsne.fit_transform(values.astype(np.float64)), "t-SNE"


def exposed(systems: Sequence[SystemResults], palette: dict[str, str]) -> str:
    """Speakers by how often the strongest attacker finds them, the least protected first."""
    figure, axes = _figure(3.2)
    axis = axes[0, 0]
    for system in systems:
        found = sorted((100 * e.found for e in system.exposed), reverse=True)
        axis.step(range(len(found)), found, where="mid", color=palette[system.name], lw=1.5)
        if found:
            axis.plot(0, found[0], "o", color=palette[system.name], ms=4, label=system.name)
    axis.set(
        ylim=(-2, 102),
        xlabel="speakers, the least protected first",
        ylabel="trials in which the speaker\nis the first guess, %",
    )
    axis.legend(fontsize=8, frameon=False)
    return _svg(figure)
