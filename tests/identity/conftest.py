"""Pools of synthetic speakers."""

import numpy as np
import pytest
import torch

from voicenym import Key
from voicenym.identity.pools.plda_affinity import Affinity
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.verification.plda import PLDA

KEY = Key(bytes(range(32)))


def invented(women: int = 60, men: int = 50, size: int = 24, seed: int = 0) -> Pool:
    """Speakers around a centre for each sex, with less and less variance in later directions."""
    noise = torch.Generator().manual_seed(seed)
    spread = torch.linspace(1.0, 0.2, size)
    vectors = torch.randn(women + men, size, generator=noise) * spread
    vectors[:, -1] += 2.0
    vectors[:women, 0] += 2.0
    vectors[women:, 0] -= 2.0
    sexes = ("f",) * women + ("m",) * men
    return Pool(vectors, sexes, tuple(f"s{i}" for i in range(women + men)), "invented")


@pytest.fixture(scope="session")
def pool() -> Pool:
    return invented()


@pytest.fixture(scope="session")
def key() -> Key:
    return KEY


@pytest.fixture(scope="session")
def users() -> torch.Tensor:
    """Vectors of people who are not in the pool, women first."""
    other = invented(10, 10, seed=1)
    return other.vectors


def _plda(normalise: bool) -> tuple[PLDA, Affinity]:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 5)
    x = 2 * rng.normal(size=(40, 12))[people] + rng.normal(size=(200, 12)) + 1.0
    plda = PLDA.train(x, people, normalise=normalise)
    return plda, Affinity.of(plda)


@pytest.fixture(scope="session")
def trained():
    """A PLDA of 12 elements, trained by the back end, and the same for a pool."""
    return _plda
