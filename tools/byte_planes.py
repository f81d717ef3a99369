"""Stores bundled weights in half precision as planes of bytes, which make a smaller wheel.

python tools/byte_planes.py

Weights stay as they are where a wheel would be less than 3,000 bytes smaller.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from voicenym.nets.weights.byte_planes import joined, split
from voicenym.nets.weights.weight_files import PLANES, WEIGHTS

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "voicenym"
LEAST_SAVED = 3_000


def store(path: Path) -> int:
    """Replaces a file by its planes where that pays.

    Returns:
        Bytes that a wheel has less.
    """
    content = path.read_bytes()
    planes = split(content)
    saved = len(zlib.compress(content)) - len(zlib.compress(planes))
    if saved < LEAST_SAVED:
        return 0
    if joined(planes) != content:
        raise ValueError(f"{path}: its planes are not the same weights")
    path.with_name(PLANES).write_bytes(planes)
    path.unlink()
    return saved


if __name__ == "__main__":
    for path in sorted(PACKAGE.glob(f"**/bundled/**/{WEIGHTS}")):
        if saved := store(path):
            print(f"{path.parent.relative_to(PACKAGE)}: {saved:,} bytes less")
