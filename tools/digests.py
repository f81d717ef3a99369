"""Pins the bundled weights: SHA-256 of each loaded file, in nets/digests.json.

python tools/digests.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from voicenym.nets.weights.weight_files import CONFIG, DIFFERENCE, PLANES, WEIGHTS, read

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "voicenym"
TABLE = PACKAGE / "nets" / "digests.json"


def digests() -> dict[str, str]:
    """By path within the package; of weights stored in another way, that of the safetensors
    file.
    """
    found = {}
    for config in sorted(PACKAGE.glob(f"**/bundled/**/{CONFIG}")):
        found[config] = config.read_bytes()
        if any((config.parent / name).is_file() for name in (WEIGHTS, PLANES, DIFFERENCE)):
            found[config.parent / WEIGHTS] = read(config.parent)
    return {
        path.relative_to(PACKAGE).as_posix(): hashlib.sha256(content).hexdigest()
        for path, content in sorted(found.items())
    }


if __name__ == "__main__":
    found = digests()
    TABLE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"{TABLE.name}: {len(found)} files")
