"""Locks pin one version of each package with its hashes, agree, and are what is installed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from package_locks import FULL, LOCKS, PYTHONS, ROOT, holds, locked, project, versions
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.mark.parametrize("name", LOCKS)
def test_each_line_of_a_lock_pins_one_version_and_has_hashes(name):
    found = locked(name)
    assert found
    for requirement, hashes in found:
        assert re.fullmatch(r"==[\w.+]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert requirement.url is None, requirement


def test_the_locks_that_the_makefile_names_are_all_there():
    named = set(re.findall(r"locks/([\w-]+)\.txt", (ROOT / "Makefile").read_text("utf-8")))
    assert named == set(LOCKS)


def constraints() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and line[0] != "#"]


@pytest.mark.parametrize("python", PYTHONS)
def test_each_python_has_one_constraint_for_a_package(python):
    names = [canonicalize_name(one.name) for one in constraints() if holds(one, python)]
    assert len(set(names)) == len(names)
    assert set(names) == {canonicalize_name(one.name) for one in constraints()}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold_the_versions_of_the_constraints(name, python):
    wanted = {
        canonicalize_name(one.name): one.specifier for one in constraints() if holds(one, python)
    }
    shared = wanted.keys() & versions(name, python).keys()
    assert shared or name in ("croissant", "gpu", "release", "resemblyzer")
    for package in shared:
        for version in versions(name, python)[package]:
            assert wanted[package].contains(version), f"{package} {version}: run make lock"


def extras(name: str) -> list[str]:
    given = project()["optional-dependencies"]
    names = {
        "dev": ["lhotse", "evaluate", "recognisers", "train", "docs", "dev"],
        "docs": ["docs"],
    }
    return [line for extra in names.get(name, []) for line in given[extra]]


@pytest.mark.parametrize("name", FULL)
def test_locks_hold_what_the_project_asks_for(name):
    found = versions(name)
    build = (ROOT / "locks" / "build.in").read_text("utf-8").splitlines()
    asked = [*project()["dependencies"], *extras(name), *(b for b in build if b[0] != "#")]
    for line in asked:
        requirement = Requirement(line)
        have = found.get(canonicalize_name(requirement.name))
        assert have, f"{line}: not in locks/{name}.txt; run make lock"
        assert all(requirement.specifier.contains(version) for version in have), line
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert backend["requires"] == ["hatchling"]


def test_locks_agree_with_each_other():
    base = versions("base")
    for name in ("dev", "docs"):
        other = versions(name)
        for package in base:
            assert other[package] == base[package], f"{package}: run make lock"
    (torch_version,) = base["torch"]
    (small,) = versions("torch-cpu")["torch"]
    assert small == f"{torch_version}+cpu"
    assert not versions("gpu").keys() & base.keys()


@pytest.mark.parametrize("name", FULL)
def test_a_lock_is_complete(name):
    """All that its packages ask for here is in it: pip looks nothing up beside a lock."""
    there = versions(name).keys() | versions("gpu").keys()
    seen = 0
    for package in versions(name):
        try:
            asked = importlib.metadata.requires(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        seen += 1
        for line in asked:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                assert canonicalize_name(requirement.name) in there, f"{package} asks for {line}"
    assert seen > 15


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_makefile_installs_by_hash_alone():
    goals = ["demo", "test", "docs", "audit", "sbom", "lock"]
    given = subprocess.run(
        ["make", "--always-make", "--dry-run", *goals, f"PYTHON={sys.executable}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.replace("\\\n", " ")  # fmt: skip
    installs = [
        part for part in re.split(r"\n|;|\|\|", given) if re.search(r"\bpip\b.*install", part)
    ]
    by_hash = [line for line in installs if "--require-hashes" in line]
    own = [line for line in installs if line not in by_hash]
    assert len(by_hash) >= 7
    for line in by_hash:
        assert "--no-deps" in line, line
        assert "--only-binary :all:" in line, line
        assert re.search(r" -r locks/[\w-]+\.txt", line), line
    assert len(own) == 3  # voicenym itself, in each of the three
    for line in own:
        assert line.strip().endswith("--no-deps --no-build-isolation --editable ."), line
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")


def wheel(place: Path, content: str = "") -> Path:
    """A package of nothing."""
    path = place / "nothing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("nothing.py", content)
        file.writestr(
            "nothing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n"
        )
        file.writestr(
            "nothing-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("nothing-1.0.dist-info/RECORD", "")
    return path


def installed(place: Path, line: str) -> subprocess.CompletedProcess[str]:
    """As the Makefile installs, from a folder."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    options = re.search(r"^LOCKED := (.*) \$\(PIP_ARGS\)$", makefile, re.MULTILINE)
    assert options
    (place / "lock.txt").write_text(line + "\n")
    command = [sys.executable, "-m", "pip", *options[1].split(), "-r", str(place / "lock.txt")]
    command += ["--no-index", "--find-links", str(place), "--target", str(place / "out")]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="pip is not installed")
def test_a_package_of_another_hash_is_not_installed(tmp_path):
    digest = hashlib.sha256(wheel(tmp_path).read_bytes()).hexdigest()
    wheel(tmp_path, "print('exchanged')")
    done = installed(tmp_path, f"nothing==1.0 --hash=sha256:{digest}")
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "out").exists()
    assert installed(tmp_path, "nothing==1.0").returncode != 0  # without a hash
    digest = hashlib.sha256((tmp_path / "nothing-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    done = installed(tmp_path, f"nothing==1.0 --hash=sha256:{digest}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "nothing.py").is_file()
