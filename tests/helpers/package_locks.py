"""The project's locks: packages with one version and hashes each."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(path.stem for path in (ROOT / "locks").glob("*.txt"))
FULL = ("base", "dev", "docs")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(name: str) -> list[tuple[Requirement, set[str]]]:
    """Requirements of a lock and their hashes."""
    text = (ROOT / "locks" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [(Requirement(line.split("--hash")[0]), set(HASH.findall(line))) for line in lines]


def versions(name: str, python: str = "") -> dict[str, set[str]]:
    """Versions of each package in a lock; those of one Python if it is named."""
    found: dict[str, set[str]] = {}
    for requirement, _ in locked(name):
        if python and not holds(requirement, python):
            continue
        version = str(requirement.specifier).removeprefix("==")
        found.setdefault(canonicalize_name(requirement.name), set()).add(version)
    return found


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def holds(requirement: Requirement, python: str) -> bool:
    about = {"python_version": python, "python_full_version": f"{python}.0"}
    return requirement.marker is None or requirement.marker.evaluate(about)
