"""Anonymizes one shard, or one recording of a store, in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, ClassVar

from voicenym.audio.atomic import temporary_folder
from voicenym.audio.container_files.containers import output_suffix
from voicenym.corpus.batches.batch import WorkerSettings
from voicenym.corpus.batches.batch_task import SystemFailure, in_words, loaded, taken
from voicenym.corpus.batches.single_file import anonymize_file, anonymize_unnamed, sha256_of
from voicenym.corpus.excerpt import cut_out
from voicenym.corpus.machine_errors import of_machine
from voicenym.corpus.run_records import run_state
from voicenym.corpus.shards.formats import shar_shard
from voicenym.corpus.shards.formats.shard_sample import Assignment, NamedRecording, Rewritten
from voicenym.corpus.shards.output_place import OutputPlace
from voicenym.corpus.shards.shard_source import LastRecording, packed_as, plain_file
from voicenym.corpus.shards.shard_survey import READERS, SpeakerChoice, Survey, survey
from voicenym.corpus.shards.shard_unit import RECORDING, Unit, version_of
from voicenym.corpus.shards.stores import object_store, store_locations
from voicenym.errors import CorpusError, DependencyError, UnknownSystemError, WeightsError
from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class SurveyTask:
    """A unit whose speakers are not known yet."""

    is_long: ClassVar[bool] = True
    unit: Unit


@dataclass(frozen=True)
class ShardTask:
    """A unit with the voices of its samples; a worker has no key.

    Args:
        unit: the shard.
        assigned: voices and new names by sample.
        compare: whether an output that exists may be of this run.
    """

    is_long: ClassVar[bool] = True
    unit: Unit
    assigned: dict[str, Assignment]
    compare: bool = False


@dataclass(frozen=True)
class ShardOutcome:
    """A finished unit.

    Args:
        unit: the shard.
        result: what was written; None if nothing was.
        reason: of the failure; None without one.
        sha256: of the output.
        skipped: whether the output was there, equal to that of this run.
        version: of the input, as of :func:`voicenym.corpus.shards.stores.object_store.identity`.
        written: likewise of an output in a store; None for a file.
        table: likewise of the new cuts of a Shar; None for others.
    """

    unit: Unit
    result: Rewritten | None = None
    reason: str | None = None
    sha256: str = ""
    skipped: bool = False
    version: str | None = None
    written: str | None = None
    table: str | None = None


class ShardWorker:
    """Surveys and anonymizes unit after unit with one system.

    Args:
        settings: of the batch.
        choice: speakers, and fields that travel.

    Raises:
        VoicenymError: the system cannot be loaded.
    """

    def __init__(self, settings: WorkerSettings, choice: SpeakerChoice) -> None:
        import torch

        torch.set_num_threads(1)  # the same bits for any number of workers
        self._settings, self._choice = settings, choice
        self._last = LastRecording()
        self._system = loaded(settings.system, settings.parameters)
        other = settings.fallback
        self._fallback = None if other is None else loaded(other.system, other.parameters)

    def __call__(self, task: SurveyTask | ShardTask) -> Survey | ShardOutcome:
        """Surveys one unit, or anonymizes it; its output appears whole, or not at all.

        Raises:
            SystemFailure: weights or a package that the system needs are missing.
        """
        unit = task.unit
        if isinstance(task, SurveyTask):
            return self._survey(unit)
        try:
            version = version_of(unit)  # before it is read: what replaces it then is seen as new
            with ExitStack() as stack:
                return self._write(task, self._source(unit, stack), version, stack)
        except SystemFailure:
            raise
        except (WeightsError, DependencyError, UnknownSystemError) as error:
            raise SystemFailure(str(error)) from error
        except Exception as error:
            return ShardOutcome(unit, None, _in_place(unit, error))

    def _source(self, unit: Unit, stack: ExitStack) -> Path | BinaryIO:
        """File of a unit, or what is to be anonymized of it."""
        part = unit.passage
        if part is None:
            return stack.enter_context(plain_file(unit.source))
        whole: Path | BinaryIO = Path(unit.source)
        if store_locations.is_url(unit.source):
            whole = self._last.open(unit.source, object_store.identity(unit.source))
        return cut_out(
            whole,
            part.name,
            part.start,
            part.end,
            channels=part.channels,
            lenient=self._settings.lenient,
            label=unit.source,
            where="its table",
        )

    def _survey(self, unit: Unit) -> Survey | ShardOutcome:
        try:
            return survey(unit, self._choice, self._settings.lenient)
        except DependencyError as error:
            raise SystemFailure(str(error)) from error
        except CorpusError as error:
            return ShardOutcome(unit, None, str(error))
        except OSError as error:
            return ShardOutcome(unit, None, f"{unit}: {error.strerror}; check its permissions")
        except Exception as error:
            return ShardOutcome(unit, None, _in_place(unit, error))

    def _write(
        self, task: ShardTask, source: Path | BinaryIO, version: str | None, stack: ExitStack
    ) -> ShardOutcome:
        unit, overwrite = task.unit, self._settings.overwrite
        places = [OutputPlace(target, overwrite, stack) for target in unit.targets]
        for place in places:
            if place.there and not task.compare:
                return ShardOutcome(unit, None, taken(place.target))
        done = self._rewrite(task, source, [place.made for place in places])
        if not done.recordings:
            return ShardOutcome(unit, None, _nothing(unit, done))
        sha256 = sha256_of(places[0].made)
        for place in places:  # the table of a Shar comes last: without it there is no shard
            if not place.settle(self._settings.opaque):
                return ShardOutcome(unit, None, taken(place.target))
        first = places[0]
        written = object_store.identity(unit.target) if first.remote else None
        table = None if unit.table is None else object_store.identity(unit.table[1])
        there = all(place.there for place in places)
        return ShardOutcome(unit, done, None, sha256, there, version, written, table)

    def _rewrite(self, task: ShardTask, source: Path | BinaryIO, targets: list[Path]) -> Rewritten:
        unit, target = task.unit, targets[0]
        if unit.kind == RECORDING:
            return self._recording(task, source, target)
        assert isinstance(source, Path)
        with ExitStack() as stack:
            plain = stack.enter_context(packed_as(target, unit.name))
            file = stack.enter_context(open(source, "rb"))
            folder = stack.enter_context(temporary_folder(target.parent))
            voice = partial(self._voice, folder)
            more = {"lenient": self._settings.lenient, "opaque": self._settings.opaque}
            if unit.table is None:
                reader = READERS[unit.kind]
                return reader.rewrite(
                    file, unit.source, plain, task.assigned, self._choice.fields, voice, **more
                )
            table = stack.enter_context(plain_file(unit.table[0]))
            both = (plain, targets[1])
            return shar_shard.rewrite(
                file, unit.source, table, both, task.assigned, self._choice.fields, voice, **more
            )

    def _recording(self, task: ShardTask, source: Path | BinaryIO, target: Path) -> Rewritten:
        done = Rewritten()
        (assigned,) = task.assigned.values()
        result = anonymize_file(
            self._system,
            assigned.pseudonym,
            source,
            target,
            name=str(task.unit),
            overwrite=True,  # of the temporary file
            lenient=self._settings.lenient,
            fallback=self._fallback,
        )
        done.recordings, done.seconds = 1, result.duration
        done.form = result.rate, result.channels
        done.warnings += result.warnings
        done.refused += result.refusal is not None
        return done

    def _voice(
        self,
        folder: Path,
        place: str,
        data: bytes,
        suffix: str,
        pseudonym: Pseudonym,
        done: Rewritten,
    ) -> bytes:
        """The anonymized recording of a shard.

        Args:
            folder: a private one, for partial files.

        Raises:
            CorpusError: it cannot be anonymized.
            SystemFailure: none can.
        """
        try:
            made = anonymize_unnamed(
                self._system,
                pseudonym,
                NamedRecording(data, place),
                folder / f"sound{output_suffix(suffix)}",
                name=place,
                lenient=self._settings.lenient,
                fallback=self._fallback,
            )
            sound, result = made.taken(), made.result
        except (WeightsError, DependencyError, UnknownSystemError) as error:
            raise SystemFailure(str(error)) from error
        except Exception as error:
            if of_machine(error):  # a shard without this recording would be taken for whole
                raise
            reason = in_words(error)
            raise CorpusError(reason if place in reason else f"{place}: {reason}") from None
        done.seconds += result.duration
        done.warnings += result.warnings
        done.refused += result.refusal is not None
        return sound


def prepare(
    settings: WorkerSettings, choice: SpeakerChoice, log: Path | None
) -> Callable[[SurveyTask | ShardTask], Survey | ShardOutcome]:
    """Makes a worker in its process, which joins the run of the output folder."""
    run_state.join(log)
    return ShardWorker(settings, choice)


def _in_place(unit: Unit, error: Exception) -> str:
    reason = in_words(error)
    return reason if unit.source in reason or unit.target in reason else f"{unit}: {reason}"


def _nothing(unit: Unit, done: Rewritten) -> str:
    first = next(iter(done.failures.values()), "it holds no recordings")
    return f"{unit}: nothing of it can be anonymized; the first reason: {first}"
