"""Reuse of freed memory: keeps the C library from returning large blocks to the system."""

from __future__ import annotations

KEPT_BYTES = 33_200_000
"""The C library goes on to keep blocks of up to so many bytes that are freed for reuse, once one of
this size was freed; else it hands them back, and memory that is new to the process is slow."""


def keep_freed_blocks() -> None:
    """Allocates and frees a block of :data:`KEPT_BYTES`; smaller blocks are reused afterwards."""
    import torch

    torch.empty(KEPT_BYTES, dtype=torch.uint8)
