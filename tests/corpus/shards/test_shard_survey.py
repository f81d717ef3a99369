"""Surveys of shards: headers and fields alone, bounded memory, never by the main process."""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from shard_material import add, sound, web_shard

from voicenym.corpus.batches.batch import Job
from voicenym.corpus.shards.shard_ledger import ledger_of
from voicenym.corpus.shards.shard_plan import plan_units
from voicenym.corpus.shards.shard_runner import run_shards
from voicenym.corpus.shards.shard_survey import SpeakerChoice, survey
from voicenym.corpus.shards.shard_unit import Unit
from voicenym.corpus.shards.stores import object_store
from voicenym.pseudonym import Key

KEY = Key(bytes(range(100, 132)))
BLOCK = 8192
"""Bytes that Python reads of a file at a time."""


class Counting:
    """A file that counts what is read of it, by the blocks that the system gives."""

    def __init__(self, file) -> None:
        self._file = file
        self.blocks: set[int] = set()

    def read(self, size: int = -1) -> bytes:
        start = self._file.tell()
        data = self._file.read(size)
        self.blocks.update(range(start // BLOCK, (start + len(data)) // BLOCK + 1))
        return data

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str):
        return getattr(self._file, name)


@pytest.fixture
def opened(monkeypatch) -> list[Counting]:
    """Files that surveys have opened."""
    found: list[Counting] = []
    real = object_store.open_read

    def open_read(*arguments):
        found.append(Counting(real(*arguments)))
        return found[-1]

    monkeypatch.setattr(object_store, "open_read", open_read)
    return found


def tar(path: Path, seconds: float, count: int = 8) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as file:
        for number in range(count):
            add(file, f"utt{number}.wav", sound(number, seconds))
            add(file, f"utt{number}.json", json.dumps({"speaker": f"s{number % 2}"}).encode())
    return path


def unit_of(path: Path, kind: str) -> Unit:
    return Unit(str(path), f"{path}.new", path.name, kind)


def test_a_survey_of_a_tar_reads_headers_and_fields_however_long_the_recordings_are(
    opened, tmp_path
):
    surveys = []
    for seconds in (5.0, 20.0):
        path = tar(tmp_path / f"{seconds}/a.tar", seconds)
        surveys.append(survey(unit_of(path, "tar"), SpeakerChoice(), lenient=False))
    assert surveys[0].people == {f"utt{number}": f"s{number % 2}" for number in range(8)}
    assert surveys[0].people == surveys[1].people
    short, long = (len(file.blocks) for file in opened)
    # of each member at most the blocks around its header, and around the fields
    assert long <= 6 * 16
    assert long <= short + 16
    assert long * BLOCK < (tmp_path / "20.0/a.tar").stat().st_size / 6


def test_a_survey_of_parquet_reads_the_column_of_speakers(opened, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as arrow

    rows = [{"audio": os.urandom(40_000), "speaker_id": f"s{n % 2}"} for n in range(60)]
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.Table.from_pylist(rows), path, row_group_size=30)
    found = survey(unit_of(path, "parquet"), SpeakerChoice(), lenient=False)
    assert found.people == {f"row {number}": f"s{number % 2}" for number in range(60)}
    (file,) = opened
    assert len(file.blocks) * BLOCK < 0.2 * path.stat().st_size


def test_a_survey_keeps_names_and_no_fields(tmp_path):
    words = "x" * 100_000
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        for number in range(60):
            add(file, f"utt{number:02}.wav", b"")
            fields = {"speaker": f"s{number}", "text": words}
            add(file, f"utt{number:02}.json", json.dumps(fields).encode())
    tracemalloc.start()
    try:
        found = survey(unit_of(tmp_path / "a.tar", "tar"), SpeakerChoice(), lenient=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.people) == 60
    assert peak < 10 * len(words)  # and not 60 times


def read_by_this_process() -> int:
    """Bytes that this thread has read, from files and pipes."""
    lines = Path("/proc/thread-self/io").read_text().splitlines()  # without its workers
    return int(lines[0].split(":")[1])


@pytest.mark.skipif(sys.platform != "linux", reason="counts by /proc")
@pytest.mark.usefixtures("real_workers")
@pytest.mark.parametrize("fields", [True, False])
def test_the_main_process_reads_no_shard(tmp_path, fields):
    """Neither where fields name the speakers, nor where each recording is one of its own."""
    read = {}
    for name, seconds in (("short", 0.5), ("long", 30.0)):
        for number in range(3):
            path = tmp_path / name / f"in/{number}.tar"
            path.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(path, "w") as file:
                add(file, f"utt{number}.wav", sound(number, seconds))
                if fields:
                    add(file, f"utt{number}.json", b'{"speaker": "ann"}')
        out = tmp_path / name / "out"
        plan = plan_units([str(tmp_path / name / "in")], str(out))
        job = Job("mcadams", {}, KEY, log=out / "voicenym.jsonl")
        state = ledger_of(str(out), [unit.name for unit in plan.units])
        before = read_by_this_process()
        summary = run_shards(job, plan.units, state, SpeakerChoice(), 2)
        read[name] = read_by_this_process() - before
        assert (summary.done, summary.failures) == (3, [])
    speech = sum(p.stat().st_size for p in (tmp_path / "long/in").iterdir())
    assert read["long"] - read["short"] < 0.05 * speech


def test_a_survey_that_fails_is_the_failure_of_its_shard(tmp_path):
    web_shard(tmp_path / "in/a.tar", range(2))
    (tmp_path / "in/b.tar").write_bytes(b"no tar at all" * 100)
    web_shard(tmp_path / "in/c.tar", range(2, 4))
    plan = plan_units([str(tmp_path / "in")], str(tmp_path / "out"))
    job = Job("mcadams", {}, KEY, log=tmp_path / "out/voicenym.jsonl")
    state = ledger_of(str(tmp_path / "out"), [unit.name for unit in plan.units])
    summary = run_shards(job, plan.units, state, SpeakerChoice(), 1)
    assert summary.done == 2
    ((source, reason),) = summary.failures
    assert source.endswith("b.tar")
    assert "is no whole tar" in reason
