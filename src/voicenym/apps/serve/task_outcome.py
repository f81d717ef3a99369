"""What became of a recording, as a worker tells it and the server checks it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicenym.apps.web.problem_details import for_requests

MOST_TEXT = 64 << 10
"""Characters of all that a worker says beside its output: the server keeps it in memory, for jobs
and audits.
"""
_OUTPUT = re.compile(r"(output|converted)\.[A-Za-z0-9]{1,8}")


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Args:
        path: of the output, in the task's folder.
        seconds: of the recording.
        rate: in Hz.
        channels: of the recording.
        system: that made the output.
        refusal: why it was not the chosen one; empty if it was.
        warnings: sentences.
        audit: of :func:`voicenym.evaluation.recording_audit.audit`, as JSON; None without one.
        is_film: whether the output has a picture.
    """

    path: Path
    seconds: float
    rate: int
    channels: int
    system: str
    refusal: str = ""
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, Any] | None = field(default=None, repr=False)
    is_film: bool = False


def outcome_of(value: Mapping[str, Any], folder: Path, systems: Collection[str]) -> Outcome:
    """Outcome that a worker tells, checked: its output is a file of the request's folder, and its
    system, which metrics show to every client, one of those asked for.

    Args:
        value: what the worker tells.
        folder: of the request.
        systems: names of those that may have made the output.

    Raises:
        ValueError: it is no outcome.
    """
    try:
        path, system, seconds = folder / value["path"], value["system"], float(value["seconds"])
        if not _OUTPUT.fullmatch(value["path"]) or path.is_symlink() or not path.is_file():
            raise ValueError("no output")
        if system not in systems or not math.isfinite(seconds) or seconds < 0.0:
            raise ValueError("no system or length of this request")
        if len(json.dumps(value)) > MOST_TEXT:
            raise ValueError("too much to keep")
        return Outcome(
            path,
            seconds,
            int(value["rate"]),
            int(value["channels"]),
            str(system),
            for_requests(str(value["refusal"])),
            tuple(for_requests(str(warning)) for warning in value["warnings"]),
            None if value["audit"] is None else dict(value["audit"]),
            value["is_film"] is True,
        )
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError("no outcome") from error
