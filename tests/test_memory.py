"""Objects that garbage collection skips."""

from __future__ import annotations

import gc

import pytest

from voicenym.memory import spared_from_collection


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
