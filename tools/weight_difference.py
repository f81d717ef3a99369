"""Stores bundled weights as their difference from those of a folder beside theirs.

python tools/weight_difference.py FOLDER OTHER --step 0.08

The weights become the rounded ones, and config.json gets their SHA-256.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from safetensors.numpy import load, save

from voicenym.nets.checkpoint import DIGEST
from voicenym.nets.weights.weight_difference import FROM, applied, compressed, made
from voicenym.nets.weights.weight_files import CONFIG, DIFFERENCE, WEIGHTS
from voicenym.nets.weights.weight_files import read as weights


def store(folder: Path, other: Path, step: float) -> int:
    """Replaces the weights of a folder by their difference.

    Args:
        folder: of the weights, in half precision.
        other: folder beside it, of weights of the same network.
        step: of :func:`voicenym.nets.weights.weight_difference.made`.

    Returns:
        Bytes of the difference.
    """
    if folder.resolve().parent != other.resolve().parent:
        raise SystemExit(f"{other}: does not lie beside {folder}")
    before = weights(other)
    levels = made(load(weights(folder)), load(before), step)
    content = save(levels, metadata={FROM: other.name})
    config = json.loads((folder / CONFIG).read_bytes())
    config[DIGEST] = hashlib.sha256(applied(content, before)).hexdigest()
    stored = compressed(content)
    (folder / DIFFERENCE).write_bytes(stored)
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    (folder / CONFIG).write_text(text, "utf-8")
    (folder / WEIGHTS).unlink()
    return len(stored)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--step", type=float, default=0.08)
    given = parser.parse_args()
    print(f"{given.folder}: {store(given.folder, given.other, given.step):,} bytes")
