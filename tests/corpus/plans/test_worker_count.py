"""Workers that pay: closed form by sizes, limits of processors and memory, nothing opened."""

from pathlib import Path

import pytest

from voicenym.corpus.batches import engines
from voicenym.corpus.batches.engines import LOCAL, engine_of, workers_of
from voicenym.corpus.plans import worker_count
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.plans.worker_count import (
    CODED_BYTES,
    PCM_BYTES,
    START_SECONDS,
    WORKER_BYTES,
    workers_that_pay,
    workers_to_evaluate,
)


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    monkeypatch.setattr(worker_count, "_free_memory", lambda: 2**62)


def items(folder, count, seconds, suffix=".wav", rate=PCM_BYTES):
    """Sparse files of so many bytes, which no decoder would accept."""
    found = []
    for number in range(count):
        path = folder / f"{number}{suffix}"
        with path.open("wb") as file:
            file.truncate(round(seconds * rate))
        found.append(Item(path, path.with_suffix(".out"), "s", str(number)))
    return found


@pytest.mark.parametrize(
    ("count", "seconds", "cores", "workers"),
    [
        (3, 10.0, 16, 1),  # 3 s of work at ten times real time
        (4, 10.0, 16, 2),  # 4 s: two workers of 2 s each
        (100, 10.0, 16, 16),
        (100, 10.0, 2, 2),
        (100, 10.0, 1, 1),
        (2, 1000.0, 16, 2),
        (1, 1000.0, 16, 1),
        (0, 1.0, 16, 1),
    ],
)
def test_each_worker_works_at_least_as_long_as_it_starts(tmp_path, count, seconds, cores, workers):
    assert START_SECONDS == 2.0
    assert workers_that_pay(items(tmp_path, count, seconds), 10.0, cores) == workers


def test_a_slower_system_and_compressed_sound_need_more_workers(tmp_path):
    some = items(tmp_path, 8, 10.0)
    assert workers_that_pay(some, 100.0, 8) == 1
    assert workers_that_pay(some, 1.0, 8) == 8
    coded = items(tmp_path, 8, 10.0, ".opus", CODED_BYTES)
    assert workers_that_pay(coded, 10.0, 8) == 4
    assert workers_that_pay(coded, 20.0, 8) == 2


class Stretch:
    """A part of a file that nobody may open."""

    path, part = None, ""

    def __init__(self, stretch):
        self.stretch = stretch

    def open(self, lenient=False):
        raise AssertionError("nothing is opened")


def test_parts_of_files_count_by_their_times(tmp_path):
    parts = [Item(Stretch((5.0, 15.0)), tmp_path / f"{n}", "s", str(n)) for n in range(4)]
    assert workers_that_pay(parts, 10.0, 8) == 2
    endless = [Item(Stretch((5.0, None)), tmp_path / f"{n}", "s", str(n)) for n in range(400)]
    assert workers_that_pay(endless, 10.0, 8) == 1


def test_missing_files_are_left_to_their_turn(tmp_path):
    gone = [Item(tmp_path / f"{n}.wav", tmp_path / f"{n}.out", "s", str(n)) for n in range(9)]
    assert workers_that_pay(gone, 1.0, 8) == 1


def test_memory_limits_the_workers(tmp_path, monkeypatch):
    some = items(tmp_path, 100, 10.0)
    monkeypatch.setattr(worker_count, "_free_memory", lambda: 3_100_000_000)
    assert workers_that_pay(some, 1.0, 8) == 2
    monkeypatch.setattr(worker_count, "_free_memory", lambda: 100)
    assert workers_that_pay(some, 1.0, 8) == 1


def test_available_memory_is_read_or_unlimited(tmp_path, monkeypatch):
    monkeypatch.undo()
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  24000 kB\nMemAvailable:   1000 kB\n")
    assert worker_count._free_memory(told) == 1_024_000
    for text in ("", "MemAvailable: many kB\n", "MemAvailable:\n"):
        told.write_text(text)
        assert worker_count._free_memory(told) == 2**62
    assert worker_count._free_memory(Path(tmp_path / "none")) == 2**62


@pytest.mark.parametrize(
    ("recordings", "cores", "workers"),
    [(0, 8, 1), (63, 8, 1), (64, 8, 2), (1000, 8, 8), (1000, 1, 1), (100, 8, 3)],
)
def test_an_evaluation_has_a_worker_for_each_so_many_recordings(recordings, cores, workers):
    assert workers_to_evaluate(recordings, cores) == workers


def test_an_evaluation_has_no_more_workers_than_fit_into_memory(monkeypatch):
    monkeypatch.setattr(worker_count, "_free_memory", lambda: 3 * WORKER_BYTES)
    assert workers_to_evaluate(1000, 8) == 3
    monkeypatch.setattr(worker_count, "_free_memory", lambda: 0)
    assert workers_to_evaluate(1000, 8) == 1


def test_who_names_no_number_of_workers_gets_those_that_pay(monkeypatch):
    monkeypatch.setattr(engines, "cores", lambda: 8)
    ray, cluster = engine_of("ray"), engine_of("ray", "host:6379")
    assert [workers_of(LOCAL, None, count) for count in (10, 1000)] == [1, 8]
    assert [workers_of(one, None, 10) for one in (ray, cluster)] == [8, 0]
    assert [workers_of(one, 3, 1000) for one in (LOCAL, ray, cluster)] == [3, 3, 3]
    assert workers_of(LOCAL, None, 1000, "cuda") == 1, "workers would share its memory"
