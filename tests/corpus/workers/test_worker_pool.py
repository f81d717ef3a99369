"""Worker pool: answers, processes, and tasks of processes that die.

Most tasks are expressions, which the workers evaluate.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sys

import pytest

from voicenym.corpus.workers.worker_pool import AHEAD, LATER, Death, Pool
from voicenym.errors import VoicenymError, WeightsError

pytestmark = pytest.mark.usefixtures("real_workers")
KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
PROCESS = "__import__('os').getpid()"

MODULE = '''
import functools, os, signal, time
from pathlib import Path
from voicenym.errors import VoicenymError


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def prepare(folder):
    (Path(folder) / f"worker.{os.getpid()}").touch()
    return functools.partial(work, Path(folder))


def work(folder, number):
    """Squares; 3 kills every process that tries it, and 5 the first one."""
    others = [int(p.suffix[1:]) for p in folder.glob("worker.*")]
    others = [process for process in others if process != os.getpid() and alive(process)]
    with open(folder / "attempts", "a") as file:
        file.write(f"{number} {len(others)}\\n")
    if number == 3:
        kill()
    if number == 5 and not (folder / "once").exists():
        (folder / "once").touch()
        kill()
    return number * number


class Odd(Exception):
    """Can be pickled, but not be made again from what was pickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class OddOfOurs(VoicenymError):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def wait_for(path, last, number):
    if number == last:
        path.touch()
    for _ in range(60_000 if number == 0 else 0):
        if path.exists():
            return number
        time.sleep(0.01)
    return -1 if number == 0 else number


def fail(error, *arguments):
    raise error(*arguments)


class Deadly:
    """Kills the process that unpickles it."""

    def __reduce__(self):
        return kill, ()
'''


@pytest.fixture
def lethal(tmp_path, monkeypatch):
    """A module that worker processes can import, and that kills them."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "lethal_workers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    yield importlib.import_module("lethal_workers")
    del sys.modules["lethal_workers"]


def evaluating(workers: int = 2) -> Pool:
    return Pool(workers, functools.partial, eval)


def test_every_task_has_its_answer_whatever_becomes_of_the_others():
    tasks = ["1+1", KILL, "2+2", "3+3", KILL, KILL, "4+4"]
    with evaluating() as pool:
        answers = list(pool.answers(tasks))
    assert sorted(a for _, a in answers if not isinstance(a, Death)) == [2, 4, 6, 8]
    assert [t for t, a in answers if isinstance(a, Death)] == [KILL] * 3


def test_tasks_are_drawn_when_there_are_workers_for_them():
    drawn = []

    def tasks():
        for number in range(6):
            drawn.append(number)
            yield str(number)

    with evaluating() as pool:
        for count, _ in enumerate(pool.answers(tasks()), 1):
            assert len(drawn) <= count + 2
    assert len(drawn) == 6


@pytest.mark.parametrize("ahead", [True, False])
def test_a_task_may_follow_from_the_answer_of_another(ahead):
    """Each of three first tasks has one that follows; one of them dies."""
    firsts, follows = [["1+1", KILL, "2+2"], []]

    def tasks():
        drawn = 0
        while drawn < 3 or len(answered) < 3 or follows:
            if follows:
                yield follows.pop(0)
            elif drawn < 3:
                drawn += 1
                yield firsts[drawn - 1]
            else:
                yield LATER

    answered, found = [], []
    with evaluating() as pool:
        for task, answer in pool.answers(tasks(), ahead):
            if task in firsts:
                answered.append(task)
                if not isinstance(answer, Death):
                    follows.append(f"{answer} * 10")
            else:
                found.append(answer)
    assert sorted(found) == [20, 40]


def test_answers_in_order_are_computed_ahead_up_to_a_bound(lethal, tmp_path):
    """The first task waits for the last one that may be done before it has its answer."""
    drawn, last = [], 2 * AHEAD - 1

    def tasks():
        for number in range(3 * last):
            drawn.append(number)
            yield number

    found = []
    with Pool(2, functools.partial, lethal.wait_for, tmp_path / "there", last) as pool:
        for answer in pool.in_order(tasks()):
            found.append(answer)
            assert len(drawn) <= len(found) + 2 * AHEAD
    assert found == drawn == list(range(3 * last))


def test_a_task_that_kills_its_process_is_tried_again_alone(lethal, tmp_path):
    with Pool(2, lethal.prepare, str(tmp_path)) as pool:
        assert list(pool.in_order(range(12))) == [
            Death(-signal.SIGKILL) if number == 3 else number**2 for number in range(12)
        ]
        assert list(pool.in_order(range(3))) == [0, 1, 4], "its processes were replaced"
    lines = (tmp_path / "attempts").read_text().splitlines()
    attempts = [(int(number), int(others)) for number, others in map(str.split, lines)]
    for number in (3, 5):
        tries = [others for one, others in attempts if one == number]
        assert len(tries) == 2, "once among others, once alone, and never again"
        assert tries[1] == 0, "no other process of the pool is there"
    rest = [number for number, _ in attempts[:-3] if number not in (3, 5)]
    assert sorted(rest) == [0, 1, 2, 4, 6, 7, 8, 9, 10, 11], "each of the others once"


def test_a_task_that_kills_while_it_is_unpickled_is_known(lethal):
    with Pool(2, functools.partial, str) as pool:
        found = list(pool.in_order([1, lethal.Deadly(), 2]))
    assert found == ["1", Death(-signal.SIGKILL), "2"]


@pytest.mark.parametrize("order", ["answers", "in_order"])
def test_workers_that_die_at_their_start_end_the_run(order):
    with (
        pytest.raises(VoicenymError, match="end before they begin: its worker process ended"),
        Pool(2, os._exit, 3) as pool,
    ):
        list(getattr(pool, order)([1, 2, 3]))


def test_processes_stay_from_one_call_to_the_next_and_end_with_the_pool(lethal):
    with evaluating() as pool:
        found = {process for _ in range(3) for process in pool.in_order([PROCESS] * 9)}
        assert len(found - {os.getpid()}) in (1, 2), "one may have started too late for any task"
        assert all(lethal.alive(process) for process in found)
    assert not any(lethal.alive(process) for process in found)


def test_an_iteration_that_is_left_does_not_disturb_the_next():
    with evaluating() as pool:
        left = pool.in_order([str(number) for number in range(9)])
        assert next(left) == 0
        assert list(pool.in_order(["'a'", "'b'", "'c'"])) == ["a", "b", "c"]
        with pytest.raises(RuntimeError, match="a later iteration"):
            list(left)
        for _, answer in pool.answers(["1", "__import__('time').sleep(60)"]):
            assert answer == 1
            break
        assert dict(pool.answers(["1", "2"])) == {"1": 1, "2": 2}


def test_exceptions_reach_the_caller_as_they_were_raised(lethal):
    with Pool(2, functools.partial, lethal.fail, WeightsError) as pool:
        with pytest.raises(WeightsError, match=r"^none$"):
            list(pool.in_order(["none"]))
        with pytest.raises(WeightsError, match=r"^none$"):
            list(pool.answers(["none"]))
    with evaluating() as pool:
        with pytest.raises(KeyError, match="stream") as caught:
            list(pool.in_order(["1", "{}['stream']"]))
        assert "in <module>" in caught.value.__notes__[0], "the worker's traceback"
        with pytest.raises(Exception, match="pickle"):
            list(pool.in_order(["lambda: 1"]))
        assert list(pool.in_order(["1", "2"])) == [1, 2]
    with pytest.raises(WeightsError, match="none"), Pool(2, lethal.fail, WeightsError, "none") as p:
        list(p.answers([1]))


def test_exceptions_that_cannot_be_pickled_say_the_same_in_others(lethal):
    for error, kind in ((lethal.Odd, RuntimeError), (lethal.OddOfOurs, VoicenymError)):
        with (
            Pool(1, functools.partial, lethal.fail, error, "this") as pool,
            pytest.raises(kind, match="this and that") as caught,
        ):
            list(pool.in_order(["that"]))
        assert type(caught.value) is kind


def test_workers_that_compute_have_one_thread_and_leave_interrupts_to_the_parent():
    torch = "__import__('torch').get_num_threads()"
    interrupt = "__import__('signal').getsignal(2)"
    with Pool.of(eval, 1) as pool:
        assert list(pool.in_order([torch, interrupt])) == [1, signal.SIG_IGN]


def test_what_a_worker_imports_at_its_start_is_no_garbage():
    with evaluating(1) as pool:
        assert list(pool.in_order(["__import__('gc').get_freeze_count() > 10_000"])) == [True]


def test_a_free_worker_has_its_next_task_before_the_caller_has_the_answer():
    drawn = []

    def tasks():
        for number in range(4):
            drawn.append(number)
            yield str(number)

    for ahead in (False, True):
        with evaluating(1) as pool:
            for count, _ in enumerate(pool.answers(tasks(), ahead), 1):
                assert len(drawn) == min(4, count + ahead)
        drawn.clear()


@pytest.mark.parametrize(
    ("code", "words"),
    [(-9, "killed"), (-11, "crashed (SIGSEGV)"), (3, "status 3"), (None, "its worker died")],
)
def test_a_death_in_words(code, words):
    assert words in str(Death(code))
