"""Callbacks of runs: interrupted runs give what others give, steps are batches, losses finite."""

from __future__ import annotations

import json

import lightning.pytorch as pl
import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.training.run.fit import Limits, fit
from voicenym.training.run.machine import Machine
from voicenym.training.speech.epoch_sampling import Epoch


class Drawn(Epoch[torch.Tensor]):
    def drawn(self, rng: np.random.Generator) -> torch.Tensor:
        return torch.tensor([self._epoch, rng.random()])


class Two(pl.LightningModule):
    """Two optimizers take a step of each batch, and dropout draws from torch's random numbers."""

    def __init__(self, loss=1.0):
        super().__init__()
        self.automatic_optimization = False
        self.one = torch.nn.Parameter(torch.ones(8))
        self.other = torch.nn.Parameter(torch.ones(8))
        self.epochs, self._loss = [], loss

    def configure_optimizers(self):
        return [torch.optim.Adam([part], 0.1) for part in (self.one, self.other)]

    def training_step(self, batch, index):
        self.epochs += batch[:, 0].int().tolist()
        for optimizer, part in zip(self.optimizers(), (self.one, self.other), strict=True):
            optimizer.zero_grad()
            kept = torch.nn.functional.dropout(part, 0.5)
            self.manual_backward((kept * batch[:, 1].sum()).square().sum())
            optimizer.step()
        return self._loss * self.one.detach().sum()

    def validation_step(self, batch, index):
        self.log("size", self.one.abs().sum())


class Interrupted(Exception):
    pass


def run(folder, *, interrupted=False, steps=8, module=None, loaders=0):
    """A run of two steps an epoch; where it is interrupted, before the second checkpoint."""
    module, lines = module or Two(), []

    def say(line):
        lines.append(line)
        if interrupted and len(lines) == 2:
            raise Interrupted

    more = {"num_workers": loaders, "multiprocessing_context": "fork"} if loaders else {}
    outcome = fit(
        module,
        torch.utils.data.DataLoader(Drawn(4, 0), 2, **more),
        torch.utils.data.DataLoader(Drawn(1, 1)),
        folder,
        Limits(steps, every=2),
        monitor="size",
        machine=Machine("cpu"),
        keep="last",
        clip=None,
        say=say,
    )
    return module, outcome


def test_an_interrupted_run_gives_what_one_without_interruption_gives(tmp_path):
    whole, outcome = run(tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", interrupted=True)
    rows = (tmp_path / "cut" / "curve.jsonl").read_text().splitlines()
    assert [json.loads(row)["step"] for row in rows] == [2, 4]
    cut, resumed = run(tmp_path / "cut")
    for name, value in whole.state_dict().items():
        assert torch.equal(value, cut.state_dict()[name]), name
    # nothing is in the curve twice
    assert [row["step"] for row in resumed.curve] == [2, 4, 6, 8]
    assert [row["size"] for row in resumed.curve] == [row["size"] for row in outcome.curve]


@pytest.mark.parametrize("loaders", [0, 1])
def test_a_resumed_run_goes_on_with_the_next_epoch(tmp_path, loaders):
    """Also in processes that load batches, which start before the epoch does."""
    run(tmp_path, steps=4)
    module, _ = run(tmp_path, steps=6, loaders=loaders)
    assert set(module.epochs) == {2}


def test_a_batch_is_one_step_of_any_number_of_optimizers(tmp_path):
    _, outcome = run(tmp_path, steps=4)
    assert outcome.steps == 4
    assert [row["step"] for row in outcome.curve] == [2, 4]
    _, outcome = run(tmp_path, steps=6)
    assert outcome.steps == 6


def test_a_run_from_an_earlier_release_goes_on(tmp_path):
    """Its checkpoints have neither random states nor the rows of the curve."""
    run(tmp_path, steps=4)
    last = tmp_path / "last.ckpt"
    state = torch.load(last, weights_only=True)
    del state["random states"]
    state["callbacks"].pop("Curve")
    torch.save(state, last)
    _, outcome = run(tmp_path, steps=6)
    assert [row["step"] for row in outcome.curve] == [2, 4, 6]


@pytest.mark.parametrize("steps", [2, 3])
def test_a_loss_that_is_not_finite_is_in_no_checkpoint(tmp_path, steps):
    with pytest.raises(VoicenymError, match="the loss is nan at step 2"):
        run(tmp_path, steps=steps, module=Two(loss=float("nan")))
    assert not list(tmp_path.glob("*.ckpt"))
