"""Memory of the process: reuse of freed blocks, and objects that garbage collection skips."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

KEPT_BYTES = 33_200_000
"""Block size: after one block of this size was freed, the C library keeps freed blocks of up to
this size for reuse; otherwise it returns them to the system, and new memory is slow.
"""


def keep_freed_blocks() -> None:
    """Allocates and frees a block of :data:`KEPT_BYTES`; smaller blocks are reused afterwards."""
    import torch

    torch.empty(KEPT_BYTES, dtype=torch.uint8)


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
