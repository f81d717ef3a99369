"""Collects the recordings that a run over a corpus leaves out, with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from voicenym.errors import (
    AudioError,
    CorpusError,
    DependencyError,
    KeyFileError,
    UnknownSystemError,
    VoicenymError,
    WeightsError,
    counted,
    printable,
)

if TYPE_CHECKING:
    from voicenym.corpus.workers.worker_pool import Death

WHOLE_RUN = (DependencyError, KeyFileError, UnknownSystemError, WeightsError)
"""Errors that concern the whole run and end it."""
MOST_LISTED = 20
"""Most entries of a list in a terminal."""


@dataclass(frozen=True)
class Omission:
    """A recording that was left out.

    Args:
        name: of the recording within its corpus.
        reason: in a sentence.
        step: that failed on it, such as a system's name; empty if it could not be read.
    """

    name: str
    reason: str
    step: str = ""

    def __str__(self) -> str:
        file = PurePath(self.reason.partition(":")[0])
        text = self.reason if file.stem == self.name else f"{self.name}: {self.reason}"
        return printable(f"{self.step}: {text}" if self.step else text)


class LeftOut:
    """Collects recordings that are left out, each once for a step.

    Args:
        fail_fast: raise at the first failure instead.
        say: called with each one when it is found.

    Example:
        >>> left = LeftOut()
        >>> left.add("anna-1", "anna-1.wav: is empty (0 bytes)")
        >>> print(left.summary())
        1 recording was left out:
          anna-1.wav: is empty (0 bytes)
    """

    def __init__(self, fail_fast: bool = False, say: Callable[[str], None] | None = None) -> None:
        self.fail_fast = fail_fast
        self._say = say
        self._found: dict[tuple[str, str], Omission] = {}
        self._noting: list[dict[tuple[str, str], Omission]] = []

    def add(self, name: str, reason: str, step: str = "") -> None:
        """Records that a recording is left out.

        Raises:
            AudioError: the first failure, if it ends the run.
        """
        omission = Omission(name, reason, step)
        if self.fail_fast:
            raise AudioError(str(omission))
        for noted in self._noting:
            noted.setdefault((name, step), omission)
        if (name, step) not in self._found:
            self._found[name, step] = omission
            if self._say is not None:
                self._say(f"left out: {omission}")

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Omission]:
        return iter(self._found.values())

    def named(self, step: str = "") -> set[str]:
        """Names of recordings that a step failed on."""
        return {name for name, failed in self._found if failed == step}

    @contextmanager
    def noting(self) -> Iterator[Mapping[tuple[str, str], Omission]]:
        """Context that notes what is added within it, also what was known before, by the name of
        the recording and the step: what else has to be told where its result is used again.
        """
        noted: dict[tuple[str, str], Omission] = {}
        self._noting.append(noted)
        try:
            yield noted
        finally:
            self._noting.pop()

    def add_again(self, omissions: Sequence[Sequence[str]]) -> None:
        """Adds what :meth:`noting` noted in an earlier run.

        Args:
            omissions: name, reason and step of each.

        Raises:
            AudioError: as :meth:`add`.
        """
        for name, reason, step in omissions:
            self.add(name, reason, step)

    def summary(self, most: int = MOST_LISTED) -> str:
        """Number of recordings left out, and a line for each of the first ones."""
        count = len(self)
        head = f"{counted(count, 'recording was', 'recordings were')} left out:"
        lines = [f"  {omission}" for omission in list(self)[:most]]
        if count > most:
            lines.append(f"  ... and {count - most} more")
        return "\n".join([head, *lines])

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Context in which errors about a corpus also list the recordings that were left out of
        it.
        """
        try:
            yield
        except VoicenymError as error:
            if not len(self) or self.fail_fast:
                raise
            told = type(error)(f"{error}\n{self.summary()}")
            told.details = (str(error), *self.summary().splitlines())
            raise told from error


STRICT: LeftOut = LeftOut(fail_fast=True)
"""A collector that leaves nothing out: the first failure is raised."""


def reason(error: Exception | Death, name: str) -> str:
    """Reason for leaving a recording out.

    Args:
        error: that was raised while it was read or processed; or the death of the process that
            processed it alone.
        name: of the recording.

    Raises:
        VoicenymError: the error itself, if it concerns the whole run.
    """
    from voicenym.corpus.workers.worker_pool import Death

    if isinstance(error, WHOLE_RUN):
        raise error
    if isinstance(error, Death):
        cure = "use a machine with more memory" if error.killed else "report this as a defect"
        return f"{error}, also when it was tried again alone; leave {name} out, or {cure}"
    if isinstance(error, VoicenymError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for it; cut it in parts, or leave it out"
    text = " ".join(str(error).split())[:200]
    kind = type(error).__name__
    return f"{kind}{f' ({text})' if text else ''}; leave {name} out, and report this as a defect"


def nothing_left(count: int, reasons: Mapping[str, str]) -> CorpusError:
    """Error for the case that all of several recordings failed."""
    name, why = next(iter(reasons.items()))
    if count == 1:
        return CorpusError(f"the only recording cannot be used; {name}: {why}")
    return CorpusError(f"none of the {count} recordings can be used; the first, {name}: {why}")
