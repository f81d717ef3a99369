"""A run tells what it draws from of every epoch, also where it goes on."""

from __future__ import annotations

import lightning.pytorch as pl
import numpy as np
import pytest
import torch

from voicenym.training.run.fit import Limits, Machine, _strategy, fit, quickest
from voicenym.training.speech.epochs import Epoch


class Drawn(Epoch[torch.Tensor]):
    def drawn(self, rng: np.random.Generator) -> torch.Tensor:
        return torch.tensor([self._epoch, rng.random()])


class Line(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.ones(1))
        self.seen = []

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

    def training_step(self, batch, index):
        self.seen += batch.tolist()
        return (self.slope * batch[:, 1]).square().mean()

    def validation_step(self, batch, index):
        self.log("slope", self.slope.abs())


def run(folder, steps):
    module, drawn = Line(), Drawn(4, 0)
    kept = torch.utils.data.DataLoader(Drawn(1, 1))
    loader = torch.utils.data.DataLoader(drawn, 2)
    machine = Machine("cpu", workers=0)
    outcome = fit(module, loader, kept, folder, Limits(steps), monitor="slope", machine=machine)
    return module.seen, outcome


def test_every_epoch_is_drawn_anew(tmp_path):
    seen, outcome = run(tmp_path, 6)
    assert outcome.steps == 6
    assert [epoch for epoch, _ in seen] == [e for e in range(3) for _ in range(4)]
    assert len({number for _, number in seen}) == 12
    more, outcome = run(tmp_path, 8)
    assert outcome.steps == 8
    assert {epoch for epoch, _ in more} == {3.0}


def test_devices_wait_for_no_parameters_that_a_step_leaves_alone():
    module = Line()
    several, one = Machine("cpu", devices=2), Machine("cpu")
    assert (_strategy(module, one), _strategy(module, several)) == ("auto", "ddp")
    module.automatic_optimization = False
    assert _strategy(module, several) == "ddp_find_unused_parameters_true"


@pytest.mark.parametrize(
    ("able", "cuda", "precision"),
    [
        ({"avx2": True}, False, "32-true"),
        ({}, True, "bf16-mixed"),
        ({"avx512_bf16": True}, False, "bf16-mixed"),
    ],
)
def test_the_quickest_precision_is_what_the_machine_computes_in(monkeypatch, able, cuda, precision):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    assert quickest() == precision
