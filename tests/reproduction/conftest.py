"""A bench without speech, and one on synthetic speech with a verifier without weights."""

from __future__ import annotations

import shutil

import pytest

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
    rows = ["utterance\tpath\tspeaker\tgender\tsplit"]
    root = tmp_path / "speech"
    for recording in corpus:
        target = root / recording.speaker / f"{recording.name}.wav"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(recording.path, target)
        split = "train" if recording.speaker in ("s4", "s5") else "dev"
        rows.append(
            f"{recording.name}\t{recording.speaker}/{recording.name}.wav\t{recording.speaker}\t"
            f"{recording.sex}\t{split}"
        )
    (root / "manifest.tsv").write_text("\n".join(rows) + "\n")
    speech = Speech(root, "dev", pool=root, pool_split="train")
    return Bench(TINY, tmp_path / "cache", speech, verifiers=("resemblyzer",))
