"""VBx: Bayesian hidden Markov model of speakers over windows of speech.

After Landini, Profant, Diez and Burget, "Bayesian HMM clustering of x-vector sequences (VBx) in
speaker diarization", Computer Speech & Language 2022. A state is a speaker, whose vectors are
``x_t = V y_s + e_t`` with ``y_s ~ N(0, I)`` and ``e_t ~ N(0, I)``, in a basis where PLDA's
covariance within speakers is I and that between them is ``diag(Phi) = V V'``. Variational inference
alternates between the speakers' posteriors and the responsibilities of the states, and drops the
speakers that the data do not need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VBxSettings:
    """Settings of the inference.

    Args:
        acoustic: F_A, scale of log likelihoods, which makes up for windows that overlap.
        regularisation: F_B, of speakers; higher values give fewer.
        loop: probability that the speaker of a window is that of the one before.
        smoothing: of the initial labels, which become responsibilities by a softmax.
        iterations: at most.
        tolerance: gain of the evidence lower bound below which they end.
    """

    acoustic: float = 0.3
    regularisation: float = 5.0
    loop: float = 0.9
    smoothing: float = 5.0
    iterations: int = 40
    tolerance: float = 1e-4


@dataclass(frozen=True)
class VBxResult:
    """Result of the inference.

    Args:
        responsibilities: ``[window, speaker]``, rows of sum 1.
        priors: ``[speaker]``, near 0 for speakers that the data do not need.
        bounds: evidence lower bound after each iteration, which never falls.
    """

    responsibilities: Array
    priors: Array
    bounds: tuple[float, ...]


def vbx(
    vectors: npt.NDArray[np.floating],
    between: npt.NDArray[np.floating],
    labels: npt.NDArray[np.integer],
    settings: VBxSettings | None = None,
) -> VBxResult:
    """Refine labels of windows and drop speakers (equations 14 to 24 of the paper).

    Args:
        vectors: ``[window, d]`` in the basis where the covariance within speakers is I.
        between: ``[d]``, Phi, variances between speakers in that basis.
        labels: ``[window]`` from 0, initial; more than there are speakers.
        settings: of the inference.
    """
    how = settings or VBxSettings()
    x = np.asarray(vectors, dtype=np.float64)
    phi = np.asarray(between, dtype=np.float64)
    count = int(labels.max()) + 1 if len(labels) else 0
    if not len(x):
        return VBxResult(np.zeros((0, count)), np.zeros(count), ())
    gamma = how.smoothing * np.eye(count)[labels]
    gamma -= gamma.max(1, keepdims=True)
    np.exp(gamma, out=gamma)
    gamma /= gamma.sum(1, keepdims=True)
    prior = np.full(count, 1.0 / count)
    constant = -0.5 * (np.square(x).sum(1) + x.shape[1] * np.log(2.0 * np.pi))
    rho = x * np.sqrt(phi)
    ratio = how.acoustic / how.regularisation
    bounds: list[float] = []
    for _ in range(how.iterations):
        precision = 1.0 + ratio * gamma.sum(0)[:, None] * phi  # of the posterior of y_s
        mean = ratio / precision * (gamma.T @ rho)
        spread = ((1.0 / precision + np.square(mean)) * phi).sum(1)
        del gamma  # an array of ten hours has 40 MB, so that few are kept, and the rest is in place
        likelihood = rho @ mean.T
        likelihood -= 0.5 * spread
        likelihood += constant[:, None]
        likelihood *= how.acoustic
        gamma, drawn, evidence = _forward_backward(likelihood, prior, how.loop)
        del likelihood
        divergence = (-np.log(precision) - 1.0 / precision - np.square(mean) + 1.0).sum()
        bounds.append(evidence + 0.5 * how.regularisation * float(divergence))
        prior = drawn
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < how.tolerance:
            break
    return VBxResult(gamma, prior, tuple(bounds))


def _forward_backward(likelihood: Array, prior: Array, loop: float) -> tuple[Array, Array, float]:
    """Responsibilities, new priors and log evidence of the hidden Markov model.

    A window keeps its speaker with probability ``loop``; else the speaker is drawn by ``prior``.

    Args:
        likelihood: ``[window, speaker]`` in nats; overwritten.
        prior: ``[speaker]``.
        loop: probability.
    """
    length = len(likelihood)
    top = likelihood.max(1)
    likelihood -= top[:, None]
    emission = np.exp(likelihood, out=likelihood)
    forward, scale = np.empty_like(emission), np.empty(length)
    forward[0] = prior * emission[0]
    for t in range(length):
        if t:
            forward[t] = (loop * forward[t - 1] + (1.0 - loop) * prior) * emission[t]
        scale[t] = forward[t].sum()
        forward[t] /= scale[t]
    backward = np.ones_like(emission)
    for t in range(length - 2, -1, -1):
        ahead = emission[t + 1] * backward[t + 1] / scale[t + 1]
        backward[t] = loop * ahead + (1.0 - loop) * float(prior @ ahead)
    forward *= backward
    gamma = forward
    gamma /= gamma.sum(1, keepdims=True)
    # expected number of times that each speaker was drawn anew
    share = (1.0 - loop) * prior / scale[1:, None]
    share *= emission[1:]
    share *= backward[1:]
    drawn = gamma[0] + share.sum(0)
    return gamma, drawn / drawn.sum(), float((np.log(scale) + top).sum())
