"""Devices that are not there are refused with a cure, before anything is computed."""

from __future__ import annotations

import pytest
import torch

from voicenym.anonymizer import check_device, devices, load
from voicenym.apps.cli.options.engine_options import check_system
from voicenym.audio import Audio
from voicenym.errors import VoicenymError
from voicenym.pseudonym import Key


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch, request):
    """So many GPUs as the test asks for, two otherwise."""
    count = getattr(request, "param", 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    devices._check_gpu.cache_clear()
    yield
    devices._check_gpu.cache_clear()


@pytest.mark.parametrize("name", ["cpu", "cuda", "cuda:0", "cuda:1"])
def test_devices_that_are_here(name):
    check_device(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cuda:2", "GPUs here are cuda:0 to cuda:1"),
        ("mps", "take cpu, cuda, or a GPU by number"),
        ("gpu", "take cpu, cuda, or a GPU by number"),
        ("cuda:", "take cpu, cuda, or a GPU by number"),
        ("cuda:one", "take cpu, cuda, or a GPU by number"),
        ("cuda:²", "take cpu, cuda, or a GPU by number"),
    ],
)
def test_others_are_refused(name, message):
    with pytest.raises(VoicenymError, match=message):
        check_device(name)


@pytest.mark.parametrize("two_gpus", [0], indirect=True)
def test_a_system_on_a_gpu_that_is_not_there_names_the_cure():
    system, pseudonym = load("mcadams", device="cuda"), Key(bytes(32)).pseudonym("a")
    recordings = (
        lambda: system(Audio(torch.zeros(800), 16000), pseudonym),
        lambda: system.stream(pseudonym, 16000),
        lambda: load("recast", device="cuda").profiling(16000),
        lambda: check_system(system, "local"),
    )
    for use in recordings:
        with pytest.raises(VoicenymError, match="no GPU here; take --device cpu"):
            use()
    check_system(system, "ray")  # its workers may have one


@pytest.mark.parametrize("two_gpus", [0], indirect=True)
def test_the_command_says_so_and_writes_nothing(command, sample, tmp_path):
    out = tmp_path / "out.wav"
    done = command("anonymize", str(sample), "-o", str(out), "-s", "base", "--device", "cuda")
    assert done.returncode == 1
    assert "torch finds no GPU here" in done.stderr.decode()
    assert "defect" not in done.stderr.decode()
    assert not out.exists()
