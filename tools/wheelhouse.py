"""Collects what a machine without a network needs to install voicenym: wheels and one lock.

    python tools/wheelhouse.py FOLDER [--lock base] [--locks locks] [OPTIONS OF PIP]

FOLDER holds the wheel of voicenym already. The wheels of the lock come beside it, for the system
and the Python that run this; the smaller build of torch, without GPU libraries, if pip is told of
a place that has it. ``requirements.txt`` then lists each file with its hash, and pip must be able
to install it from FOLDER alone, dependencies included.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

from locks import GPU, ROOT, requirements

HEAD = """\
# Made by `make wheelhouse`. Install it, in a virtual environment, with:
# pip install --no-index --find-links . --no-deps --require-hashes -r requirements.txt
"""
LIST = "requirements.txt"


def pip(*arguments: object, errors: int | None = None) -> int:
    """Runs pip of this Python; its exit status."""
    words = map(str, arguments)
    command = [sys.executable, "-m", "pip", *words]
    return subprocess.run(command, check=False, stderr=errors).returncode


def asked_for(wheel: Path) -> list[str]:
    """Names of the packages that a wheel asks for."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
        found = HeaderParser().parsestr(file.read(name).decode("utf-8"))
    return [re.split(r"[^A-Za-z0-9._-]", line)[0] for line in found.get_all("Requires-Dist") or []]


def own(folder: Path) -> str:
    """Requirement of the wheel of voicenym that lies in a folder."""
    (wheel,) = folder.glob("voicenym-*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"voicenym=={wheel.name.split('-')[1]} \\\n    --hash=sha256:{digest}\n"


def collect(folder: Path, locks: Path, lock: str, options: list[str]) -> None:
    """Fills the folder.

    Args:
        folder: with the wheel of voicenym.
        locks: folder of the locks.
        lock: name of the one whose packages are wanted.
        options: of pip, on where it looks.

    Raises:
        SystemExit: a file cannot be had, or the folder is not all that is needed.
    """
    fetch = ["download", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    fetch += [*options, "-d", str(folder)]
    wanted = requirements((locks / f"{lock}.txt").read_text("utf-8"))
    small = locks / "torch-cpu.txt"
    if small.is_file() and pip(*fetch, "-r", small, errors=subprocess.DEVNULL) == 0:
        wanted |= requirements(small.read_text("utf-8"))
    listed = folder / LIST
    listed.write_text(HEAD + "".join(wanted.values()), "utf-8")
    if pip(*fetch, "-r", listed):
        raise SystemExit("wheelhouse: a file of the lock cannot be had; see above")
    if any(GPU.match(name) for wheel in folder.glob("torch-*.whl") for name in asked_for(wheel)):
        wanted |= requirements((locks / "gpu.txt").read_text("utf-8"))
        listed.write_text(HEAD + "".join(wanted.values()), "utf-8")
        if pip(*fetch, "-r", listed):
            raise SystemExit("wheelhouse: a library of torch for GPUs cannot be had; see above")
    listed.write_text(HEAD + "".join(wanted.values()) + own(folder), "utf-8")
    alone = ["--isolated", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-index"]
    if pip(*alone, "--find-links", folder, "--require-hashes", "-r", listed):
        raise SystemExit("wheelhouse: the folder alone does not do; see above what is missing")


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lock", default="base")
    parser.add_argument("--locks", type=Path, default=ROOT / "locks")
    given, options = parser.parse_known_args()
    collect(given.folder, given.locks, given.lock, options)


if __name__ == "__main__":
    main()
