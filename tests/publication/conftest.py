"""An anonymized corpus, what its publisher states on it, and figures measured on it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from voicenym.evaluation import results_file
from voicenym.evaluation.results import Evaluation

STATED = """
title = "Two voices"
version = "1.0.0"
date = 2026-11-30
description = "Two synthetic speakers."
languages = ["en"]
creators = ["Example Institute"]
contact = "privacy@example.org"
licence = "CC-BY-4.0"
consent = "Synthetic voices."
collection = "Made by a program."
sensitive = "Nothing personal is said."
uses = ["Tests."]
key = "kept"
key_custody = "The institute keeps it."
"""


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    path = tmp_path / "about.toml"
    path.write_text(STATED, "utf-8")
    return path


@pytest.fixture
def originals(corpus, tmp_path: Path) -> Path:
    """Two speakers with two recordings each."""
    root = tmp_path / "originals"
    for recording in corpus:
        speaker, name = recording.name.split("-")
        if speaker in ("s0", "s1") and name in ("u0", "u1"):
            (root / speaker).mkdir(parents=True, exist_ok=True)
            shutil.copy(recording.path, root / speaker / f"{name}.wav")
            (root / speaker / f"{name}.txt").write_text("spoken words", "utf-8")
    return root


@pytest.fixture
def anonymized(originals, command, tmp_path: Path) -> Path:
    """The same by the system recast, under drawn names."""
    output = tmp_path / "anonymized"
    key = tmp_path / "a.key"
    assert command("key", "new", key).returncode == 0
    done = command(
        "anonymize", originals, "-o", output, "--key", key, "--rename", "--system", "recast",
        "--workers", "1", "--mapping", tmp_path / "mapping.jsonl",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture
def report(tmp_path: Path):
    """``report(evaluation)``: the folder of a saved report."""

    def saved(found: Evaluation) -> Path:
        results_file.save(found, tmp_path / "report")
        return tmp_path / "report"

    return saved
