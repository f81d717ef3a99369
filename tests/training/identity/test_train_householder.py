"""Training of a Householder network on vectors of synthetic speakers."""

import math

import pytest
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.training.identity import train_householder as recipe
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine

HERE = Machine(accelerator="cpu", workers=0)
SMALL = recipe.HouseholderConfig(
    layers=2, reflections=4, steps=60, every=30, batch=32, rate=1e-2, held_out=0.2
)


def people(count=12, each=10, size=16):
    noise = torch.Generator().manual_seed(3)
    middles = torch.randn(count, size, generator=noise) * 3.0 + 1.0
    vectors = middles.repeat_interleave(each, 0)
    vectors = vectors + 0.3 * torch.randn(vectors.shape, generator=noise)
    names = tuple(f"s{i // each}" for i in range(count * each))
    return Pool(vectors, ("",) * len(names), names, "invented", "7")


@pytest.mark.parametrize("form", ["roh", "loh"])
def test_speakers_become_others_and_stay_distinct(form, tmp_path):
    pool, messages = people(), []
    config = changed(SMALL, form=form)
    net = recipe.network(config, pool.size)
    rotation, outcome = recipe.train(net, pool, config, tmp_path, machine=HERE, say=messages.append)
    assert outcome.steps == 60
    assert outcome.finished
    first, last = outcome.curve
    assert last["held-out loss"] < first["held-out loss"] < 40.0
    assert last["classified %"] > 80.0
    assert "held-out loss" in messages[-1]
    assert rotation.encoder == "invented"
    assert rotation.version == "7"
    with torch.no_grad():
        before, after = net.centred(pool.vectors), net.centred(net(pool.vectors))
    torch.testing.assert_close(before.norm(dim=1), after.norm(dim=1), rtol=1e-4, atol=1e-4)
    # A further run begins a further schedule from the weights and steps of the last.
    _, more = recipe.train(net, pool, config, tmp_path, machine=HERE)
    assert more.steps == 120


def test_a_short_run_ends_with_a_validation_and_a_budget_ends_a_long_one(tmp_path):
    pool, config = people(), changed(SMALL, steps=5)
    _, outcome = recipe.train(recipe.network(config, 16), pool, config, tmp_path, machine=HERE)
    assert outcome.steps == 5
    assert math.isfinite(outcome.best)
    config = changed(SMALL, steps=10_000_000)
    _, outcome = recipe.train(
        recipe.network(config, 16), pool, config, tmp_path / "b", seconds=0.2, machine=HERE
    )
    assert 0 < outcome.steps < 10_000_000


def test_the_seed_alone_decides_the_first_weights_and_the_order():
    user, attacker = (changed(SMALL, seed=seed) for seed in (50, 1986))
    torch.manual_seed(1)
    one = recipe.network(user, 16).weight
    torch.manual_seed(2)
    assert torch.equal(one, recipe.network(user, 16).weight)
    assert not torch.equal(one, recipe.network(attacker, 16).weight)
    vectors, labels = torch.arange(40.0)[:, None], torch.arange(40)
    drawn = recipe.Drawn(vectors, labels, 8, 3, 50)
    again = recipe.Drawn(vectors, labels, 8, 3, 50)
    for index in range(3):
        assert torch.equal(drawn[index][0], again[index][0])
        assert torch.equal(drawn[index][0][:, 0].long(), drawn[index][1])
    assert not torch.equal(drawn[0][1], drawn[1][1])
    again.advance(1)
    assert not torch.equal(drawn[0][1], again[0][1])
    with pytest.raises(IndexError):
        drawn[3]


def test_the_loss_is_the_papers():
    pool, config = people(), changed(SMALL, loss="aam", weight=7.0)
    net = recipe.network(config, 16)
    net.learn_statistics(pool.vectors)
    module = recipe.Pseudonymisation(net, 12, config)
    assert module.head.pair_margin == 0.0
    assert recipe.Pseudonymisation(net, 12, SMALL).head.pair_margin == 0.2
    x, y = pool.vectors[::10], torch.arange(12)
    loss, turned = module.objective(x, y)
    cosine = torch.nn.functional.cosine_similarity(x, turned).clamp_min(0).mean()
    given = 0.5 * module.head(x, y) + 0.5 * module.head(turned, y + 12)
    torch.testing.assert_close(loss, 7.0 * cosine + given)
    torch.testing.assert_close(turned, net(x))


@pytest.mark.parametrize("seed", range(20))
def test_a_vector_is_kept_out_of_few(seed):
    """A share of four vectors each of eight speakers is often none by its random rounding."""
    vectors = torch.randn(32, 8, generator=torch.Generator().manual_seed(0))
    pool = Pool(vectors, ("",) * 32, tuple(f"s{i // 4}" for i in range(32)), "invented")
    assert 1 <= int(recipe.kept_out(pool, 0.02, seed).sum()) < 32


def test_nobody_is_kept_out_whole():
    pool = people(each=3)
    out = recipe.kept_out(pool, 0.9, 0)
    left = {name for name, gone in zip(pool.speakers, out, strict=True) if not gone}
    assert left == set(pool.speakers)
    with pytest.raises(CorpusError, match="--utterances"):
        recipe.kept_out(pool.per_speaker(), 0.1, 0)


def test_recipes_that_come_along_are_the_papers():
    loh = load("householder", recipe.HouseholderConfig)
    roh = load("householder-roh", recipe.HouseholderConfig)
    for config, count in ((loh, 50), (roh, 192)):
        net = recipe.network(changed(config, layers=1), 192)
        assert (config.layers, net.reflections) == (12, count)
        assert config.steps == 130_000
        rates = [config.rate * config.schedule(share) for share in (0.0, 0.5, 1.0)]
        assert rates == pytest.approx([1e-8, 1e-3, 1e-8], abs=1e-10)


def test_what_makes_no_sense(tmp_path):
    with pytest.raises(VoicenymError, match="w-aam"):
        recipe.HouseholderConfig(loss="hinge")
    with pytest.raises(VoicenymError, match="held_out"):
        recipe.HouseholderConfig(held_out=0.0)
    with pytest.raises(VoicenymError, match="none of"):
        recipe.network(recipe.HouseholderConfig(form="x"), 16)
    net = recipe.network(SMALL, 8)
    with pytest.raises(VoicenymError, match="16 elements, the network 8"):
        recipe.train(net, people(), SMALL, tmp_path, machine=HERE)
