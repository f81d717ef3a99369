"""Writes the software bill of materials of a plain installation, as CycloneDX JSON.

cyclonedx-py reads the lock of a plain installation (and that of torch's GPU libraries, which it
brings where pip takes PyPI's build); the version and the bundled weights are added. The file,
locks/sbom.cdx.json, is under version control, and a test compares it with the locks.

    python tools/sbom.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("base", "gpu")
BILL = ROOT / "locks" / "sbom.cdx.json"
WEIGHTS = ROOT / "src" / "voicenym" / "nets" / "digests.json"
SCHEMA = "1.6"


def version() -> str:
    """Of voicenym."""
    text = (ROOT / "src" / "voicenym" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def weights() -> list[dict[str, object]]:
    """The bundled weights as components."""
    return [
        {
            "type": "machine-learning-model",
            "bom-ref": f"voicenym/{name}",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for name, digest in json.loads(WEIGHTS.read_text("utf-8")).items()
        if name.endswith(".safetensors")
    ]


def bill() -> dict[str, Any]:
    """The bill, as CycloneDX describes it."""
    with tempfile.TemporaryDirectory() as folder:
        # one file, since cyclonedx-py reads one
        lock, out = Path(folder, "requirements.txt"), Path(folder, "bill.json")
        lock.write_text("".join((ROOT / "locks" / f"{n}.txt").read_text("utf-8") for n in LOCKS))
        command = [sys.executable, "-m", "cyclonedx_py", "requirements", str(lock)]
        command += ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library"]
        command += ["--spec-version", SCHEMA, "--output-format", "JSON", "--output-reproducible"]
        subprocess.run([*command, "--validate", "--output-file", str(out)], cwd=ROOT, check=True)
        found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    for component in found["components"]:
        del component["description"]  # the lines of the lock once more
    found["components"] += weights()
    about = {"version": version(), "purl": f"pkg:pypi/voicenym@{version()}"}
    found["metadata"]["component"].update(about)
    return found


if __name__ == "__main__":
    BILL.write_text(json.dumps(bill(), indent=1) + "\n", "utf-8")
    print(BILL.relative_to(ROOT))
