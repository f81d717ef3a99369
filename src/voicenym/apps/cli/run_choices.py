"""What ``voicenym anonymize`` chooses where an option is not given: the key and the workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.apps.cli import measured
from voicenym.errors import KeyFileError

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer
    from voicenym.apps.cli.batch_report import Messages
    from voicenym.corpus.file_plan import Item
    from voicenym.pseudonym import Key

USUAL_SPEED = 20.0
"""Seconds of speech in a second, of systems without a figure."""
KEY_VARIABLE = "VOICENYM_KEY_FILE"


def workers_of_run(items: list[Item], anonymizer: Anonymizer) -> int:
    """Number of processes that pay; one on an accelerator."""
    from voicenym.corpus.cpu_count import cores
    from voicenym.corpus.worker_count import workers_that_pay

    if anonymizer.device != "cpu":
        return 1
    return workers_that_pay(items, measured.speed(anonymizer.card) or USUAL_SPEED, cores())


def key_of_run(path: Path | None, say: Messages) -> tuple[Key, bool]:
    """Key of the run, and whether it is stored: of the option, the environment, or a fresh one.

    Raises:
        KeyFileError: the file is no key, or cannot be read.
    """
    from voicenym.pseudonym import Key, readable_by_others

    if path is None and os.environ.get(KEY_VARIABLE):
        path = Path(os.environ[KEY_VARIABLE])
    if path is None:
        return Key.generate(), False
    key = Key.load(path)
    try:
        if readable_by_others(path):
            say.warn(f"{path}: others can read this key; close it with: chmod 600 {path}")
    except OSError as error:
        raise KeyFileError(f"{path}: cannot read the key file ({error.strerror})") from None
    return key, True
