"""Figures of voice similarity and of speaker vectors before and after anonymization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voicenym.evaluation.figures.svg import (
    COLOURS,
    GREY,
    Palette,
    dashes,
    drawn,
    panels,
    paper,
    shortened,
)
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.metric_inputs import speaker_means
from voicenym.verification.scoring import unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCKS = (
    ("oo", "originals (oo)"),
    ("oa", "originals, anonymized (oa)"),
    ("aa", "anonymized (aa)"),
)
MOST_SPEAKERS = 12
MARKERS = "os^vD*"
FEW = 400
"""Number of points up to which exact t-SNE is faster than the approximation."""


@drawn
def similarities(matrices: dict[str, dict[str, np.ndarray]]) -> Figure:
    """Voice similarity matrices, original and anonymized, one row of blocks a system."""
    figure, axes = paper(2.3 * max(1, len(matrices)) + 0.6, max(1, len(matrices)), len(BLOCKS))
    picture = None
    for line, (name, blocks) in zip(axes, matrices.items(), strict=False):
        for axis, (block, title) in zip(line, BLOCKS, strict=True):
            picture = axis.imshow(
                blocks[block], vmin=0, vmax=1, cmap="viridis", interpolation="none"
            )
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)
            if axis in axes[0]:
                axis.set_title(title)
        line[0].set_ylabel(shortened(name, 24), fontweight="bold")
    if picture is not None:
        figure.colorbar(
            picture,
            ax=axes,
            location="top",
            shrink=0.4,
            aspect=30,
            pad=0.05,
            label="similarity, 0 to 1",
        )
    return figure


@drawn
def diversity(
    trials: Trials, original: np.ndarray, published: dict[str, np.ndarray], palette: Palette
) -> Figure:
    """Similarity of different speakers' voices: shares of pairs below each cosine."""
    speakers = np.array([r.speaker for r in trials.recordings])
    figure, axes = paper(3.2)
    axis = axes[0, 0]
    for name, values in {"original": original, **published}.items():
        people = unit(speaker_means(unit(values), speakers))
        alike = np.sort((people @ people.T)[np.triu_indices(len(people), 1)])
        colour, line = palette.get(name, GREY), dashes(palette, name)
        share = (np.arange(len(alike)) + 1) / len(alike)
        axis.step(alike, share, where="post", color=colour, ls=line, label=shortened(name))
    axis.set(
        ylim=(0, 1.02), xlabel="cosine of two speakers' mean vectors", ylabel="share of pairs below"
    )
    figure.legend(loc="outside right upper")
    return figure


@drawn
def vectors(trials: Trials, original: np.ndarray, published: dict[str, np.ndarray]) -> Figure:
    """Speaker vectors before and after in two dimensions, a colour for each of some speakers."""
    speakers = np.array([r.speaker for r in trials.recordings])
    displayed = list(dict.fromkeys(speakers))[:MOST_SPEAKERS]
    pick = np.isin(speakers, displayed)
    sets = {"original": original, **published}
    figure, axes = panels(len(sets), 2.5)
    for axis, (name, values) in zip(axes, sets.items(), strict=False):
        flat = flattened(np.asarray(values)[pick])
        for i, speaker in enumerate(displayed):
            mine = speakers[pick] == speaker
            marker = MARKERS[i % len(MARKERS)]
            axis.plot(*flat[mine].T, marker, color=COLOURS[i % 8], ms=4.5, mew=0, alpha=0.85)
        axis.set_title(shortened(name), fontweight="bold")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(True)
        axis.spines[:].set_color("#BBBBBB")
    return figure


def neighbours() -> bool:
    """Whether t-SNE is installed; else two principal components are drawn."""
    try:
        import sklearn.manifold  # noqa: F401
    except ImportError:
        return False
    return True


ALIKE = 1e-6
"""Share of the vectors' size up to which their differences are rounding alone."""


def flattened(values: np.ndarray) -> np.ndarray:
    """Vectors ``[recording, dimension]`` in two dimensions."""
    values = np.asarray(values, dtype=np.float64)
    centred = values - values.mean(0)
    # t-SNE divides by the distances, of which recordings that are all the same have none
    alike = np.linalg.norm(centred) <= ALIKE * np.linalg.norm(values)
    if len(values) < 5 or alike or not neighbours():
        _, _, basis = np.linalg.svd(centred, full_matrices=False)
        flat = centred @ basis[:2].T
        return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    from sklearn.manifold import TSNE

    perplexity = min(15.0, max(2.0, (len(values) - 1) / 4))
    method = "exact" if len(values) <= FEW else "barnes_hut"
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=0, method=method, n_jobs=1)
    return np.asarray(tsne.fit_transform(values))
