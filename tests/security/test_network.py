"""Nothing phones home: every command, watched for connections and look-ups of names.

Processes run without a network where the system allows that (a network namespace). Attempts are
seen by strace, where it may be used, in all processes and libraries; and in any case by Python's
audit events in all processes of Python. `voicenym models pull` is the exception, and not run here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

HOOK = """
import os, sys

def seen(event, arguments, log={log!r}):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        told = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        told = arguments[-1]
        if not isinstance(told, tuple):  # a path: a socket of this machine
            return
    else:
        return
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{{event}} {{told}}\\n".encode())
    os.close(file)

sys.addaudithook(seen)
"""
ATTEMPT = re.compile(r"(connect|sendto|sendmsg|sendmmsg)\(.*(AF_INET|[Rr]esolve)")
"""In a line of strace: something is sent to a host, or asked of a resolver of this machine."""
CONNECTS = "import socket; s = socket.socket(); s.settimeout(1)\ntry: s.connect(('192.0.2.1', 9))\n"
CONNECTS += "except OSError: pass\n"
LOOKS_UP = "import socket\ntry: socket.getaddrinfo('voicenym.invalid', 80)\nexcept OSError: pass\n"


def works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


class Guard:
    """Runs commands and tells which connections and look-ups they tried."""

    def __init__(self, root: Path) -> None:
        self.home, self.folder = root / "home", root / "work"
        self._log, self._calls, hooks = root / "log", root / "calls", root / "hooks"
        for folder in (self.home, self.folder, hooks):
            folder.mkdir()
        (hooks / "sitecustomize.py").write_text(HOOK.format(log=str(self._log)))
        calls = "trace=connect,sendto,sendmsg,sendmmsg"
        watch = ["strace", "-f", "-qq", "-e", calls, "-o", str(self._calls)]
        alone = ["unshare", "--user", "--map-root-user", "--net"]
        self.watched = works(*watch)
        self._before = [*(watch if self.watched else []), *(alone if works(*alone) else [])]
        # What turns telemetry off must come from the package.
        off = re.compile("PYTHON|CI$|GITHUB_|.*TELEMETRY|DO_NOT_TRACK|WANDB|XDG_|HF_|TF_BUILD")
        clean = {name: value for name, value in os.environ.items() if not off.match(name)}
        self.environment = {
            **clean,
            "HOME": str(self.home),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(hooks),
        }

    def run(self, *command: object, **environment: str) -> tuple[list[str], list[str], str]:
        """What audit events and strace tell of the attempts, and what the command wrote."""
        self._log.unlink(missing_ok=True)
        self._calls.write_text("")
        done = subprocess.run(
            [*self._before, *map(str, command)],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        events = self._log.read_text().splitlines() if self._log.exists() else []
        calls = [line for line in self._calls.read_text().splitlines() if ATTEMPT.search(line)]
        return events, calls, done.stdout


@pytest.fixture(scope="module")
def guard(tmp_path_factory):
    """A guard, with seven speakers in ``corpus/`` of its folder."""
    found = Guard(tmp_path_factory.mktemp("guard"))
    time = np.arange(9_600) / 16_000
    for speaker in range(7):
        for take in range(3):
            rng = np.random.default_rng([speaker, take])
            pitch = 90.0 * 1.15**speaker
            sound = sum(np.sin(2 * np.pi * k * pitch * time + k) / k for k in range(1, 9))
            place = found.folder / "corpus" / f"s{speaker}" / f"{take}.wav"
            place.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(place, 0.1 * sound + 0.01 * rng.standard_normal(9_600), 16_000)
            place.with_suffix(".txt").write_text("the cat")
    (found.folder / "tiny.yaml").write_text(
        "options: {channels: 16, size: 12, attention: 8, squeeze: 8}\n"
        "seconds: 0.4\nbatch: 8\nspeeds: [1.0]\nevery: 2\n"
    )
    return found


def quiet(guard: Guard, *arguments: object, **environment: str) -> str:
    """Run a command that must not try to reach anybody."""
    events, calls, said = guard.run(sys.executable, "-m", "voicenym", *arguments, **environment)
    assert events == []
    assert calls == []
    return said


@pytest.mark.parametrize("what", [CONNECTS, LOOKS_UP])
def test_the_guard_sees_an_attempt_of_a_process_s_child(guard, what):
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {what!r}])"
    events, calls, _ = guard.run(sys.executable, "-c", started)
    assert events
    assert calls or not guard.watched
    if what == CONNECTS and guard.watched:  # one that no audit event tells
        events, calls, _ = guard.run(sys.executable, "-I", "-c", started.replace("-P", "-I"))
        assert events == []
        assert calls


def test_small_commands(guard):
    assert "mcadams" in quiet(guard, "systems")
    quiet(guard, "systems", "mcadams")
    quiet(guard, "key", "new", "project.key")
    assert "ecapa" in quiet(guard, "models", "list")
    quiet(guard, "--version")


def test_anonymize(guard):
    for system, options in (("mcadams", ["--workers", "2"]), ("base", [])):
        quiet(guard, "anonymize", "corpus/s0", "-o", system, "--system", system, *options)
        assert len(list((guard.folder / system).rglob("*.wav"))) == 3


def test_audit(guard):
    quiet(guard, "anonymize", "corpus/s1/0.wav", "-o", "after.wav", "--system", "mcadams")
    assert "correlation" in quiet(guard, "audit", "corpus/s1/0.wav", "after.wav", "-s", "mcadams")


def test_evaluate_compare_and_cards(guard, tmp_path):
    pytest.importorskip("pocketsphinx")
    pytest.importorskip("speechmos")
    options = ["--keys", "1", "--replicates", "20", "--no-denoise", "--verifier", "ecapa-small"]
    options += ["--enrolment", "1", "--tried", "1", "--any-sex", "--sample", "2", "--workers", "2"]
    options += ["-s", "mcadams", "-s", "vtln", "-q"]
    quiet(guard, "evaluate", "corpus", "-o", "report", *options)
    # onnxruntime keeps an identifier of the machine there as soon as it means to report
    assert not (guard.home / ".cache" / "Microsoft").exists()
    quiet(guard, "compare", "report")
    # cards are written into the package: into a copy
    source = Path(__file__).parents[2] / "src" / "voicenym"
    shutil.copytree(source, tmp_path / "voicenym")
    both = f"{tmp_path}{os.pathsep}{guard.environment['PYTHONPATH']}"
    said = quiet(guard, "cards", "--update", "report", PYTHONPATH=both)
    assert str(tmp_path) in said


def test_pool_and_training(guard):
    pytest.importorskip("lightning")
    quiet(guard, "pool", "build", "corpus", "-o", "pool", "--quiet")
    options = ["-d", "corpus", "-c", "./tiny.yaml", "-o", "verifier", "--steps", "2", "--quiet"]
    quiet(guard, "train", "verifier", *options, "--accelerator", "cpu", "--workers", "1")


def test_a_recogniser_from_a_folder(guard, tmp_path):
    """transformers, which looks for files of a model on the hub unless it is a folder."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.Wav2Vec2Config(
        num_hidden_layers=1, conv_dim=(8,) * 7, num_conv_pos_embedding_groups=2, **sizes
    )
    transformers.Wav2Vec2Model(config).save_pretrained(tmp_path / "model")
    script = "import sys; from voicenym.nets.content.wav2vec import Wav2Vec\n"
    script += "Wav2Vec.from_published(sys.argv[1], 1)"
    events, calls, _ = guard.run(sys.executable, "-c", script, tmp_path / "model")
    assert events == []
    assert calls == []
