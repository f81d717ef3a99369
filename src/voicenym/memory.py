"""Memory of the process: freed blocks are reused or returned; garbage collection skips objects."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

KEPT_BYTES = 33_200_000
"""Block size: after one block of this size was freed, the C library keeps freed blocks of up to
this size for reuse; otherwise it returns them to the system, and new memory is slow.
"""


def keep_freed_blocks() -> None:
    """Allocates and frees a block of :data:`KEPT_BYTES`; smaller blocks are reused afterwards."""
    import torch

    torch.empty(KEPT_BYTES, dtype=torch.uint8)


def return_freed_blocks() -> None:
    """Returns freed memory to the system, where the C library can (glibc).

    Small results that are kept lie between large blocks that were freed, so that the memory of a
    loop over a long recording grows although little of it is in use.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return None


def spare_present_objects() -> None:
    """Collects garbage now; the collector skips what is left for ever.

    With torch and ``base`` loaded, a full collection over 170,000 objects stops all threads for
    32 ms on an idle core.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def spared_from_collection() -> Iterator[None]:
    """Context manager for imports: the garbage collector does not run, and later skips the objects.

    Torch and what it imports make 250,000 objects that last as long as the process. Each full
    collection looks at all of them, and so do those of Python's own end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
