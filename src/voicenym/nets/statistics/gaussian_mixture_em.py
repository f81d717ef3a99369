"""EM training of Gaussian mixtures, grown from one component by splitting.

Dempster, Laird and Rubin, "Maximum likelihood from incomplete data via the EM algorithm", J. Royal
Statistical Society B 39, 1977; splitting after Linde, Buzo and Gray, "An algorithm for vector
quantizer design", IEEE Trans. Communications 28, 1980.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.statistics.gaussian_mixture import Mixture, unpack

FLOOR = 0.01
"""Variance floor of a component in any direction, as a share of the variance of all frames."""
SPLIT_OFFSET = 0.2
"""Offset of the two halves of a split component, in standard deviations."""
LEAST_FRAMES = 2
"""Least number of frames per component."""
LEAST_COUNT = 1.0
"""Least frame count of a component for an update."""
LEAST_WEIGHT = 1e-10


@dataclass(frozen=True)
class Round:
    """Training stage: iterations at one number of components.

    Args:
        components: of the mixture.
        full: whether its covariances are matrices.
        log_likelihoods: mean over frames in nats, before each iteration and after the last.
    """

    components: int
    full: bool
    log_likelihoods: tuple[float, ...]


def floored(covariances: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    """Covariances with a lower bound.

    A matrix's eigenvalues are floored at 1 in coordinates in which the least is I: of all matrices
    that are not below it, this is the likeliest for the same scatter, so that EM still never goes
    down.

    Args:
        covariances: variances ``[component, d]``, or matrices ``[component, d, d]``.
        least: of the same kind, for all components or for each.
    """
    if covariances.ndim == 2:
        return torch.maximum(covariances, least)
    root = torch.linalg.cholesky(least)
    half = torch.linalg.solve_triangular(root, covariances, upper=False)
    white = torch.linalg.solve_triangular(root, half.mT, upper=False)
    values, vectors = torch.linalg.eigh(0.5 * (white + white.mT))
    low = values[:, 0] < 1.0
    if not low.any():
        return covariances
    basis = root @ vectors
    raised = (basis * values.clamp_min(1.0)[:, None]) @ basis.mT
    return torch.where(low[:, None, None], raised, covariances)


def fit(
    frames: torch.Tensor,
    components: int,
    *,
    full: bool = False,
    iterations: int = 8,
    growing: int = 4,
    floor: float = FLOOR,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Mixture, tuple[Round, ...]]:
    """Trains a mixture on frames; returns it with the log-likelihoods.

    One Gaussian is split into two, these into four and so on, with variances along the axes and
    ``growing`` iterations at each size (the heaviest components are split where the last step is
    less than doubling); ``iterations`` follow at the full size, and as many again with matrices.

    Args:
        frames: ``[n, d]``; the mixture has their type and device. Sums are taken in float64.
        components: how many Gaussians.
        full: whether covariances become matrices.
        iterations: at the full size.
        growing: at each smaller size.
        floor: least variance, as a share of that of all frames.
        seed: of the directions in which components are split.
        say: callback for progress messages.

    Raises:
        VoicenymError: too few frames, frames that are not finite or do not vary.
    """
    wanted = LEAST_FRAMES * components
    if frames.ndim != 2 or len(frames) < max(wanted, 2):
        raise VoicenymError(
            f"{components} components need {max(wanted, 2)} frames of speech at least, not "
            f"{len(frames)}; give more speech, or fewer components"
        )
    mixture, covariance = _single(frames)
    least = floor * covariance
    generator = torch.Generator().manual_seed(seed)
    rounds = []
    while mixture.components < components:
        rounds.append(_round(mixture, frames, growing, least, say))
        mixture = split(rounds[-1][0], components, generator)
    rounds.append(_round(mixture, frames, iterations, least, say))
    if full:
        # The least matrix leans, the least variances do not: a start below it would have to rise
        # in the first iteration, and the likelihood would fall.
        variances = torch.diag_embed(rounds[-1][0].covariances)
        matrices = floored(variances.double(), least).to(variances)
        rounds.append(
            _round(replace(rounds[-1][0], covariances=matrices), frames, iterations, least, say)
        )
    return rounds[-1][0], tuple(r[1] for r in rounds)


def _single(frames: torch.Tensor) -> tuple[Mixture, torch.Tensor]:
    """Single Gaussian with the frames' mean and variances; and their covariance, float64."""
    n, d = frames.shape
    total = frames.new_zeros(d, dtype=torch.float64)
    scatter = frames.new_zeros(d, d, dtype=torch.float64)
    for block in frames.split(1 << 16):
        total += block.double().sum(0)
    mean = total / n
    for block in frames.split(1 << 16):
        centred = block.double() - mean
        scatter += centred.T @ centred
    covariance = scatter / n
    variance = covariance.diagonal()
    if not torch.isfinite(variance).all():
        raise VoicenymError("a frame is not finite; leave its recording out")
    if torch.linalg.cholesky_ex(covariance).info:
        raise VoicenymError(
            "the features of all frames are bound to each other, so that no Gaussian has a "
            "density there; give more, or more varied speech"
        )
    kind = frames.dtype
    single = Mixture(frames.new_ones(1), mean[None].to(kind), variance[None].to(kind))
    return single, covariance


def split(mixture: Mixture, components: int, generator: torch.Generator) -> Mixture:
    """Splits the heaviest components of a diagonal mixture, up to a number of components."""
    heaviest = mixture.weights.argsort(descending=True)
    halved = heaviest[: max(0, min(mixture.components, components - mixture.components))]
    signs = torch.randint(0, 2, (len(halved), mixture.dimension), generator=generator)
    step = (2 * signs - 1).to(mixture.means) * SPLIT_OFFSET * mixture.covariances[halved].sqrt()
    weights, means = mixture.weights.clone(), mixture.means.clone()
    weights[halved] *= 0.5
    means[halved] -= step
    return Mixture(
        torch.cat([weights, weights[halved]]),
        torch.cat([means, mixture.means[halved] + step]),
        torch.cat([mixture.covariances, mixture.covariances[halved]]),
    )


def _round(
    mixture: Mixture,
    frames: torch.Tensor,
    iterations: int,
    least: torch.Tensor,
    say: Callable[[str], None],
) -> tuple[Mixture, Round]:
    track = []
    for iteration in range(iterations + 1):
        last = iteration == iterations
        found, likelihood = improved(mixture, frames, least, update=not last)
        track.append(likelihood)
        mixture = mixture if last else found
    kind = "matrices" if mixture.full else "variances"
    say(f"{mixture.components} components with {kind}: {track[-1]:.3f} nats a frame")
    return mixture, Round(mixture.components, mixture.full, tuple(track))


def improved(
    mixture: Mixture, frames: torch.Tensor, least: torch.Tensor, update: bool = True
) -> tuple[Mixture, float]:
    """One EM iteration: next mixture, and mean log-likelihood of the current one in nats a frame.

    Args:
        mixture: where to start.
        frames: ``[n, d]``.
        least: covariance of a component ``[d, d]``, float64.
        update: False leaves the mixture as it is.
    """
    d = mixture.dimension
    sums, counts, total = None, None, 0.0
    for block in mixture.blocks(frames):
        moments = mixture.moments(block)
        joint = mixture.log_joint(moments)
        likelihood = joint.logsumexp(1)
        total += float(likelihood.double().sum())
        if update:
            shares = (joint - likelihood[:, None]).exp()
            part = (shares.T @ moments).double()
            sums = part if sums is None else sums + part
            count = shares.double().sum(0)
            counts = count if counts is None else counts + count
    if counts is None or sums is None:
        return mixture, total / len(frames)
    average = sums / counts.clamp_min(LEAST_WEIGHT)[:, None]
    centred, squares = average[:, :d], average[:, d:]
    if mixture.full:
        covariances = unpack(squares, d) - centred[:, :, None] * centred[:, None, :]
    else:
        covariances = squares - centred.square()
    known = counts >= LEAST_COUNT
    means = centred + mixture.origin.double()
    kept = mixture.covariances.double()
    shape = (-1,) + (1,) * (kept.ndim - 1)
    weights = (counts / counts.sum()).clamp_min(LEAST_WEIGHT)
    # a component without frames is replaced before its covariance is inverted
    covariances = torch.where(known.view(shape), covariances, kept)
    covariances = floored(covariances, least if mixture.full else least.diagonal())
    return (
        Mixture(
            weights / weights.sum(),
            torch.where(known[:, None], means, mixture.means.double()),
            covariances,
        ).to(mixture.means.dtype),
        total / len(frames),
    )
