"""Number of processors of a process with a limited affinity, and in a container with a quota."""

import os
from pathlib import Path

import pytest

from voicenym.corpus.workers.cpu_count import cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound here")
def test_only_the_processors_granted_count():
    granted = os.sched_getaffinity(0)
    assert cores(Path("none")) == len(granted)
    try:
        os.sched_setaffinity(0, {min(granted)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, granted)


@pytest.mark.parametrize(
    ("text", "most"),
    [("max 100000", 10**6), ("150000 100000", 2), ("50000 100000", 1), ("", 10**6)],
)
def test_a_quota_of_a_container_counts(tmp_path, text, most):
    quota = tmp_path / "cpu.max"
    quota.write_text(text + "\n")
    assert cores(quota) == min(most, cores(tmp_path / "none"))
