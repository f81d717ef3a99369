"""Checkpoints that torch wrote are pickles; nothing in them but tensors and plain values is made.

Whoever can replace such a file could otherwise run a program. ``models convert`` makes safetensors
of it, once; folders of ours hold nothing else.
"""

from __future__ import annotations

import io
from typing import Any

import torch

from voicenym.errors import DependencyError

SAFE = (2, 10)
"""From this release of torch on, ``weights_only`` holds what it promises: before 2.6 a file could
run a program all the same (CVE-2025-32434), before 2.10 it could damage memory (CVE-2026-24747)."""


def unpickled(content: bytes) -> Any:
    """What a checkpoint holds, on the CPU.

    Args:
        content: of the file.

    Raises:
        DependencyError: an older torch.
        Exception: anything, where the bytes are damaged or hold anything else.
    """
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < SAFE:
        raise DependencyError(
            f"torch {torch.__version__} does not read checkpoints safely: pip install 'torch>="
            f"{SAFE[0]}.{SAFE[1]}', or give the weights as .safetensors"
        )
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
