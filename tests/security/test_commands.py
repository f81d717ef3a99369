"""Commands among hostile files import nothing from their folder and open no connection.

Those that need no environment of their own follow each other in one process: what one of them has
imported rightly, the next cannot import wrongly. ``voicenym models pull`` is not run here.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from voicenym.pseudonym import Key

SERIES = """import sys
from voicenym.__main__ import main
if __name__ == '__main__':
    import json
    for arguments in json.loads(sys.argv.pop(1)):
        sys.argv[1:] = arguments
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
        sys.stdout.write('\\0')
        sys.stdout.flush()
"""
"""The command ``voicenym``, several times over: its arguments are lists of arguments."""
FEW = ["--keys", "1", "--replicates", "20", "--enrolment", "1", "--tried", "1", "--sample", "1"]
EVALUATION = [*FEW, "--no-denoise", "--verifier", "ecapa-small", "--any-sex", "--workers", "2"]
EVALUATION += ["-s", "mcadams", "-s", "mcadams:low=0.6", "-q", "--recogniser", "sphinx"]
EVALUATION += ["--attacker", "ignorant", "--attacker", "key search"]
TRAINING = ["-c", "./tiny.yaml", "--steps", "2", "--quiet", "--accelerator", "cpu"]
FIXED = ("--key", "fixed.key", "--speaker", "s1")
"""Of a hundred voices of such a buzz, one may be near enough for the audit to call it a copy."""
COMMANDS = {
    "systems": ["systems"],
    "card": ["systems", "mcadams"],
    "key": ["key", "new", "project.key"],
    "models": ["models", "list"],
    "version": ["--version"],
    "base": ["anonymize", "corpus/s0", "-o", "base", "--system", "base", "--workers", "1"],
    "mcadams": ["anonymize", "corpus/s1/0.wav", "-o", "after.wav", "--system", "mcadams", *FIXED],
    "audit": ["audit", "corpus/s1/0.wav", "after.wav", "-s", "mcadams"],
    "evaluate": ["evaluate", "corpus", "-o", "report", *EVALUATION],
    "compare": ["compare", "report"],
    "pool": ["pool", "build", "corpus", "-o", "pool", "--quiet"],
    "train": ["train", "verifier", "-d", "corpus", "-o", "verifier", *TRAINING, "--workers", "2"],
}
"""They need nothing but the base and what an evaluation or a training needs."""
NEEDED = {
    "audit": ("speechmos",),
    "evaluate": ("pocketsphinx", "speechmos"),
    "compare": ("pocketsphinx", "speechmos"),
    "train": ("lightning",),
}


@pytest.fixture(scope="module")
def done(guard, tmp_path_factory) -> dict[str, str]:
    """What each command writes; none of them may leave another trace."""
    there = {
        name: arguments
        for name, arguments in COMMANDS.items()
        if all(find_spec(library) for library in NEEDED.get(name, ()))
    }
    Key(bytes(range(32)), None).save(guard.folder / "fixed.key")
    script = tmp_path_factory.mktemp("series") / "voicenym"
    script.write_text(SERIES)
    found = guard.run(guard.python, script, json.dumps(list(there.values())))
    assert found.attempts == []
    assert (found.imported, found.others) == (set(), {})
    written = found.out.split("\0")
    assert written.pop() == ""
    return dict(zip(there, written, strict=True))


def test_small_commands_work_among_planted_modules(done):
    assert "mcadams" in done["systems"]
    assert "mcadams" in done["card"]
    assert "ecapa" in done["models"]
    assert done["version"].strip()


def test_anonymize_works_among_planted_modules(guard, done):
    """With workers: in ``test_execution.py``, by all the ways to start Python."""
    assert len(list((guard.folder / "base").rglob("*.wav"))) == 3


def test_audit_works_among_planted_modules(done):
    pytest.importorskip("speechmos")
    assert "correlation" in done["audit"]


def test_evaluate_compare_and_cards(guard, done, console, tmp_path):
    pytest.importorskip("pocketsphinx")
    pytest.importorskip("speechmos")
    assert (guard.folder / "report" / "index.html").is_file()
    # onnxruntime keeps an identifier of the machine there as soon as it means to report
    assert not (guard.home / ".cache" / "Microsoft").exists()
    assert "mcadams:low=0.6" in done["compare"]
    # cards are written into the package: into a copy
    source = Path(__file__).parents[2] / "src" / "voicenym"
    shutil.copytree(source, tmp_path / "voicenym")
    command, _ = console
    update = ["cards", "--update", "report"]
    found = guard.run(*command, *update, environment={"PYTHONPATH": str(tmp_path)})
    assert found.attempts == []
    assert (found.imported, found.others) == (set(), {})
    assert str(tmp_path) in found.out


def test_pool_and_training_with_loaders(guard, done):
    pytest.importorskip("lightning")
    assert (guard.folder / "pool").exists()
    assert (guard.folder / "verifier" / "model.safetensors").is_file()
