"""Turner et al. 2022 on speaker vectors: similarities, sizes of the mixture.

The pool is the bundled one of the SSL-based pipeline, without its warped voices, so that these
figures need no speech.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from voicenym.identity.mixture import Mixture
from voicenym.identity.pools.speaker_pool import Pool, opened
from voicenym.identity.selection import Selection
from voicenym.metrics import cross_similarity_distance
from voicenym.pseudonym import Key
from voicenym.reproduction import medians
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.counterparts import BUNDLED
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, above, all_of, exceeds
from voicenym.reproduction.panel_drawings import cumulative
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import SEXES, compared

if TYPE_CHECKING:
    from voicenym.training.identity.train_mixture import Tried

QUANTILES = (5, 25, 50, 75, 95)
SHARES = (0.7, 0.9, 0.97, 0.99, 0.995)
COMPONENTS = (1, 2, 8)
UNCHANGED = 0.05
"""Difference of D_KS, from 0 to 1, below which it counts as the same."""
DRAWN = Key(bytes(31) + b"\1", None)
"""Key of the pseudo-speakers on vectors; no person's voice depends on it."""


@cache
def pool() -> Pool:
    """The bundled pool without warped voices."""
    whole = opened(str(BUNDLED / "pool"))
    kept = [i for i, speaker in enumerate(whole.speakers) if not speaker.endswith("-warped")]
    return Pool(
        whole.vectors[kept],
        tuple(whole.sexes[i] for i in kept),
        tuple(whole.speakers[i] for i in kept),
        whole.encoder,
        whole.version,
    )


@cache
def voices(kind: str, sex: str) -> np.ndarray:
    """Vectors ``[speaker, element]`` of originals, selection or mixture, of one sex.

    Half of the speakers, chosen by every other name, are the pool and the mixture's training data;
    the other half are originals, and ask for pseudo-speakers.
    """
    every = pool()
    rows = every.rows("f" if sex == "f" else "m")
    order = sorted(rows.tolist(), key=lambda i: every.speakers[i])
    own, others = order[1::2], order[0::2]
    vectors = every.vectors[own]
    if kind == "original":
        found: np.ndarray = vectors.double().numpy()
        return found
    half = Pool(
        every.vectors[others],
        tuple(every.sexes[i] for i in others),
        tuple(every.speakers[i] for i in others),
        every.encoder,
        every.version,
    )
    names = [DRAWN.pseudonym(every.speakers[i]) for i in own]
    sexes = [every.sexes[i] for i in own]
    if kind == "selection":
        # the paper ranks 600 or 560 of a sex, averages 100 of the 200 farthest: the same shares
        world = max(2, round(len(others) / 3))
        method: Selection | Mixture = Selection(half, world=world, region=max(1, world // 2))
    else:
        from voicenym.training.identity.train_mixture import MixtureConfig, train

        method = Mixture(train(half, MixtureConfig(0.99, 1)))
    return method.anonymize(vectors.double(), names, sexes).double().numpy()


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Cosines of all pairs of rows."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: np.ndarray = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return found


def _spread(kinds: tuple[str, ...]) -> OurPanel:
    columns = (*(f"{q} % of pairs below" for q in QUANTILES), "D_KS to originals")
    rows = []
    for sex in SEXES:
        for kind in kinds:
            values = np.percentile(cosines(voices(kind, sex)), QUANTILES)
            rows.append(OurRow(
                f"{kind} {sex}", (*(Figure(float(v)) for v in values), distance(kind, sex)),
            ))  # fmt: skip
    return OurPanel("cosines of pairs", columns, tuple(rows), 2)


def _curves(kinds: tuple[str, ...]) -> str:
    """Empirical distribution functions of the cosines, a picture a sex."""
    names = {"f": "women", "m": "men"}
    parts = {names[sex]: {kind: cosines(voices(kind, sex)) for kind in kinds} for sex in SEXES}
    return cumulative(parts, "cosine of two voices")


def distance(kind: str, sex: str) -> Figure:
    """D_KS of pseudo-speakers to originals with its interval; 0 of originals themselves."""
    if kind == "original":
        return Figure(0.0)
    found = cross_similarity_distance(voices("original", sex), voices(kind, sex))
    low, high = found.interval or (None, None)
    return Figure(found.value, low, high)


def baseline(bench: Bench) -> Ours:
    """Figure 2: cosines of originals and of the baseline's pseudo-speakers."""
    panel = _spread(("original", "selection"))
    middle = {(k, s): medians.among(voices(k, s), _owners(s))
              for s in SEXES for k in ("original", "selection")}  # fmt: skip
    text = ", ".join(f"{kind} {sex} {one.value:.2f}" for (kind, sex), one in middle.items())
    alike = [(f"selection less original {s}", medians.less(middle["selection", s],
                                                           middle["original", s]))
             for s in SEXES]  # fmt: skip
    women = medians.less(middle["original", "f"], middle["original", "m"])
    (first, gap), *rest = alike
    return Ours((panel,), (
        compared("Pairs of the baseline's pseudo-speakers are more alike than originals",
                 all_of([above(figure, 0.0) for _, figure in alike]),
                 (f"medians: {text}; {first}", gap), *rest, digits=2),
        compared("Women's vectors are more alike than men's", above(women, 0.0),
                 (f"medians: {text}; women less men", women), digits=2),
    ), (), (("distributions.svg", _curves(("original", "selection"))),))  # fmt: skip


def _owners(sex: str) -> np.ndarray:
    """Speakers of the rows of :func:`voices`."""
    return np.array([f"{sex}{i:04d}" for i in range(len(voices("original", sex)))])


@cache
def sizes() -> tuple[Tried, ...]:
    """Every size of a mixture, by the paper's procedure of two splits and two fits."""
    from voicenym.training.identity.train_mixture import MixtureConfig, search

    return tuple(search(pool(), MixtureConfig(), SHARES, COMPONENTS))


def _sizes_panel(across: str) -> OurPanel:
    columns = ("dimensions", "D_KS", "entropy, nats", "lower bound", "upper bound")
    rows = []
    for one in sorted(sizes(), key=lambda t: (t.sex, *_order(t, across))):
        figures = (
            Figure(one.dimensions), Figure(one.distance, one.low, one.high), _entropy(one),
            Figure(one.lower), Figure(one.upper),
        )  # fmt: skip
        rows.append(
            OurRow(f"{one.sex}, {100 * one.share:g} %, {one.components} components", figures)
        )
    return OurPanel(f"sizes by {across}", columns, tuple(rows), 2)


def _order(one: Tried, across: str) -> tuple[float, float]:
    both = one.share, float(one.components)
    return both if across == "components" else (both[1], both[0])


def _size(sex: str, share: float, components: int) -> Tried:
    return next(t for t in sizes() if (t.sex, t.share, t.components) == (sex, share, components))


def by_components(bench: Bench) -> Ours:
    """Figure 3: D_KS and entropy by the number of components."""
    from voicenym.evaluation.figures.mixture_sizes import sizes as drawing

    verdicts, texts = [], []
    for sex in SEXES:
        one, most = _size(sex, 0.99, 1), _size(sex, 0.99, COMPONENTS[-1])
        verdicts.append(unchanged(one, most))
        texts += [
            f"{sex}, {t.components}: {t.distance:.3f} ({t.low:.3f} to {t.high:.3f})"
            for t in (one, most)
        ]
    claim = (
        f"At 99 % of the variance, the number of components changes D_KS by less than {UNCHANGED:g}"
    )
    finding = Finding(claim, all_of(verdicts), "; ".join(texts))
    return Ours(
        (_sizes_panel("components"),), (finding,), (), (("figure-3.svg", drawing(sizes())),)
    )


def unchanged(one: Tried, other: Tried) -> bool | None:
    """Whether D_KS of two sizes differs by less than :data:`UNCHANGED`, by the ends of their
    intervals; overlapping intervals alone would agree with any difference that is hard to measure.
    """
    ends = one.high - other.low, other.high - one.low
    if max(ends) < UNCHANGED:
        return True
    return False if min(ends) < -UNCHANGED else None


def by_variance(bench: Bench) -> Ours:
    """Figure 4: D_KS and entropy by the share of variance."""
    from voicenym.evaluation.figures.mixture_sizes import sizes as drawing

    published = panels_of("turner-2022", "figure-4")[0]
    dimensions = tuple(Figure(_size(sex, 0.99, 1).dimensions) for sex in SEXES)
    row = OurRow("ours, of half of the pool", dimensions, published.labels[0])
    better, entropy, texts = [], [], []
    for sex in SEXES:
        low, high, last = (_size(sex, share, 1) for share in (0.7, 0.99, SHARES[-1]))
        better.append(exceeds(
            Figure(low.distance, low.low, low.high), Figure(high.distance, high.low, high.high)
        ))  # fmt: skip
        entropy.append(exceeds(_entropy(high), _entropy(last)))
        texts += [(f"{sex}, {100 * t.share:g} %", _entropy(t)) for t in (high, last)]
    found = [(f"{100 * t.share:g} % {t.sex}", Figure(t.distance, t.low, t.high)) for t in sizes()
             if t.components == 1 and t.share in (0.7, 0.99)]  # fmt: skip
    findings = (
        compared("Keeping 99 % of the variance instead of 70 % lowers D_KS", all_of(better), *found,
                 digits=3),
        compared("Entropy falls beyond 99 % of the variance", all_of(entropy), *texts),
    )  # fmt: skip
    ours = OurPanel(published.title, published.columns, (row,), 0)
    drawings = (("figure-4.svg", drawing(sizes())),)
    return Ours((ours, _sizes_panel("variance")), findings, (), drawings)


def _entropy(one: Tried) -> Figure:
    return Figure(one.entropy, one.entropy - one.spread, one.entropy + one.spread)


def distributions(bench: Bench) -> Ours:
    """Figure 5: cosines of originals, of the mixture and of the baseline."""
    panel = _spread(("original", "mixture", "selection"))
    verdicts, named = [], []
    for sex in SEXES:
        mixture, selection = distance("mixture", sex), distance("selection", sex)
        verdicts.append(exceeds(selection, mixture))
        named += [(f"mixture {sex}", mixture), (f"selection {sex}", selection)]
    claim = "The mixture's similarities match those of originals better than the baseline's (D_KS)"
    drawing = ("distributions.svg", _curves(("original", "mixture", "selection")))
    finding = compared(claim, all_of(verdicts), *named, digits=2)
    return Ours((panel,), (finding,), (), (drawing,))
