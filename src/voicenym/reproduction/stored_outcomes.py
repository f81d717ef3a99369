"""Outcomes that come with the package, written by ``voicenym reproduce --update``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from voicenym.reproduction.outcome import Outcome

OUTCOMES = Path(__file__).parent / "outcomes.json"


def load(file: Path = OUTCOMES) -> dict[str, Outcome]:
    """Outcomes by the table's key, such as ``turner-2022 table-1``; none without a file."""
    if not file.is_file():
        return {}
    data = json.loads(file.read_text("utf-8"))
    return {key: Outcome.from_plain(one) for key, one in data.items()}


def store(found: Mapping[str, Outcome], file: Path = OUTCOMES) -> Path:
    """Puts outcomes into the file, in place of earlier ones of the same tables; others stay.

    An interrupted run leaves the file as it was.
    """
    data = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    data.update({key: outcome.plain() for key, outcome in found.items()})
    lines = [
        f" {json.dumps(key)}: {json.dumps(data[key], ensure_ascii=False, sort_keys=True)}"
        for key in sorted(data)
    ]
    temporary = file.with_suffix(".tmp")
    temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    temporary.replace(file)
    return file
