"""Refuses to continue a corpus with another revision or other weights than those of its log."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from voicenym.errors import CorpusError
from voicenym.pseudonym import FIRST_REVISION

WRITTEN_BEFORE: Mapping[str, Any] = {"revision": FIRST_REVISION, "weights": ""}
"""Revision of log lines without one."""


def check_log(
    log: Path | None,
    stamp: Mapping[str, Any],
    replaced: Collection[Path] = (),
    fallback: Mapping[str, Any] | None = None,
) -> None:
    """Checks that a run gives the speakers of a corpus the voices that its log records.

    Args:
        log: of earlier runs; None, or a missing file, without any.
        stamp: of this run: ``system``, ``key_check``, ``revision``, ``derivation``, ``weights``.
        replaced: outputs that this run overwrites.
        fallback: stamp of the run's fall-back, ``system``, ``revision`` and ``weights``; None
            without one.

    Raises:
        CorpusError: recordings there were made with the same key and system, and another revision,
            derivation or other weights.
    """
    if log is None or not log.is_file():
        return
    gone = {os.path.relpath(path, log.parent) for path in replaced}
    last: dict[str, dict[str, Any]] = {}
    for text in log.read_text("utf-8", "replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue  # the last line of a run that was killed, or a stranger's
        if isinstance(line, dict) and isinstance(line.get("output"), str):
            last[line["output"]] = line
    stamps = [stamp] if fallback is None else [stamp, {**stamp, "weights": "", **fallback}]
    for output, line in last.items():
        if output in gone or "sha256" not in line:
            continue
        if isinstance(line.get("fallback"), dict):
            line = {**line, "weights": "", **line["fallback"]}
        for own in stamps:
            if any(line.get(name) != own[name] for name in ("system", "key_check")):
                continue
            for name in ("revision", "derivation", "weights"):
                before, now = (d.get(name, WRITTEN_BEFORE.get(name)) for d in (line, own))
                if before != now:
                    raise CorpusError(_message(log, output, name, before, now, str(own["system"])))


def _message(log: Path, output: str, name: str, before: Any, now: Any, system: str) -> str:
    cure = {
        "revision": f"go on with the key file as it was then, or with --set revision={before}",
        "derivation": "go on with the release that made them",
        "weights": "go on with the weights that made them",
    }[name]
    return (
        f"{log}: {output} was made with {name} {before or '(none)'} of {system}, and this run has "
        f"{now or '(none)'}, so that one speaker would get two voices; {cure}, or write to a new "
        "folder"
    )
