"""Writes the locks: all packages of an installation, pinned, with the hashes of their files.

``constraints.txt`` and ``pyproject.toml`` say what is wanted; uv resolves it for all platforms and
Python 3.11 and later. The libraries that only torch's GPU build needs go to a lock of their own.

    python tools/locks.py UV [FOLDER]

UV is the program; FOLDER holds builds of torch without GPU libraries, whose hashes are kept: they
are not on PyPI, so that uv does not find them.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
CPU = LOCKS / "torch-cpu.txt"
GPU = re.compile(r"(nvidia|cuda)-|triton$")
"""Names of packages that torch's build with GPU libraries needs, and its build without does not."""
EXTRAS = {
    "base": [],
    "dev": [
        "lhotse",
        "evaluate",
        "recognisers",
        "train",
        "speech",
        "cluster",
        "shares",
        "stores",
        "calls",
        "marks",
        "web",
        "live",
        "listen",
        "docs",
        "dev",
    ],
    "docs": ["docs"],
}
HEAD = """\
# Made by `make lock` from {sources}; do not edit.
# Install it with: pip install --no-deps --require-hashes --only-binary :all:{options} -r {path}
"""


def resolved(uv: str, sources: list[str], *options: str) -> str:
    """Requirements with hashes, as uv writes them."""
    command = [uv, "pip", "compile", *sources, *options, "--constraints", "constraints.txt"]
    command += ["--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--only-binary", ":all:", "--no-header", "--no-annotate", "--quiet"]
    command += ["--upgrade"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def beside(uv: str, name: str, other: str, built: str) -> dict[str, str]:
    """What a list asks for beyond a lock, at the lock's versions; one package of it is built."""
    options = ["--constraints", f"locks/{other}.txt", "--no-binary", built]
    found = requirements(resolved(uv, [f"locks/{name}.in"], *options))
    known = requirements((LOCKS / f"{other}.txt").read_text("utf-8"))
    return {one: lines for one, lines in found.items() if one not in known}


def requirements(text: str) -> dict[str, str]:
    """Lines of each package, by name; a package of two versions for two Pythons is one."""
    found: dict[str, str] = {}
    for part in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if part.strip() and not part.startswith("#"):
            name = re.match(r"[A-Za-z0-9._-]+", part)
            assert name, part
            found[name[0]] = found.get(name[0], "") + part
    return found


def cpu_builds(version: str, folders: list[Path]) -> None:
    """Lock the builds of torch without GPU libraries: those known before, and those in folders."""
    known = requirements(CPU.read_text("utf-8")).get("torch", "") if CPU.exists() else ""
    digests = re.findall(r"sha256:(\w+)", known) if f"torch=={version}+cpu " in known else []
    for folder in folders:
        for wheel in sorted(folder.glob(f"torch-{version}+cpu-*.whl")):
            digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    hashes = [f"    --hash=sha256:{one}" for one in sorted(set(digests))]
    lines = " \\\n".join([f"torch=={version}+cpu", *hashes]) + "\n"
    write("torch-cpu", {"torch": lines} if hashes else {}, "a folder: TORCH_CPU=FOLDER")


def write(name: str, found: dict[str, str], sources: str, options: str = "") -> None:
    """Write a lock; options are pip's, for the line that says how to install it."""
    path = LOCKS / f"{name}.txt"
    head = HEAD.format(sources=sources, options=options, path=path.relative_to(ROOT))
    path.write_text(head + "".join(found[one] for one in sorted(found)), "utf-8")
    print(f"{path.relative_to(ROOT)}: {len(found)} packages")


def main() -> None:
    """Make all locks."""
    uv, *folders = sys.argv[1:]
    gpu: dict[str, str] = {}
    for name, extras in EXTRAS.items():
        options = [word for extra in extras for word in ("--extra", extra)]
        found = requirements(resolved(uv, ["pyproject.toml", "locks/build.in"], *options))
        gpu |= {one: lines for one, lines in found.items() if GPU.match(one)}
        rest = {one: lines for one, lines in found.items() if one not in gpu}
        write(name, rest, "constraints.txt, pyproject.toml and locks/build.in")
    cpu_builds(re.match(r"torch==(\S+)", rest["torch"])[1], [Path(one) for one in folders])
    write("gpu", gpu, "constraints.txt and pyproject.toml")
    for name, options in (("release", []), ("resemblyzer", ["--no-deps"])):
        found = requirements(resolved(uv, [f"locks/{name}.in"], *options))
        write(name, found, f"locks/{name}.in")
    found = beside(uv, "croissant", "dev", "jsonpath-rw")
    write("croissant", found, "locks/croissant.in", " --no-binary jsonpath-rw")


if __name__ == "__main__":
    main()
