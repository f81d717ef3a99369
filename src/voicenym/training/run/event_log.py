"""TensorBoard log of a training, without which the training goes on.

TensorBoard writes from a thread of its own, so that an error, such as that of a folder that was
removed or of a full disk, reaches the training at a later call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import TensorBoardLogger

NAME = "log"
"""Folder of the log in that of a training."""


class EventLog(TensorBoardLogger):
    """Lightning's TensorBoard logger, which stops at the first file error and says so once.

    Args:
        folder: of the training.
        say: receives the message.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        super().__init__(folder, name=NAME, version="")
        self._path, self._say, self._lost = folder / NAME, say, False

    @property
    def experiment(self) -> Any:
        """TensorBoard's writer, by which Lightning and modules write."""
        return _Writer(self, super().experiment)

    def attempt(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Calls the writer, unless the log is lost."""
        if self._lost:
            return None
        try:
            return call(*args, **options)
        except OSError as error:
            self._lost = True
            self._say(
                f"{self._path}: cannot be written ({error.strerror or error}); the training goes "
                "on without this log"
            )
            return None


class _Writer:
    """A writer whose methods are called by :meth:`EventLog.attempt`."""

    def __init__(self, log: EventLog, writer: Any) -> None:
        self._log, self._writer = log, writer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._writer, name)
        if not callable(found):
            return found
        return lambda *args, **options: self._log.attempt(found, *args, **options)


@contextmanager
def quiet_threads() -> Iterator[None]:
    """Context manager in which Python prints no traceback of an error of files in TensorBoard's
    thread, since the next call of the writer raises it.
    """
    before = threading.excepthook

    def hook(args: Any) -> None:
        of_log = type(args.thread).__module__.startswith("tensorboard")
        if not (of_log and issubclass(args.exc_type, OSError)):
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before
