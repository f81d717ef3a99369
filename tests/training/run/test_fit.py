"""Training runs: datasets get every epoch, also after resumption."""

from __future__ import annotations

import errno
import os
import shutil
import signal

import lightning.pytorch as pl
import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.training.run.fit import Limits, _strategy, fit
from voicenym.training.run.machine import Machine, fastest_precision
from voicenym.training.speech.epoch_sampling import Epoch


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


class Rising(Line):
    """Its figure gets worse with each step."""

    def validation_step(self, batch, index):
        self.log("distance", (1.0 - self.slope).abs())


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_best_or_the_last_weights_are_kept(tmp_path, keep):
    """A training against an adversary keeps the last: its figure does not count what it gains."""
    module, limits = Rising(), Limits(8, every=2)
    loader = torch.utils.data.DataLoader(Drawn(4, 0), 2)
    watched = torch.utils.data.DataLoader(Drawn(1, 1))
    machine = Machine("cpu", workers=0)
    outcome = fit(
        module, loader, watched, tmp_path, limits, monitor="distance", keep=keep, machine=machine
    )
    figures = [row["distance"] for row in outcome.curve]
    assert figures == sorted(figures)
    assert len(set(figures)) == 4
    chosen = min(figures) if keep == "best" else figures[-1]
    assert outcome.best == pytest.approx(chosen)
    assert float(1.0 - module.slope.detach()) == pytest.approx(chosen)


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


def test_a_run_does_not_go_on_from_a_program(tmp_path):
    """``last.ckpt`` is a pickle of ours: nothing but tensors and plain values is made of it."""
    folder, mark = tmp_path / "run", tmp_path / "mark"
    run(folder, 2)
    last = folder / "last.ckpt"
    state = torch.load(last, weights_only=True)
    for content in ({**state, "more": Bomb(mark)}, Bomb(mark)):
        torch.save(content, last)
        with pytest.raises(VoicenymError, match=r"last\.ckpt: .* delete it"):
            run(folder, 4)
        assert not mark.exists()
    torch.load(last, weights_only=False)  # the bomb is one
    assert mark.exists()
    torch.save(state, last)
    assert run(folder, 4)[1].steps == 4


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.9])
def test_a_half_written_checkpoint_is_named(tmp_path, share):
    run(tmp_path, 2)
    last = tmp_path / "last.ckpt"
    content = last.read_bytes()
    last.write_bytes(content[: round(share * len(content))])
    with pytest.raises(VoicenymError, match=r"last\.ckpt: damaged.* delete it .* by best\.ckpt"):
        run(tmp_path, 4)
    last.write_bytes((tmp_path / "best.ckpt").read_bytes())
    assert run(tmp_path, 4)[1].steps == 4


def test_checkpoints_are_whole_or_not_there(tmp_path, monkeypatch):
    """Neither by way of another disk, nor on a full one."""
    monkeypatch.setattr("tempfile.mkstemp", lambda *given, **more: pytest.fail("another disk"))
    run(tmp_path, 2)
    before = (tmp_path / "last.ckpt").read_bytes()
    (tmp_path / ".last.0123456789ab.ckpt").write_bytes(before[:99])  # of a killed process

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr("os.fsync", full)
        with pytest.raises(VoicenymError, match=r"\.ckpt: cannot be written \(No space left"):
            run(tmp_path, 4)
    assert (tmp_path / "last.ckpt").read_bytes() == before
    assert not list(tmp_path.glob(".*.ckpt"))
    assert run(tmp_path, 4)[1].steps == 4


def test_a_line_of_the_curve_that_a_kill_left_incomplete_is_left_out(tmp_path):
    run(tmp_path, 2)
    with (tmp_path / "curve.jsonl").open("a") as file:
        file.write('{"step": 3, "sec')
    curve = run(tmp_path, 4)[1].curve
    assert [row["step"] for row in curve] == [2, 4]


def test_a_run_that_was_moved_knows_its_best_weights(tmp_path):
    def risen(folder, steps):
        module = Rising()
        loader = torch.utils.data.DataLoader(Drawn(4, 0), 2)
        kept = torch.utils.data.DataLoader(Drawn(1, 1))
        limits, machine = Limits(steps, every=2), Machine("cpu", workers=0)
        return fit(module, loader, kept, folder, limits, monitor="distance", machine=machine)

    best = risen(tmp_path / "run", 2).best
    (tmp_path / "run").rename(tmp_path / "other")
    assert risen(tmp_path / "other", 6).best == best  # later ones are worse


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
    assert fastest_precision() == precision


class Lethal(Drawn):
    """Kills the process that loads from it, as often as its file allows."""

    def __init__(self, count, seed, place, times):
        super().__init__(count, seed)
        self._place, self._times, self._here = place, times, os.getpid()

    def drawn(self, rng):
        if os.getpid() != self._here and self._epoch >= 1:
            with self._place.open("a") as file:
                file.write("x")
            if len(self._place.read_text()) <= self._times:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().drawn(rng)


@pytest.mark.parametrize("times", [1, 100])
def test_a_loading_process_that_is_killed_is_replaced_but_not_for_ever(
    tmp_path, times, monkeypatch
):
    # how long torch waits for a loading process until it looks whether that is alive
    waits = torch.utils.data.dataloader._MultiProcessingDataLoaderIter._try_get_data
    monkeypatch.setattr(waits, "__defaults__", (0.2,))
    module, messages = Line(), []
    crops = torch.utils.data.DataLoader(
        Lethal(4, 0, tmp_path / "killed", times), 2, num_workers=1, multiprocessing_context="fork"
    )
    kept = torch.utils.data.DataLoader(Drawn(1, 1))

    def go():
        return fit(
            module, crops, kept, tmp_path / "run", Limits(6), monitor="slope",
            machine=Machine("cpu"), say=messages.append,
        )  # fmt: skip

    if times > 3:
        with pytest.raises(VoicenymError, match="killed 4 times"):
            go()
        assert (tmp_path / "run" / "last.ckpt").exists()
        return
    assert go().steps == 6
    assert sum("another takes its place" in text for text in messages) == 1


def test_a_training_goes_on_without_a_log_whose_folder_is_removed(tmp_path, capfd):
    said = []

    class Logging(Line):
        def training_step(self, batch, index):
            shutil.rmtree(tmp_path / "log", ignore_errors=True)
            self.logger.experiment.add_text("words", "w" * 10_000, index)
            self.logger.experiment.flush()
            return super().training_step(batch, index)

    loaders = [torch.utils.data.DataLoader(Drawn(count, 0), 2) for count in (4, 1)]
    machine = Machine("cpu", workers=0)
    limits = Limits(6)
    outcome = fit(
        Logging(), *loaders, tmp_path, limits, monitor="slope", machine=machine, say=said.append
    )
    assert (outcome.steps, outcome.finished) == (6, True)
    assert [text for text in said if "goes on without this log" in text] == [
        f"{tmp_path / 'log'}: cannot be written (No such file or directory); the training goes on "
        "without this log"
    ]
    assert "Traceback" not in capfd.readouterr().err


def test_a_folder_of_another_training_is_refused(tmp_path):
    run(tmp_path, 2)

    class Plane(Line):
        def __init__(self):
            super().__init__()
            self.slope = torch.nn.Parameter(torch.ones(2))

    class Quick(Line):
        def __init__(self):
            super().__init__()
            self.more = torch.nn.Parameter(torch.ones(1))

        def load_state_dict(self, state_dict, strict=True, assign=False):
            return super().load_state_dict(state_dict, strict=False)

    loaders = [torch.utils.data.DataLoader(Drawn(count, 0), 2) for count in (4, 1)]
    machine = Machine("cpu", workers=0)
    for other in (Plane, Quick):  # other weights, other parameters of the optimizer
        with pytest.raises(VoicenymError, match=r"of another training .* another folder with -o"):
            fit(other(), *loaders, tmp_path, Limits(4), monitor="slope", machine=machine)
