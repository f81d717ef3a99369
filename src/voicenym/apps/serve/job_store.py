"""Jobs and audits of a server: in memory, each of one owner, forgotten after a while."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicenym.apps.serve.task_outcome import Outcome
from voicenym.apps.web.problem_details import Problem, busy

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
ENDED = (DONE, FAILED)


@dataclass
class Job:
    """A recording that is anonymized after its upload was answered.

    Args:
        owner: of the token that sent it.
        folder: private, with the recording and its output.
        id: secret enough that nobody guesses it.
        status: queued, running, done or failed.
        done: seconds of the recording.
        of: seconds in all; None if unknown.
        outcome: when it is done.
        problem: when it failed.
        ended: time of the end, by the store's clock.
        sent: time at which the result had first been sent whole; None before.
        transfers: number of transfers of the result that go on.
    """

    owner: str
    folder: Path
    id: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    status: str = QUEUED
    done: float = 0.0
    of: float | None = None
    outcome: Outcome | None = None
    problem: Problem | None = None
    ended: float | None = None
    audit_id: str | None = None
    sent: float | None = None
    transfers: int = 0
    task: asyncio.Task[None] | None = field(default=None, repr=False)
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def change(self) -> None:
        """Wakes those who watch the job."""
        self.changed.set()
        self.changed = asyncio.Event()

    def view(self) -> dict[str, Any]:
        """What a client is told."""
        base = f"/v1/jobs/{self.id}"
        return {
            "id": self.id,
            "status": self.status,
            "progress": {"seconds": round(self.done, 3), "of": self.of and round(self.of, 3)},
            "problem": None if self.problem is None else self.problem.body(),
            "system": None if self.outcome is None else self.outcome.system,
            "refusal": (self.outcome and self.outcome.refusal) or None,
            "warnings": list(self.outcome.warnings) if self.outcome else [],
            "audit": self.audit_id,
            "links": {"self": base, "events": f"{base}/events", "result": f"{base}/result"},
        }


class JobStore:
    """Jobs by id.

    Args:
        wipe: of a job's folder.
        each: unfinished or unfetched jobs of an owner; and failed ones, and those whose result was
            sent, which do not count among them and of which the oldest are forgotten first.
        most: unfinished or unfetched jobs of all owners.
        kept_seconds: of ended jobs whose result nobody fetched.
        sent_seconds: of a result that was sent whole: what a server has sent may not arrive.
        clock: seconds.
    """

    def __init__(
        self,
        wipe: Callable[[Path], None],
        each: int = 8,
        most: int = 64,
        kept_seconds: float = 3600.0,
        sent_seconds: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wipe, self._each, self._most = wipe, each, most
        self._kept_seconds, self._sent_seconds = kept_seconds, sent_seconds
        self._clock = clock
        self._jobs: dict[str, Job] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def check(self, owner: str) -> None:
        """Refuses a further job of an owner.

        Raises:
            Problem: 429 or 503.
        """
        self.expire()
        counted = [one for one in self._jobs.values() if one.status != FAILED and one.sent is None]
        own = [job for job in counted if job.owner == owner]
        if len(own) >= self._each:
            ended = [job.ended for job in own if job.ended is not None]
            left = self._kept_seconds - (self._clock() - min(ended) if ended else 0.0)
            wait = max(1, math.ceil(left))
            raise Problem(
                429,
                "There are as many jobs of this token as there may be.",
                f"Fetch or delete one, or send the request again after {wait} s, when a result "
                "that nobody fetched may be forgotten.",
                {"Retry-After": str(wait)},
            )
        if len(counted) >= self._most:
            raise busy("There are as many jobs as there may be.", 10)

    def add(self, job: Job) -> None:
        self._jobs[job.id] = job

    def get(self, owner: str, id: str) -> Job:
        """A job of this owner.

        Raises:
            Problem: 404, also for a job of another owner.
        """
        self.expire()
        job = self._jobs.get(id)
        if job is None or job.owner != owner:
            raise Problem(
                404,
                "There is no such job: it was fetched, deleted or forgotten, or never was.",
                "Send the recording again.",
            )
        return job

    def end(self, job: Job, status: str) -> None:
        """Notes the end of a job."""
        job.status, job.ended = status, self._clock()
        job.change()
        if status == FAILED:
            failed = [one for one in self._jobs.values() if one.status == FAILED]
            self._forget_oldest(failed, job.owner)

    def end_all(self, problem: Problem) -> None:
        """Ends jobs that are not done with a problem; their tasks are cancelled."""
        for job in [one for one in self._jobs.values() if one.status not in ENDED]:
            job.problem = problem
            self.end(job, FAILED)
            if job.task is not None:
                job.task.cancel()

    @contextmanager
    def sending(self, job: Job) -> Iterator[Callable[[], None]]:
        """Context manager of a transfer of a result, which is kept meanwhile; what it gives is
        called when all of the result was sent.
        """
        job.transfers += 1
        try:
            yield lambda: self._note_sent(job)
        finally:
            job.transfers -= 1
            if job.id not in self._jobs:  # some systems keep files that are open
                self._wipe(job.folder)

    def _note_sent(self, job: Job) -> None:
        if job.sent is None:
            job.sent = self._clock()
            sent = [one for one in self._jobs.values() if one.sent is not None]
            self._forget_oldest(sorted(sent, key=lambda one: one.sent or 0.0), job.owner)

    def _forget_oldest(self, jobs: list[Job], owner: str) -> None:
        """Removes all but the last of an owner's jobs."""
        for one in [job for job in jobs if job.owner == owner][: -self._each]:
            self.remove(one)

    def remove(self, job: Job) -> None:
        """Cancels a job and wipes its folder."""
        self._jobs.pop(job.id, None)
        if job.task is not None and not job.task.done():
            job.task.add_done_callback(lambda _: self._wipe(job.folder))
            job.task.cancel()
        else:
            self._wipe(job.folder)
        job.change()

    def expire(self) -> None:
        """Wipes ended jobs that nobody fetched in time, and results that were sent a while ago."""
        now = self._clock()
        for job in list(self._jobs.values()):
            if job.ended is None or job.transfers:
                continue
            if now - job.ended > self._kept_seconds or (
                job.sent is not None and now - job.sent > self._sent_seconds
            ):
                self.remove(job)


class AuditStore:
    """Results of audits by id: figures, no speech.

    Args:
        most: audits of all owners; the oldest are forgotten first.
    """

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._audits: dict[str, tuple[str, dict[str, Any]]] = {}

    def add(self, owner: str, audit: dict[str, Any]) -> str:
        """Stores an audit; returns its id."""
        id = secrets.token_urlsafe(18)
        self._audits[id] = (owner, audit)
        while len(self._audits) > self._most:
            del self._audits[next(iter(self._audits))]
        return id

    def get(self, owner: str, id: str) -> dict[str, Any]:
        """An audit of this owner.

        Raises:
            Problem: 404.
        """
        found = self._audits.get(id)
        if found is None or found[0] != owner:
            raise Problem(
                404, "There is no such audit.", "Send the recording again with audit=true."
            )
        return found[1]

    def forget(self, owner: str, id: str | None) -> None:
        """Removes an audit of this owner; no error if there is none."""
        if id is not None and self._audits.get(id, ("",))[0] == owner:
            del self._audits[id]
