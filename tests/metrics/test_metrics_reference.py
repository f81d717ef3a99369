"""Metrics against the plain implementation that the benchmark compares their speed with."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from voicenym.metrics import linkability, min_cllr, rocch_eer, zebra


@pytest.fixture(scope="module")
def plain():
    path = Path(__file__).parents[2] / "benchmarks" / "metrics_reference.py"
    spec = importlib.util.spec_from_file_location("metrics_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("distance", "targets", "others"), [(0.0, 900, 1000), (1.5, 40, 2000), (3.0, 2000, 30)]
)
def test_four_metrics_agree_with_the_plain_implementation(plain, distance, targets, others):
    rng = np.random.default_rng(targets)
    target, nontarget = rng.normal(distance, 1, targets), rng.normal(0, 1.3, others)
    found = rocch_eer(target, nontarget, interval=None).value
    assert found == pytest.approx(plain.rocch_eer(target, nontarget), abs=1e-9)
    found = min_cllr(target, nontarget, interval=None).value
    assert found == pytest.approx(plain.min_cllr(target, nontarget), abs=1e-9)
    found = zebra(target, nontarget, interval=None)
    assert (found.expected, found.worst_case) == pytest.approx(plain.zebra(target, nontarget))
    found = linkability(target, nontarget, interval=None).value
    assert found == pytest.approx(plain.linkability(target, nontarget))
