"""Threads of a live session: what they change in the interpreter, and that it is undone."""

from __future__ import annotations

import gc
import os
import sys
import threading

import pytest

from voicenym.live.steady_threads import SWITCH_SECONDS, steady, step_below


def test_objects_of_before_are_out_of_collection_and_the_interval_comes_back():
    before, frozen = sys.getswitchinterval(), gc.get_freeze_count()
    kept = [[] for _ in range(100)]
    with steady():
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS, rel=0.01)
        assert gc.get_freeze_count() >= frozen + len(kept)
    assert sys.getswitchinterval() == before
    assert gc.isenabled()


@pytest.mark.skipif(sys.platform != "linux", reason="real-time priorities of Linux")
@pytest.mark.parametrize(("given", "left"), [(5, 4), (1, 1), (0, 0)])
def test_a_worker_of_real_time_priority_steps_below_the_devices(given, left):
    found, refused = [], []

    def run():
        try:
            policy = os.SCHED_FIFO if given else os.SCHED_OTHER
            os.sched_setscheduler(0, policy, os.sched_param(given))
        except PermissionError:
            refused.append(True)
            return
        step_below()
        found.append(os.sched_getparam(0).sched_priority)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if refused:
        pytest.skip("this user may not have real-time priority")
    assert found == [left]
