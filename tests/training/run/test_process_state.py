"""State of the process after a training."""

import logging
import os
import random

import numpy as np
import pytest
import torch

import voicenym
from voicenym.training import recipes
from voicenym.training.recipe import Trained
from voicenym.training.run.process_state import LOGGER, VARIABLES, kept_process_state


def state():
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        [np.asarray(part).tolist() for part in np.random.get_state()],
        torch.get_num_threads(),
        [os.environ.get(name) for name in VARIABLES],
        logging.getLogger(LOGGER).level,
    )


def changes_everything(threads):
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    torch.set_num_threads(threads)
    for name in VARIABLES:
        os.environ[name] = "1"
    logging.getLogger(LOGGER).setLevel(logging.CRITICAL)


@pytest.mark.parametrize("fails", [False, True])
def test_a_training_leaves_no_trace_in_the_process(fails, tmp_path, monkeypatch):
    """After a failure, too: a program that goes on would draw the numbers of the last training."""

    class Made:
        output = tmp_path / "out"

        def run(self, report):
            changes_everything(before[3] + 1)
            if fails:
                raise ValueError("fails")
            return Trained(self.output, 0, {})

    monkeypatch.setattr(recipes.RECIPES, "make", lambda name, **options: Made())
    for name in ("_converted", "_check_output", "_teachers"):
        monkeypatch.setattr(recipes, name, lambda *given: {})
    monkeypatch.setenv(VARIABLES[0], "7")
    monkeypatch.delenv(VARIABLES[1], raising=False)
    before = state()
    if fails:
        with pytest.raises(ValueError, match="fails"):
            voicenym.train("ubm", out=tmp_path / "out")
    else:
        voicenym.train("ubm", out=tmp_path / "out")
    assert state() == before


def test_what_changes_within_is_seen_there():
    threads = torch.get_num_threads()
    with kept_process_state():
        changes_everything(threads + 1)
        assert torch.get_num_threads() == threads + 1
        assert os.environ[VARIABLES[0]] == "1"
