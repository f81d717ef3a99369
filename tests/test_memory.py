"""Objects that garbage collection skips, and freed memory that is returned."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from voicenym.memory import return_freed_blocks, spared_from_collection


@pytest.fixture(autouse=True)
def _thawed():
    yield
    gc.unfreeze()


def test_objects_of_the_block_are_skipped_and_later_ones_are_not():
    with spared_from_collection():
        assert not gc.isenabled()
        lasting = [[]]
    assert gc.isenabled()
    later = [[]]
    seen = {id(one) for one in gc.get_objects()}
    assert id(lasting) not in seen
    assert id(later) in seen


def test_the_collector_runs_again_after_an_error_and_stays_off_where_it_was():
    with pytest.raises(ValueError), spared_from_collection():
        raise ValueError
    assert gc.isenabled()
    gc.disable()
    try:
        with spared_from_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def resident() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_freed_memory_between_kept_objects_is_returned():
    blocks = [bytearray(60_000) for _ in range(2_000)]  # below the size that is mapped alone
    kept = blocks[::50]
    before = resident()
    del blocks
    return_freed_blocks()
    assert len(kept) == 40
    assert resident() < before - 60_000_000
