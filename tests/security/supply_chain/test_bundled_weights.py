"""Bundled weights are those of the release, or are refused."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys

import pytest
from package_locks import ROOT

from voicenym.errors import VoicenymError
from voicenym.nets import checkpoint as folder
from voicenym.nets import digests
from voicenym.nets.weights import weight_files


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_bundled_file_of_weights_is_pinned():
    assert digests.pinned() == tool("digests").digests(), "run make digests"
    suffixes = (".safetensors", ".planes", ".difference", ".pt", ".bin")
    there = [path for path in digests.PACKAGE.rglob("*") if path.suffix in suffixes]
    weights = {name for name in digests.pinned() if name.endswith(".safetensors")}
    otherwise = (weight_files.PLANES, weight_files.DIFFERENCE)
    found = [path.with_suffix(".safetensors") if path.name in otherwise else path for path in there]
    assert sorted(path.relative_to(digests.PACKAGE).as_posix() for path in found) == sorted(weights)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of a bundled folder, in what is taken for the package."""
    name = "nets/identity/bundled/ecapa-small"
    shutil.copytree(digests.PACKAGE / name, tmp_path / name)
    monkeypatch.setattr(digests, "PACKAGE", tmp_path)
    folder.read(tmp_path / name)
    return tmp_path / name


def test_bundled_weights_with_another_byte_are_refused(package):
    path = package / folder.WEIGHTS
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(VoicenymError, match=r"model\.safetensors: not what this release"):
        folder.read(package)


def test_bundled_weights_that_were_exchanged_with_their_configuration_are_refused(package):
    state = {name: value + 1e-3 for name, value in folder.read(package)[1].items()}
    config = folder.configuration(package)
    folder.write(package, state, {n: v for n, v in config.items() if n != folder.DIGEST})
    with pytest.raises(VoicenymError, match=r"config\.json: not what this release"):
        folder.read(package)


def test_a_folder_that_was_put_into_the_package_is_refused(package):
    other = package.with_name("other")
    shutil.copytree(package, other)
    with pytest.raises(VoicenymError, match=r"other.config\.json: not what this release"):
        folder.read(other)


def test_a_command_refuses_exchanged_weights_and_writes_nothing(tmp_path, sample):
    copy = tmp_path / "installed" / "voicenym"
    shutil.copytree(ROOT / "src" / "voicenym", copy)  # with what was compiled
    path = copy / "resynthesis" / "bundled" / "base" / weight_files.PLANES
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import voicenym.apps.cli as v; v.main()"
    )
    asked = ["anonymize", sample, "-s", "base", "-o", "out.wav"]
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; c.main()", copy.parent, *asked],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert f"{path}: not what this release of voicenym brings" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.wav").exists()
