"""State of a server, and the way of a recording through it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from voicenym.apps.serve.forms.multipart_upload import Upload
from voicenym.apps.serve.forms.people_choice import FIELDS as PEOPLE_FIELDS
from voicenym.apps.serve.forms.people_choice import people_of
from voicenym.apps.serve.forms.setting_fields import flag_of, is_unicode, settings_of
from voicenym.apps.serve.job_runner import JobRunner, Progress
from voicenym.apps.serve.job_store import DONE, FAILED, RUNNING, AuditStore, Job, JobStore
from voicenym.apps.serve.job_task import Task
from voicenym.apps.serve.key_store import KeyStore
from voicenym.apps.serve.live_processes.live_runner import LiveRunner
from voicenym.apps.serve.live_processes.live_sessions import LiveLimits, LiveSessions
from voicenym.apps.serve.server_metrics import ServerMetrics
from voicenym.apps.serve.speakers_task import SpeakersTask
from voicenym.apps.serve.task_outcome import Outcome
from voicenym.apps.web.problem_details import Problem, busy, is_defect, problem_of_any
from voicenym.apps.web.quiet_log import LOGGER, defect_lines
from voicenym.apps.web.upload_folder import UploadFolder
from voicenym.apps.web.work_slots import WorkSlots
from voicenym.corpus import DEFAULT_FALLBACK, DEFAULT_SYSTEM, NO_FALLBACK
from voicenym.pseudonym import Key

FIELDS = ("system", "settings", "speaker", "key_id", "fallback", "audit", *PEOPLE_FIELDS)
"""Text fields of an upload."""
MOST_SPEAKER = 256
MOST_COUNT = 20
"""Speakers of a recording that are asked for."""
MOST_DIGITS = 4
"""Of their number; Python reads no number of thousands of digits."""
FORGET_SECONDS = 30.0
"""Between looks for results that nobody fetched."""
RETRY_SECONDS = 5.0
"""Between attempts to start a first worker."""


@dataclass(frozen=True)
class WorkLimits:
    """Limits of work on one recording, and of all together.

    Args:
        workers: recordings in work at once.
        waiting: recordings that wait at most.
        recording_seconds: of a recording of one request.
        job_seconds: of a recording of a job.
        work_seconds: of a worker.
        memory: bytes of a worker beyond its start.
    """

    workers: int = 2
    waiting: int = 16
    recording_seconds: float = 600.0
    job_seconds: float = 4 * 3600.0
    work_seconds: float = 3600.0
    memory: int = 3 << 30


@dataclass
class Service:
    """State of a server.

    Args:
        uploads: private folder of recordings.
        keys: of the clients.
        cards: of the systems, as JSON objects with a ``name`` each.
        limits: of work.
        live_limits: of live sessions.

    Attributes:
        is_ready: whether a worker has started, so that a request need not wait for the imports.
    """

    uploads: UploadFolder
    keys: KeyStore
    cards: list[dict[str, Any]]
    limits: WorkLimits = field(default_factory=WorkLimits)
    live_limits: LiveLimits = field(default_factory=LiveLimits)

    def __post_init__(self) -> None:
        self.live, self.live_runner = LiveSessions(self.live_limits), LiveRunner()
        self.runner = JobRunner(self.limits.work_seconds, self.limits.workers)
        self.slots = WorkSlots(self.limits.workers, self.limits.waiting)
        self.jobs = JobStore(self.uploads.wipe)
        self.audits = AuditStore()
        self.metrics = ServerMetrics()
        watch = self.metrics.watch
        watch("work_running", "Recordings in work.", lambda: self.slots.running)
        watch("work_queued", "Recordings that wait.", lambda: self.slots.queued)
        watch("live_sessions", "Live sessions.", lambda: len(self.live))
        watch("jobs", "Jobs that are kept.", lambda: len(self.jobs))
        watch("workers_killed", "Workers that ended without an answer.", lambda: self.runner.killed)
        self.is_ready = self._is_ending = False
        self._names = {card["name"] for card in self.cards}
        self._background: set[asyncio.Task[None]] = set()

    async def get_ready(self) -> None:
        """Notes when workers start and confine themselves; until then it tries again.

        A signal that ends the server may end the copied process first, as systemd does: a failure
        is only said when the server still runs at the next attempt.
        """
        while not await self.runner.can_work(self.limits.memory):
            await asyncio.sleep(RETRY_SECONDS)
            if self._is_ending:
                return
            logging.getLogger(LOGGER).error("no worker process could be started; trying again")
        self.is_ready = not self._is_ending

    async def task_of(self, owner: str, upload: Upload, is_job: bool = False) -> Task:
        """Task of an upload.

        Raises:
            Problem: unknown systems, keys, or settings.
        """
        fields = {name: text for name, text in upload.fields.items() if text}
        system = fields.get("system", DEFAULT_SYSTEM)
        fallback = fields.get("fallback", DEFAULT_FALLBACK)
        self.check_system(system)
        if fallback != NO_FALLBACK:
            self.check_system(fallback)
        settings = settings_of(fields.get("settings", "{}"))
        speaker = fields.get("speaker")
        self.check_speaker(speaker)
        key_id = fields.get("key_id")
        key = Key.generate() if key_id is None else self.keys.key(owner, key_id)
        people = await asyncio.to_thread(people_of, fields, key, upload.path)
        self.check_key_id(speaker, key_id)
        if speaker is None:
            from voicenym.corpus.readers.speaker_rule import own

            speaker = await asyncio.to_thread(own, upload.path)
        limits = self.limits
        return Task(
            upload.path,
            upload.path.parent,
            upload.suffix,
            system,
            settings,
            key.pseudonym(speaker),
            fallback=fallback,
            seconds=limits.job_seconds if is_job else limits.recording_seconds,
            memory=limits.memory,
            cpu_seconds=int(limits.work_seconds) + 1,
            audit=flag_of(fields.get("audit", "false")),
            people=people,
        )

    def speakers_task_of(self, upload: Upload) -> SpeakersTask:
        """Task of finding the speakers of an upload.

        Raises:
            Problem: a number of speakers that cannot be.
        """
        text = upload.fields.get("speakers") or None
        count = None
        if text is not None:
            count = int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else 0
            if not 1 <= count <= MOST_COUNT:
                raise Problem(
                    422,
                    "speakers is no number of speakers.",
                    f"Send 1 to {MOST_COUNT}, or leave it out to find the number.",
                )
        limits = self.limits
        return SpeakersTask(
            upload.path,
            upload.path.parent,
            count,
            limits.recording_seconds,
            limits.memory,
            int(limits.work_seconds) + 1,
        )

    async def find_speakers(self, task: SpeakersTask) -> dict[str, Any]:
        """Finds the speakers of a recording when it is its turn.

        Raises:
            Problem: too much work, or what the worker says.
        """
        async with self.slots.slot():
            return await self.runner.find_speakers(task)

    def check_system(self, name: str) -> None:
        """Raises a problem for a system that is not in the list."""
        if name not in self._names:
            raise Problem(
                422, "There is no such system.", f"Use one of {', '.join(sorted(self._names))}."
            )

    def check_speaker(self, speaker: str | None) -> None:
        """Raises a problem for a name that is too long, or no text."""
        if speaker is None:
            return
        if len(speaker) > MOST_SPEAKER:
            raise Problem(
                422, "The speaker's name is too long.", f"Use at most {MOST_SPEAKER} characters."
            )
        if not is_unicode(speaker):
            raise Problem(422, "The speaker's name is no Unicode text.", "Use another name.")

    def check_key_id(self, speaker: str | None, key_id: str | None) -> None:
        """Raises a problem for a name without a key: a fresh key gives it another voice each time,
        where the client expects the one of before.
        """
        if speaker is not None and key_id is None:
            raise Problem(
                422,
                "speaker names a voice of a key, and there is no key_id.",
                "Send key_id, of POST /v1/keys/{key_id}, or leave speaker out for a fresh voice.",
            )

    async def anonymize(
        self,
        task: Task,
        progress: Progress = lambda done, of: None,
        begun: Callable[[], None] = lambda: None,
    ) -> Outcome:
        """Anonymizes a recording when it is its turn.

        Raises:
            Problem: too much work, or what the worker says.
        """
        started, result = time.monotonic(), "refused"
        try:
            async with self.slots.slot():
                begun()
                outcome = await self.runner.run(task, progress)
            self.metrics.speech.labels(outcome.system).inc(outcome.seconds)
            result = "done"
            return outcome
        except asyncio.CancelledError:
            result = "given up"
            raise
        finally:
            self.metrics.seconds.labels(result).observe(time.monotonic() - started)

    def start_job(self, owner: str, folder: Path, task: Task) -> Job:
        """Begins a job; its folder is wiped with it.

        Raises:
            Problem: the server is ending.
        """
        if self._is_ending:
            raise _ending()
        job = Job(owner, folder)
        self.jobs.add(job)
        job.task = asyncio.get_running_loop().create_task(self._run_job(job, task))
        self._background.add(job.task)
        job.task.add_done_callback(self._background.discard)
        return job

    async def _run_job(self, job: Job, task: Task) -> None:
        def report(done: float, of: float | None) -> None:
            job.done, job.of = done, of
            job.change()

        def begun() -> None:
            job.status = RUNNING
            job.change()

        try:
            job.outcome = await self.anonymize(task, report, begun)
        except asyncio.CancelledError:
            self.uploads.wipe(job.folder)
            raise
        except Exception as error:
            job.problem = problem_of_any(error)
            if is_defect(error):
                logging.getLogger(LOGGER).error("defect: %s", defect_lines(error))
            self.uploads.wipe(job.folder)
            self.jobs.end(job, FAILED)
            return
        task.source.unlink(missing_ok=True)  # the original goes at once
        job.done = job.of = job.outcome.seconds
        job.audit_id = self.keep_audit(job.owner, job.outcome)
        self.jobs.end(job, DONE)

    def keep_audit(self, owner: str, outcome: Outcome) -> str | None:
        """Id of the audit of an outcome; None without one."""
        if outcome.audit is None:
            return None
        return self.audits.add(owner, {"system": outcome.system, **outcome.audit})

    async def forget_unfetched(self) -> None:
        """Wipes results that nobody fetched, for as long as the server runs."""
        while True:
            await asyncio.sleep(FORGET_SECONDS)
            self.jobs.expire()

    def end(self) -> None:
        """Ends all jobs, whose results nobody could fetch any more: the server is asked to end, and
        takes no connection from now on. Requests that wait for their answer go on.
        """
        if not self.is_ready:  # nothing that waits for a worker would be done in time
            self.runner.end_copying()
        self._is_ending, self.is_ready = True, False
        self.jobs.end_all(_ending())

    async def close(self) -> None:
        """Cancels all jobs, and starts no worker any more."""
        self.runner.end_copying()
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self.runner.close()
        await asyncio.to_thread(partial(self.uploads.close))


def _ending() -> Problem:
    return busy("The server is ending, and its jobs with it.", 5.0)
