"""Fit of a Gaussian mixture to speaker vectors, and the choice of its size.

Turner, Lovisotto and Martinovic, sections 3.3 and 3.4: principal components up to a share of the
variance, a Gaussian mixture in them, a model a sex; evaluated by the Kolmogorov-Smirnov distance of
cross-similarities to held-out speakers (equation 1) and by the mixture's entropy
(equation 2, with the bounds of appendix A).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.pools.vector_mixture import Gaussians, Mixtures
from voicenym.metrics import cross_similarity_distance, mixture_entropy

Covariance = Literal["diag", "full"]
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995)
COMPONENTS = (1, 2, 4, 8)
SAMPLES = 2000
"""Vectors drawn from a model for its evaluation, as in the paper."""
ITERATIONS, TOLERANCE = 500, 1e-15
"""Initial limits of expectation maximisation, as in the paper; if it does not converge, both are
raised in equal steps, at most ``PATIENCE`` times."""
PATIENCE = 4
LEAST = 4
"""Least number of speakers for a model."""


@dataclass(frozen=True)
class MixtureConfig:
    """Configuration of the training.

    Args:
        share: of the variance that principal components keep, above 0 and up to 1.
        components: of the mixture.
        covariance: ``diag`` (the paper's) or ``full``.
        by_sex: a model for each sex, or one for all.
        seed: of the fit's start.
    """

    share: float = 0.99
    components: int = 1
    covariance: Covariance = "diag"
    by_sex: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise VoicenymError(f"share of variance: above 0 and up to 1, not {self.share}")
        if self.components < 1:
            raise VoicenymError(f"a mixture has 1 component or more, not {self.components}")
        if self.covariance not in ("diag", "full"):
            raise VoicenymError(f"covariance is diag or full, not {self.covariance!r}")


@dataclass(frozen=True)
class Tried:
    """Result of a model size, the mean over splits and fits.

    Args:
        sex: of the speakers; empty for all.
        share, components: of the model.
        dimensions: mean number of principal components for the share.
        distance: Kolmogorov-Smirnov distance to held-out speakers.
        low, high: its 90 % interval over splits and fits (Student's t).
        entropy: of the mixture, in nats.
        lower, upper: bounds of it.
        spread: half the width of the entropy's 90 % interval over splits and fits.
    """

    sex: str
    share: float
    components: int
    dimensions: float
    distance: float
    low: float
    high: float
    entropy: float
    lower: float
    upper: float
    spread: float = 0.0


def fit(vectors: torch.Tensor, config: MixtureConfig) -> Gaussians:
    """A mixture of vectors ``[speaker, element]``.

    Raises:
        DependencyError: scikit-learn is missing.
        VoicenymError: too few speakers, or statistics that are not finite.
    """
    try:
        from sklearn.decomposition import PCA
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture
    except ImportError as error:
        raise DependencyError("training a mixture: pip install 'voicenym[evaluate]'") from error
    x = vectors.double().numpy()
    if len(x) < max(LEAST, 2 * config.components):
        raise VoicenymError(
            f"{len(x)} speakers are too few for a mixture of {config.components}: add speakers, or "
            "take fewer components"
        )
    if not np.isfinite(x).all():
        raise VoicenymError("speaker vectors hold NaN or infinity: build the pool again")
    if not np.ptp(x, axis=0).max() > 0.0:
        raise VoicenymError("all speakers are one: a mixture needs different ones")
    pca = PCA(svd_solver="full").fit(x)
    spread = pca.explained_variance_
    reached = np.cumsum(pca.explained_variance_ratio_) >= config.share - 1e-12
    positive = int((spread > 1e-12 * spread[0]).sum())
    kept = min(int(reached.argmax()) + 1 if reached.any() else len(spread), positive)
    # the sign of a component is arbitrary; a voice must not be
    basis = pca.components_[:kept]
    basis = basis * np.sign(basis[np.arange(kept), np.abs(basis).argmax(1)])[:, None]
    reduced = (x - pca.mean_) @ basis.T
    floor = 1e-6 * float(spread[:kept].mean())
    for step in range(1, PATIENCE + 1):
        model = GaussianMixture(
            config.components,
            covariance_type=config.covariance,
            max_iter=ITERATIONS * step,
            tol=TOLERANCE * step,
            reg_covar=floor,
            random_state=config.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(reduced)
        if model.converged_:
            break
    full = config.covariance == "full"
    roots = np.linalg.cholesky(model.covariances_) if full else np.sqrt(model.covariances_)
    parts = pca.mean_, basis, model.weights_, model.means_, roots
    mean, basis, weights, means, roots = (torch.tensor(np.array(p)).float() for p in parts)
    return Gaussians(mean, basis, weights / weights.sum(), means, roots)


def train(pool: Pool, config: MixtureConfig) -> Mixtures:
    """Mixtures of a pool's speakers.

    Raises:
        DependencyError, VoicenymError: as :func:`fit`; a pool without sexes.
    """
    groups = {sex: fit(vectors, config) for sex, vectors in grouped(pool, config.by_sex).items()}
    return Mixtures(groups, pool.encoder, pool.version)


def grouped(pool: Pool, by_sex: bool) -> dict[str, torch.Tensor]:
    """Training vectors of each model, by sex.

    Raises:
        VoicenymError: no sex is known.
    """
    if not by_sex:
        return {"": pool.vectors}
    found = {s: pool.vectors[rows] for s in ("f", "m") if len(rows := pool.rows(s))}
    if not found:
        raise VoicenymError("the pool has no sexes: fit one mixture for all, --any-sex")
    return found


def drawn(model: Gaussians, count: int, rng: np.random.Generator) -> np.ndarray:
    """Speaker vectors ``[count, element]`` for the evaluation of a model."""
    which = rng.choice(len(model.weights), count, p=_shares(model))
    noise = torch.from_numpy(rng.standard_normal((count, model.means.shape[1]))).float()
    root = model.roots[which]
    moved = torch.einsum("nij,nj->ni", root, noise) if root.ndim == 3 else root * noise
    return model.back(model.means[which] + moved).double().numpy()


def _shares(model: Gaussians) -> np.ndarray:
    weights = model.weights.double().numpy()
    return weights / weights.sum()


def search(
    pool: Pool,
    config: MixtureConfig,
    shares: Sequence[float] = SHARES,
    components: Sequence[int] = COMPONENTS,
    *,
    splits: int = 2,
    fits: int = 2,
    samples: int = SAMPLES,
    say: Callable[[str], None] = lambda text: None,
) -> list[Tried]:
    """Every size of model, fitted to half of the speakers and compared with the other half.

    Args:
        pool: of speakers.
        config: covariance, sexes and seed; its sizes are not used.
        shares, components: sizes to try.
        splits, fits: numbers of random halves, and of fits to each.
        samples: drawn from a model.
        say: receives the figures of every size.

    Raises:
        DependencyError, VoicenymError: as :func:`fit`.
    """
    found = []
    for sex, vectors in grouped(pool, config.by_sex).items():
        if len(vectors) // 2 < max(LEAST, 2 * max(components)):
            raise VoicenymError(
                f"half of {len(vectors)} speakers are too few for {max(components)} components: "
                "add speakers, or try fewer components"
            )
        for share in shares:
            for count in components:
                tried = _tried(sex, vectors, config, share, count, splits, fits, samples)
                say(
                    f"{sex or 'any'}: share {share:g}, {count} components: D_KS "
                    f"{tried.distance:.3f}, entropy {tried.entropy:.1f}"
                )
                found.append(tried)
    return found


def _tried(
    sex: str,
    vectors: torch.Tensor,
    config: MixtureConfig,
    share: float,
    components: int,
    splits: int,
    fits: int,
    samples: int,
) -> Tried:
    rows = []
    for split in range(splits):
        order = np.random.default_rng((config.seed, split)).permutation(len(vectors))
        half = len(vectors) // 2
        fitting, kept = vectors[order[:half]], vectors[order[half:]]
        for again in range(fits):
            seed = config.seed + 1000 * split + again
            model = fit(
                fitting, MixtureConfig(share, components, config.covariance, config.by_sex, seed)
            )
            pseudo = drawn(model, samples, np.random.default_rng((seed, 1)))
            distance = cross_similarity_distance(kept.double().numpy(), pseudo)
            entropy = mixture_entropy(
                _shares(model),
                model.means.double().numpy(),
                model.covariances.double().numpy(),
                samples=samples,
                seed=seed,
            )
            rows.append(
                (model.means.shape[1], distance.value, entropy.value, entropy.lower, entropy.upper)
            )
    table = np.array(rows)
    dimensions, distance, entropy, lower, upper = table.mean(0)
    half_width = spread = 0.0
    if len(table) > 1:
        from scipy.stats import t

        quantile = float(t.ppf(0.95, len(table) - 1)) / math.sqrt(len(table))
        half_width, spread = (quantile * float(table[:, i].std(ddof=1)) for i in (1, 2))
    return Tried(
        sex,
        share,
        components,
        dimensions,
        distance,
        distance - half_width,
        distance + half_width,
        entropy,
        lower,
        upper,
        spread,
    )


def chosen(tried: Sequence[Tried]) -> tuple[float, int]:
    """Share and components: of the sizes whose D_KS does not differ from the best, the one with the
    largest entropy, and of equals the one with fewest components.

    A size is as good as the best, for a sex, if its D_KS lies below the best one's upper limit; of
    several sexes it must be so for each, or if none is, the mean D_KS decides.
    """
    sizes: dict[tuple[float, int], list[Tried]] = {}
    for row in tried:
        sizes.setdefault((row.share, row.components), []).append(row)
    limit = {
        sex: min((r for r in tried if r.sex == sex), key=lambda r: r.distance).high
        for sex in {r.sex for r in tried}
    }
    good = {k: rows for k, rows in sizes.items() if all(r.distance <= limit[r.sex] for r in rows)}
    if not good:
        return min(sizes, key=lambda size: sum(r.distance for r in sizes[size]))
    return max(good, key=lambda size: (round(sum(r.entropy for r in good[size]), 2), -size[1]))
