"""A bench without speech, and one on synthetic speech with a verifier without weights."""

from __future__ import annotations

import pytest
from split_manifest import write_split

from voicenym.registry import Entry
from voicenym.reproduction.bench import Bench, Speech
from voicenym.reproduction.budgets import Budget
from voicenym.verification import verifiers

TINY = Budget("test", 0, 2, 2, 8, 2, 20, (0.5,), (0.05, 0.1), ("B1", "B2"), 0.0, "a test")


@pytest.fixture
def mute() -> Bench:
    """Nothing is given."""
    return Bench(TINY)


@pytest.fixture
def bench(corpus, spectrum, tmp_path, monkeypatch, brief) -> Bench:
    """Four speakers of the synthetic corpus are evaluated, two are the pool."""
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    root = tmp_path / "speech"
    write_split(corpus, root)
    speech = Speech(root, "dev", pool=root, pool_split="train")
    return Bench(TINY, tmp_path / "cache", speech, verifiers=("resemblyzer",))
