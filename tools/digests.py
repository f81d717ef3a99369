"""Pins the bundled weights: SHA-256 of each loaded file, in nets/digests.json.

python tools/digests.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "voicenym"
TABLE = PACKAGE / "nets" / "digests.json"
LOADED = ("config.json", "model.safetensors")


def digests() -> dict[str, str]:
    """By path within the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(PACKAGE.glob("**/bundled/**/*"))
        if path.name in LOADED
    }


if __name__ == "__main__":
    found = digests()
    TABLE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"{TABLE.name}: {len(found)} files")
