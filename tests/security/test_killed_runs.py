"""A run that is killed at any moment is finished by the next one, as if nothing had been."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym.audio.atomic import AtomicFile, sweep, temporary_folder
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans import timestamps
from voicenym.corpus.plans.file_plan import plan, renamed
from voicenym.corpus.run_records.run_lock import LOCK_NAME
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
KEY = Key(bytes(32))


@pytest.fixture
def corpus(tmp_path) -> Path:
    for number, name in enumerate(("ann/1.wav", "ann/2.flac", "bob/1.wav", "bob/2.ogg")):
        time = np.arange(3200) / 16_000
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        sound = 0.1 * np.sign(np.sin(2 * np.pi * (100 + 10 * number) * time))
        soundfile.write(path, sound, 16_000)
    # What a process imports and compiles once is there before it is forked.
    go(tmp_path / "in", tmp_path / "warm")
    return tmp_path / "in"


def go(corpus: Path, out: Path, rename: bool = False, **options):
    items = plan([corpus], out)
    items = renamed(items, KEY, out) if rename else items
    job = Job("mcadams", {}, KEY, log=out / "voicenym.jsonl", opaque=rename)
    return run(job, items, **options)


def tree(out: Path) -> dict[str, bytes]:
    """All there is, hidden files too."""
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def forked(body: Callable[[], None]) -> int:
    """Run in a child; its status, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            os._exit(3)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def wait_for(condition: Callable[[], bool]) -> None:
    """Until the condition holds; background flushes have no other sign of their end."""
    while not condition():
        time.sleep(0.01)


class Steps:
    """Counts what a process does to files below a folder, and kills it before the n-th step.

    Steps are file operations of Python (audit events), the start and the end of synchronising, and
    writes of the log: before, half way, and after. Outputs are flushed in other threads, so that
    the n-th step may be another one in the next run; no count is lost.
    """

    def __init__(self, folder: Path, last: int | None) -> None:
        self.folder, self.last, self.count = str(folder), last, 0
        self._lock = threading.Lock()

    def step(self) -> None:
        with self._lock:
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        fsync, write = os.fsync, os.write

        def counted_fsync(file):
            self.step()
            fsync(file)
            self.step()

        def counted_write(file, data):
            self.step()
            written = write(file, data[: len(data) // 2])
            self.step()
            written += write(file, data[len(data) // 2 :])
            self.step()
            return written

        os.fsync, os.write = counted_fsync, counted_write
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple) -> None:
        if event == "open" or event.startswith(("os.", "fcntl.flock")):
            named = any(isinstance(a, (str, Path)) and self.folder in str(a) for a in arguments)
            if named or event == "fcntl.flock":
                self.step()


def killed_at(corpus: Path, out: Path, last: int | None, rename: bool) -> tuple[int, int]:
    """Status of a run that is killed before its n-th step, and the steps that it did."""
    ours, theirs = os.pipe()

    def body() -> None:
        steps = Steps(out, last)
        steps.install()
        go(corpus, out, rename)
        steps.last = None
        os.write(theirs, str(steps.count).encode())

    status = forked(body)
    os.close(theirs)
    given = os.read(ours, 100)
    os.close(ours)
    return status, int(given or 0)


@pytest.mark.parametrize("rename", [False, True])
def test_a_run_killed_at_any_step_is_finished_by_the_next(corpus, tmp_path, rename):
    whole = tmp_path / "whole"
    status, steps = killed_at(corpus, whole, None, rename)
    assert status == 0
    assert steps > 60
    reference = tree(whole)
    assert len(reference) == 5
    moments = sorted(random.Random(18).sample(range(1, steps + 1), 9))
    for moment in moments:
        out = tmp_path / f"killed-{moment}"
        assert killed_at(corpus, out, moment, rename)[0] == -signal.SIGKILL
        assert forked(lambda out=out: finish(corpus, out, rename)) == 0, moment
        assert tree(out) == reference, moment
        if rename:
            found = [out, *out.rglob("*")]
            assert {p.stat().st_mtime for p in found} == {timestamps.CONSTANT}, moment


def finish(corpus: Path, out: Path, rename: bool) -> None:
    summary = go(corpus, out, rename)
    assert not summary.failures, summary.failures
    assert summary.done + summary.skipped == 4


def test_a_run_killed_again_and_again_gets_there(corpus, tmp_path):
    assert forked(lambda: finish(corpus, tmp_path / "whole", False)) == 0
    out, draw = tmp_path / "out", random.Random(7)
    killed = 0
    while killed_at(corpus, out, draw.randint(20, 60), False)[0] == -signal.SIGKILL:
        killed += 1
        assert killed < 40
    assert killed >= 2
    assert tree(out) == tree(tmp_path / "whole")


def test_half_a_recording_is_never_there(corpus, tmp_path):
    """Killed while sound is written: what is at the output's name is whole, or nothing."""
    out = tmp_path / "out"

    recordings = itertools.count(1)  # progress is called once for each: they have one block

    def progress(seconds: float) -> None:
        if next(recordings) < 3:
            return
        wait_for(lambda: len(list(out.rglob("[12].*"))) == 2)  # named beside the third
        os.kill(os.getpid(), signal.SIGKILL)

    assert forked(lambda: go(corpus, out, progress=progress)) == -signal.SIGKILL
    names = [p.name for p in out.rglob("*") if p.is_file()]
    assert any(".voicenym-" in name for name in names)
    done = {p for p in tree(out) if Path(p).name[0] in "12"}
    finish(corpus, out, False)
    assert len(done) == 2
    go(corpus, tmp_path / "whole")
    assert tree(out) == tree(tmp_path / "whole")


def test_a_line_is_logged_when_its_output_is_on_the_disk(corpus, tmp_path, monkeypatch):
    """The order of a file: its data, its name, its folder, and only then its line."""
    out, events = tmp_path / "out", []
    fsync, append = os.fsync, RunLog.append
    real = {"link": os.link, "replace": os.replace}

    def flushed(file):
        place = os.readlink(f"/proc/self/fd/{file}")
        events.append(("folder" if os.path.isdir(place) else "data", place))
        fsync(file)

    def named(name):
        def spy(source, target, **more):
            events.append(("name", f"{source} {target}"))
            return real[name](source, target, **more)

        return spy

    monkeypatch.setattr(os, "fsync", flushed)
    for name in real:
        monkeypatch.setattr(os, name, named(name))
    monkeypatch.setattr(
        RunLog, "append", lambda self, line: (events.append(("line", line)), append(self, line))[1]
    )
    go(corpus, out)
    # outputs are flushed beside each other: the order is that of each file alone
    names = [(at, *text.split()) for at, (kind, text) in enumerate(events) if kind == "name"]
    *outputs, log = names
    assert len(outputs) == 4
    lines = [at for at, (kind, _) in enumerate(events) if kind == "line"]
    assert len(lines) == 4
    for at, temporary, target in outputs:
        (line,) = [n for n in lines if os.path.relpath(target, out) in str(events[n][1])]
        assert events.index(("data", temporary)) < at
        assert ("folder", os.path.dirname(target)) in events[at:line]
    assert [kind for kind, _ in events[max(lines) + 1 :]] == ["data", "name", "folder"]  # the log
    assert log[2].endswith(".jsonl")


def test_a_log_cut_anywhere_is_mended(corpus, tmp_path):
    out = tmp_path / "out"
    go(corpus, out)
    reference = tree(out)
    log = out / "voicenym.jsonl"
    whole = log.read_bytes()
    for length in random.Random(3).sample(range(len(whole)), 12):
        log.write_bytes(whole[:length])
        finish(corpus, out, False)
        assert tree(out) == reference


def test_two_runs_at_once_are_refused_and_a_dead_one_does_not_count(corpus, tmp_path):
    out = tmp_path / "out"
    ready, go_on = os.pipe(), os.pipe()

    def waiting(outcome) -> None:
        os.write(ready[1], b"x")
        os.read(go_on[0], 1)

    child = os.fork()
    if child == 0:
        go(corpus, out, report=waiting)
        os._exit(0)
    try:
        os.read(ready[0], 1)
        # outputs made before it waited get their names beside it
        wait_for(lambda: not list(out.rglob(".voicenym-*.tmp*")))
        before = tree(out)
        with pytest.raises(CorpusError, match=rf"another run .*process {child} on .*wait until"):
            go(corpus, out)
        assert tree(out) == before
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for file in (*ready, *go_on):
            os.close(file)
    assert (out / LOCK_NAME).exists()
    finish(corpus, out, False)
    assert not (out / LOCK_NAME).exists()


def test_temporary_files_of_the_dead_go_and_those_of_the_living_stay(tmp_path):
    def leave() -> None:
        AtomicFile(tmp_path / "dead.wav", overwrite=False)
        with temporary_folder(tmp_path) as folder:
            (folder / "x").write_bytes(b"x")
            os.kill(os.getpid(), signal.SIGKILL)

    assert forked(leave) == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    other = tmp_path / ".voicenym-notes.txt"
    other.write_text("of the user")
    living = AtomicFile(tmp_path / "living.wav", overwrite=False)
    with temporary_folder(tmp_path) as folder:
        sweep(tmp_path)
        assert set(tmp_path.iterdir()) == {other, living.temporary, folder}
    living.commit()
    sweep(tmp_path)
    assert set(tmp_path.iterdir()) == {other, tmp_path / "living.wav"}


@pytest.mark.slow
@pytest.mark.parametrize(("group", "workers"), [(True, 2), (False, 1)])
def test_processes_of_the_command_killed_for_real(corpus, tmp_path, command, group, workers):
    """The main process, or it and its workers, by SIGKILL once the log has a line; as many workers
    finish the run, or fewer.
    """
    for path in list(corpus.rglob("*.wav")):
        for number in range(6):
            (path.parent / f"more{number}{path.name}").write_bytes(path.read_bytes())
    KEY.save(tmp_path / "k")
    out = tmp_path / "out"
    line = ["anonymize", str(corpus), "-o", str(out), "-s", "mcadams", "--key", str(tmp_path / "k")]
    process = subprocess.Popen(
        [sys.executable, "-m", "voicenym", *line, "--workers", "2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # a line a file
    if group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    process.stderr.close()
    done = command(*line, "--workers", workers)
    assert done.returncode == 0, done.stderr.decode()
    go(corpus, tmp_path / "whole")
    there, whole = tree(out), tree(tmp_path / "whole")
    logs = [t.pop("voicenym.jsonl").decode().splitlines() for t in (there, whole)]
    assert there == whole  # the same bytes, nothing more, for any number of workers
    outputs = [[json.loads(line)["output"] for line in log] for log in logs]
    assert outputs[0] == outputs[1] == sorted(set(outputs[1]))
