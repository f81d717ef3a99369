"""Commands among hostile files import nothing from their folder and open no connection.

``voicenym models pull`` is the exception, and not run here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def voicenym(guard, console):
    """``voicenym("systems")``: what a command writes, which must leave no other trace."""
    command, _ = console

    def run(*arguments: object, **environment: str) -> str:
        found = guard.run(*command, *arguments, environment=environment)
        assert found.attempts == []
        assert (found.imported, found.others) == (set(), {})
        return found.out

    return run


def test_small_commands(voicenym):
    assert "mcadams" in voicenym("systems")
    voicenym("systems", "mcadams")
    voicenym("key", "new", "project.key")
    assert "ecapa" in voicenym("models", "list")
    voicenym("--version")


def test_anonymize(guard, voicenym):
    """With workers: in ``test_execution.py``, by all the ways to start Python."""
    voicenym("anonymize", "corpus/s0", "-o", "base", "--system", "base")
    assert len(list((guard.folder / "base").rglob("*.wav"))) == 3


def test_audit(voicenym):
    voicenym("anonymize", "corpus/s1/0.wav", "-o", "after.wav", "--system", "mcadams")
    assert "correlation" in voicenym("audit", "corpus/s1/0.wav", "after.wav", "-s", "mcadams")


def test_evaluate_compare_and_cards(guard, voicenym, tmp_path):
    pytest.importorskip("pocketsphinx")
    pytest.importorskip("speechmos")
    options = ["--keys", "1", "--replicates", "20", "--no-denoise", "--verifier", "ecapa-small"]
    options += ["--enrolment", "1", "--tried", "1", "--any-sex", "--sample", "2", "--workers", "2"]
    options += ["-s", "mcadams", "-s", "vtln", "-q", "--recogniser", "sphinx"]
    options += ["--attacker", "ignorant", "--attacker", "key search"]
    voicenym("evaluate", "corpus", "-o", "report", *options)
    assert (guard.folder / "report" / "index.html").is_file()
    # onnxruntime keeps an identifier of the machine there as soon as it means to report
    assert not (guard.home / ".cache" / "Microsoft").exists()
    voicenym("compare", "report")
    # cards are written into the package: into a copy
    source = Path(__file__).parents[2] / "src" / "voicenym"
    shutil.copytree(source, tmp_path / "voicenym")
    said = voicenym("cards", "--update", "report", PYTHONPATH=str(tmp_path))
    assert str(tmp_path) in said


def test_pool_and_training_with_loaders(guard, voicenym):
    pytest.importorskip("lightning")
    voicenym("pool", "build", "corpus", "-o", "pool", "--quiet")
    options = ["-d", "corpus", "-c", "./tiny.yaml", "-o", "verifier", "--steps", "2", "--quiet"]
    voicenym("train", "verifier", *options, "--accelerator", "cpu", "--workers", "2")
    assert (guard.folder / "verifier" / "model.safetensors").is_file()
