"""Number of processors of a process with a limited CPU affinity."""

import os

import pytest

from voicenym.training.run.cpu_count import cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound here")
def test_only_the_processors_granted_count():
    granted = os.sched_getaffinity(0)
    assert cores() == len(granted)
    try:
        os.sched_setaffinity(0, {min(granted)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, granted)
