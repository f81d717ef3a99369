"""Parallel work is bounded."""

from __future__ import annotations

import asyncio

import pytest

from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.work_slots import WorkSlots


def test_some_work_some_wait_and_the_rest_is_refused():
    async def many():
        slots, leave, most = WorkSlots(2, 3), asyncio.Event(), []

        async def work():
            async with slots.slot():
                most.append(slots.running)
                await leave.wait()
            return True

        tasks = [asyncio.create_task(work()) for _ in range(7)]
        for _ in range(10):
            await asyncio.sleep(0)
        assert (slots.running, slots.queued) == (2, 3)
        leave.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert max(most) == 2
        assert (slots.running, slots.queued) == (0, 0)
        return done

    done = asyncio.run(many())
    assert done.count(True) == 5
    refused = [one for one in done if isinstance(one, Problem)]
    assert [one.status for one in refused] == [503, 503]
    assert all(int(one.headers["Retry-After"]) >= 1 for one in refused)


def test_a_slot_at_once_does_not_wait():
    async def one():
        slots = WorkSlots(1, 3, seconds=2.0)
        async with slots.slot_at_once():
            assert slots.running == 1
            with pytest.raises(Problem) as caught:
                await slots.slot_at_once().__aenter__()
            assert caught.value.status == 503
            assert caught.value.headers["Retry-After"] == "2"
        async with slots.slot_at_once():
            assert (slots.running, slots.queued) == (1, 0)
        assert slots.running == 0

    asyncio.run(one())


def test_who_leaves_the_queue_frees_its_place():
    async def leaving():
        slots = WorkSlots(1, 1)
        async with slots.slot():
            waiting = asyncio.create_task(slots.slot().__aenter__())
            await asyncio.sleep(0)
            with pytest.raises(Problem):
                slots.check()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            slots.check()

    asyncio.run(leaving())
