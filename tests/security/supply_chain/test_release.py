"""What is released: the same bytes anywhere, tested, signed, with a way to report defects."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from package_locks import ROOT, project
from packaging.version import Version

import voicenym

MOST_BYTES = 60_000_000
"""Of the wheel, with all bundled weights."""


def test_the_message_says_how_to_report():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for heading in ("Report a defect", "What counts", "Supported versions"):
        assert f"\n## {heading}\n" in text
    assert Version(voicenym.__version__) < Version("1.0") or "before 1.0" not in text
    assert "SECURITY.md" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def _built(copy: Path, when: float) -> dict[str, str]:
    """SHA-256 of wheel and source package of a copy of the tree with other times and modes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a clone of the repository")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
            os.utime(copy / name, (when, when))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "946684800"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", "dist"],
        cwd=copy, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    made = sorted((copy / "dist").iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def test_wheel_and_source_package_have_the_same_bytes_in_another_folder_at_another_time(tmp_path):
    pytest.importorskip("hatchling")
    one = _built(tmp_path / "a", 1_500_000_000)
    other = _built(tmp_path / "elsewhere" / "b", 1_700_000_000)
    assert len(one) == 2
    assert one == other
    (wheel,) = (tmp_path / "a" / "dist").glob("*.whl")
    assert wheel.stat().st_size < MOST_BYTES


def test_the_release_fixes_the_time_of_its_files():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^export SOURCE_DATE_EPOCH", makefile, re.MULTILINE)


def _wheel(folder: Path, name: str, *needs: str) -> str:
    """Writes an empty wheel; its requirement with its hash."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    info = path.name.removesuffix("-py3-none-any.whl") + ".dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in needs)
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{asked}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as file:
        for one, text in files.items():
            file.writestr(f"{info}/{one}", text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}==1.0 --hash=sha256:{digest}\n"


@pytest.mark.slow
def test_a_wheelhouse_holds_all_that_its_torch_asks_for(tmp_path):
    """A wheelhouse that is made before anything is installed once lacked torch's GPU libraries."""
    there, locks, folder = tmp_path / "there", tmp_path / "locks", tmp_path / "wheelhouse"
    for one in (there, locks, folder):
        one.mkdir()
    torch = _wheel(there, "torch", "nvidia-part", "plain; extra == 'x'")
    gpu = _wheel(there, "nvidia-part")
    _wheel(folder, "voicenym", "torch")
    (locks / "base.txt").write_text(torch)
    (locks / "gpu.txt").write_text(gpu)

    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "wheelhouse.py", folder, "--locks", locks,
         "--no-index", "--find-links", there],
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {path.name.partition("-")[0] for path in folder.glob("*.whl")}
    assert names == {"torch", "nvidia_part", "voicenym"}
    listed = (folder / "requirements.txt").read_text()
    assert all(f"{name}==1.0" in listed for name in ("torch", "nvidia-part", "voicenym"))
    assert listed.count("--hash=sha256:") == 3


def test_the_workflow_is_whole():
    """Each job has a machine and steps, each step does one thing, and what a job refers to is
    there; the tests of each job exist.
    """
    yaml = pytest.importorskip("yaml")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        jobs = yaml.safe_load(text)["jobs"]
        for name, job in jobs.items():
            assert {"runs-on", "steps", "timeout-minutes"} <= job.keys(), name
            matrix = job.get("strategy", {}).get("matrix", {})
            used = set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", str(job)))
            assert used <= matrix.keys(), name
            assert all(used == one.keys() for one in matrix.get("include", [])), name
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), name
                assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1")), name
                for word in re.findall(r"\btests/[\w/.]+", step.get("run", "")):
                    assert (ROOT / word).exists(), f"{name}: {word}"
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_a_release_is_tested_and_built_twice_before_its_origin_is_signed():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    steps = [step.get("run") or step["uses"].partition("@")[0] for step in job["steps"]]
    order = [
        "make test", "make release", "cmp first/SHA256SUMS dist/SHA256SUMS",
        "actions/attest-build-provenance", "actions/attest-sbom",
    ]  # fmt: skip
    places = [steps.index(step) for step in order]
    assert places == sorted(places)
    assert steps.count("make release") == 2
    assert steps[-1].startswith("gh release create")
    assert {"id-token": "write", "attestations": "write"}.items() <= job["permissions"].items()


def test_the_workflow_runs_all_supported_pythons_and_the_least_versions():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    named = set(re.findall(r'"(3\.\d+)"', text))
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert "lowest-direct" in text
    (extras,) = re.findall(r"for extra in (.*); do", text)
    assert set(extras.split()) == project()["optional-dependencies"].keys()
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(
        re.findall(r"\w+-latest", text)
    )
