"""Idle threads of torch: the command line limits their spinning before torch is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from voicenym.thread_spinning import COUNT, POLICY, SPINS, limit_spinning

SHOWN = """
import os, sys
from voicenym.apps.cli import main
sys.argv = ["voicenym", "--version"]
try:
    main()
except SystemExit:
    pass
print("torch" in sys.modules, os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (COUNT, POLICY):
        monkeypatch.setenv(name, "")  # restored afterwards, whatever a test sets
        monkeypatch.delenv(name)


def test_spinning_is_limited_unless_the_user_decides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_spinning()
    assert os.environ[COUNT] == str(SPINS)

    monkeypatch.setenv(COUNT, "7")
    limit_spinning()
    assert os.environ[COUNT] == "7"


def test_a_policy_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(POLICY, "active")
    limit_spinning()
    assert COUNT not in os.environ


def test_the_command_limits_it_before_torch_is_loaded() -> None:
    run = subprocess.run(
        [sys.executable, "-P", "-c", SHOWN], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == f"False {SPINS}"


def test_the_openmp_library_reads_the_limit() -> None:
    torch = "import torch; print(torch.__config__.parallel_info())"
    environment = {**os.environ, COUNT: str(SPINS), "OMP_DISPLAY_ENV": "verbose"}
    run = subprocess.run(
        [sys.executable, "-P", "-c", torch],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    if COUNT not in run.stderr:
        pytest.skip("torch has another OpenMP library than GCC's")
    assert f"{COUNT} = '{SPINS}'" in run.stderr
