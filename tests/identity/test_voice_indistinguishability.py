"""Metric differential privacy: the guarantee exactly, and the draws statistically."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.pools.speaker_pool import Pool, unit
from voicenym.identity.voice_indistinguishability import Indistinguishable, angle


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(angle(one, unit(other[None]))[0]) / math.pi


@pytest.mark.parametrize("epsilon", [1.0, 20.0, 200.0])
def test_no_outcome_distinguishes_two_speakers_by_more_than_epsilon(pool, epsilon):
    noise = torch.Generator().manual_seed(0)
    method = Indistinguishable(pool, epsilon)
    for _ in range(30):
        one, other = torch.randn(2, pool.size, generator=noise).double()
        ratio = method.log_probabilities(one) - method.log_probabilities(other)
        assert float(ratio.abs().max()) <= epsilon * distance(one, other) + 1e-9


def test_the_published_odds_need_twice_the_epsilon():
    """Two speakers of the pool itself, where the bound that the authors state is broken."""
    angles = torch.linspace(0, math.pi, 6)
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    pool = Pool(vectors, ("",) * 6, tuple("abcdef"), "invented")
    one, other, epsilon = vectors[0].double(), vectors[1].double(), 20.0

    def worst(method: Indistinguishable) -> float:
        ratio = method.log_probabilities(one) - method.log_probabilities(other)
        return float(ratio.abs().max())

    bound = epsilon * distance(one, other)
    assert worst(Indistinguishable(pool, epsilon)) <= bound
    assert bound < worst(Indistinguishable(pool, epsilon, published=True)) <= 2 * bound


@pytest.mark.parametrize("published", [False, True])
def test_draws_are_as_likely_as_they_should_be(pool, users, key, published):
    method = Indistinguishable(pool, 12.0, published)
    count = 2000
    names = [key.pseudonym(str(i)) for i in range(count)]
    found = method.batch(users[0].expand(count, -1), names)
    which = torch.cdist(found, pool.vectors).argmin(1)
    assert torch.equal(found, pool.vectors[which])
    odds = [math.exp(-(12 if published else 6) * distance(users[0], v)) for v in pool.vectors]
    expected = count * np.array(odds) / sum(odds)
    seen = np.bincount(which.numpy(), minlength=len(pool))
    assert chisquare(seen, expected).pvalue > 1e-3


def test_without_epsilon_all_are_as_likely_and_with_much_the_nearest_is_drawn(pool, users, key):
    flat = Indistinguishable(pool, 0.0).log_probabilities(users[0])
    assert torch.allclose(flat, torch.full_like(flat, -math.log(len(pool))))
    sharp = Indistinguishable(pool, 1e6)(users[0], key.pseudonym("a"))
    nearest = torch.nn.functional.cosine_similarity(users[:1], pool.vectors).argmax()
    assert torch.equal(sharp, pool.vectors[nearest])


def test_sexes_and_errors(pool, users, key):
    logs = Indistinguishable(pool, sex="opposite").log_probabilities(users[0], "f")
    assert logs[:60].eq(-math.inf).all()
    assert logs[60:].exp().sum() == pytest.approx(1.0)
    with pytest.raises(UnknownSystemError, match="0 or more"):
        Indistinguishable(pool, -1.0)
    women = Pool(pool.vectors[:60], pool.sexes[:60], pool.speakers[:60], "invented")
    with pytest.raises(VoicenymError, match="0 speakers of sex 'm'"):
        Indistinguishable(women, sex="opposite")(users[0], key.pseudonym("a"), "f")
    right = angle(torch.tensor([1.0, 1.0]), unit(torch.tensor([[1.0, 0.0], [-1.0, 1.0]])))
    assert right.tolist() == pytest.approx([math.pi / 4, math.pi / 2])


def test_utterances_of_one_speaker_mostly_become_one_voice(pool, users, key):
    method = Indistinguishable(pool, 20.0)
    noise = torch.Generator().manual_seed(0)
    near = users[0] + 0.1 * torch.randn(20, pool.size, generator=noise)
    kept = []
    for i in range(30):
        voices = method.batch(near, [key.pseudonym(str(i))] * 20)
        _, counts = voices.unique(dim=0, return_counts=True)
        kept.append(int(counts.max()) / 20)
    assert sum(kept) / 30 > 0.9
