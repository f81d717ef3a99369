"""Reuse of freed memory: keeps the C library from returning large blocks to the system."""

from __future__ import annotations

KEPT_BYTES = 33_200_000
"""Block size: after one block of this size was freed, the C library keeps freed blocks of up to
this size for reuse; otherwise it returns them to the system, and new memory is slow.
"""


def keep_freed_blocks() -> None:
    """Allocates and frees a block of :data:`KEPT_BYTES`; smaller blocks are reused afterwards."""
    import torch

    torch.empty(KEPT_BYTES, dtype=torch.uint8)
