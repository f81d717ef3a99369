"""Training of a cloak: it misleads its verifier, resumes, and is stored."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.cloak.cloak import Cloak
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.training.cloak import train_vcloak as recipe
from voicenym.training.cloak.cloak_losses import Envelope, Weights
from voicenym.training.cloak.cloak_step import Cloaking, VCloakConfig
from voicenym.training.run.config import load
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speaker_split import verification_split

SMALL = VCloakConfig(
    net={"channels": [4, 6, 8], "stride": 2, "voiceprint": 12},
    seconds=0.3,
    batch=4,
    epsilon=0.08,
    deviation=0.02,
    weights=Weights((), (0.05,), (0.001,), (0.001,)),
    unit="decibel",
    psi=20.0,
    hop=2048,
    rate=1e-2,
    steps=30,
    every=15,
)
HERE = Machine(accelerator="cpu", workers=0)


def verifier(seed=0, size=12):
    """One with random weights: it can be misled as well as any."""
    torch.manual_seed(seed)
    return Ecapa(channels=16, size=size, attention=8, squeeze=8).eval()


def halves(shelved):
    learnt, kept = verification_split([u.recording for u in shelved], 0.3, 0)
    by_name = {u.recording.name: u for u in shelved}
    return [by_name[r.name] for r in learnt], [by_name[r.name] for r in kept]


def trained(shelved, folder, config=SMALL, encoders=None):
    cloak = recipe.new(config)
    encoders = [verifier()] if encoders is None else encoders
    return cloak, recipe.train(cloak, encoders, *halves(shelved), config, folder, machine=HERE)


def test_a_cloak_learns_and_a_run_goes_on(shelved, tmp_path):
    config = dataclasses.replace(SMALL, targeted=0.0)
    cloak, outcome = trained(shelved, tmp_path, config)
    assert outcome.steps == 30
    assert [row["step"] for row in outcome.curve] == [15, 30]
    assert not cloak.training
    assert outcome.best == pytest.approx(min(row["loss"] for row in outcome.curve))
    # the verifier knows cloaked voices less and less
    before = Cloaking(recipe.new(config), [verifier()], Envelope(), config)
    after = Cloaking(cloak, [verifier()], Envelope(), config)
    crops = torch.stack([torch.from_numpy(u.samples(0, 8_000)) for u in shelved[:8]])
    draws = before._draws(8, torch.Generator().manual_seed(0))
    draws = dataclasses.replace(draws, targeted=torch.zeros(8, dtype=torch.bool))
    with torch.no_grad():
        first, last = (
            float(m.eval()._losses(m._leveled(crops, None), draws, None)[1]["cosine"])
            for m in (before, after)
        )
    assert last < first
    # voiceprints of the speech say how targets are drawn
    assert cloak.mean.norm() > 0.1
    _, more = trained(shelved, tmp_path, config)
    assert more.steps == 60


def test_targets_of_several_verifiers_are_learnt_from(shelved, tmp_path):
    encoders = [verifier(), verifier(1, 20)]
    _, outcome = trained(shelved, tmp_path, dataclasses.replace(SMALL, steps=4, every=2), encoders)
    last = outcome.curve[-1]
    assert {"loss", "words", "masking", "size", "cosine", "to target", "SNR dB"} <= set(last)
    assert all(torch.isfinite(torch.tensor(value)) for value in last.values())
    # verifiers are no part of what is kept
    names = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]
    assert all(name.startswith("cloak.") for name in names)


def test_epsilon_bounds_what_is_added_in_training_too(shelved):
    module = Cloaking(recipe.new(SMALL), [verifier()], Envelope(), SMALL)
    crops = module._leveled(torch.randn(4, 8_000), None)
    assert crops.square().mean(1).sqrt().tolist() == pytest.approx([0.0501] * 4, rel=1e-2)
    draws = module._draws(4, torch.Generator().manual_seed(0))
    assert ((draws.epsilons >= 0.005) & (draws.epsilons <= 0.15)).all()
    _, figures = module._losses(crops, draws, None)
    most = draws.epsilons.mean() * (0.3 * 16_000) ** 0.5
    assert 0 < figures["size"] < most


def test_weights_of_zero_leave_a_loss_out(shelved):
    crops = torch.stack([torch.from_numpy(u.samples(0, 8_000)) for u in shelved[:4]])

    def total(**changed):
        config = dataclasses.replace(SMALL, **changed)
        module = Cloaking(recipe.new(config), [verifier()], Envelope(), config).eval()
        draws = module._draws(4, torch.Generator().manual_seed(0))
        loss, figures = module._losses(module._leveled(crops, None), draws, None)
        return loss, figures, module._total(loss, figures, config.weights(0.0))

    loss, figures, everything = total()
    others = 0.05 * figures["words"] + 0.001 * (figures["masking"] + figures["size"])
    torch.testing.assert_close(everything, loss + others)
    torch.testing.assert_close(total(anonymity=0.0)[2], others)
    none = Weights((), (0.0,), (0.0,), (0.0,))
    torch.testing.assert_close(total(weights=none)[2], loss)


def test_a_cloak_without_throttle_is_trained_and_read_again(shelved, tmp_path):
    config = dataclasses.replace(SMALL, net={**SMALL.net, "throttle": False}, steps=2, every=2)
    cloak, _ = trained(shelved, tmp_path / "run", config)
    cloak.save(tmp_path / "cloak")
    again, _ = Cloak.load(tmp_path / "cloak")
    assert not again.config.throttle
    speech = torch.randn(1, 8_000, generator=torch.Generator().manual_seed(0))
    given = (speech, torch.zeros(1, 12), torch.tensor([0.05]))
    with torch.no_grad():
        torch.testing.assert_close(again(*given), cloak(*given))


def test_bundled_recipes_are_of_the_papers_and_of_a_small_size():
    from voicenym.nets.cloak.cloak import sizes

    paper = load("vcloak", VCloakConfig)
    net = sizes(paper.net, "vcloak")
    length = round(paper.seconds * 16_000)
    assert (net.blocks, net.input(length), net.output(net.input(length))) == (5, 41_641, 32_089)
    assert (paper.batch, paper.rate, paper.epsilon, paper.deviation) == (64, 4e-4, 0.05, 0.05)
    assert paper.weights == Weights()
    small = load("vcloak-small", VCloakConfig)
    assert sizes(small.net, "vcloak-small").blocks == 5


def test_what_does_not_fit_is_refused(shelved, tmp_path):
    with pytest.raises(VoicenymError, match=r"12 elements, and the first verifier has 20"):
        trained(shelved, tmp_path, encoders=[verifier(size=20)])
    with pytest.raises(VoicenymError, match="no sizes of a Wave-U-Net"):
        recipe.new(dataclasses.replace(SMALL, net={"stride": 1}))
    with pytest.raises(CorpusError, match="kept out"):
        recipe.train(recipe.new(SMALL), [verifier()], shelved, [], SMALL, tmp_path, machine=HERE)


def test_a_run_keeps_the_mean_cosine_that_chooses_the_weights():
    one, other = (Cloaking(recipe.new(SMALL), [verifier()], Envelope(), SMALL) for _ in range(2))
    one._mean_cosine = 0.25
    checkpoint = {}
    one.on_save_checkpoint(checkpoint)
    other.on_load_checkpoint(checkpoint)
    assert other._mean_cosine == 0.25
    other.on_load_checkpoint({})  # of an earlier release
    assert other._mean_cosine == 1.0
