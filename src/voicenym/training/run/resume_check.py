"""Check that a resumed run has the settings of its start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.private import private_folder, write_private
from voicenym.training.run.fit import LAST
from voicenym.training.run.former_run_names import present_or_former

SETTINGS_FILE, FORMER_FILE = "settings.json", "begun.json"
"""File of a run's settings; and its name in runs of earlier releases."""


def check_resume(folder: Path, settings: Mapping[str, Any]) -> None:
    """Writes a run's settings, or compares them with those of its start.

    Args:
        folder: of the run.
        settings: values that may not change, fit for JSON.

    Raises:
        VoicenymError: a setting has changed, or the file cannot be written.
    """
    path = present_or_former(folder, SETTINGS_FILE, FORMER_FILE)
    now = json.loads(json.dumps(dict(settings)))
    try:
        if (folder / f"{LAST}.ckpt").exists() and path.exists():
            before = json.loads(path.read_text("utf-8"))
            for name in now:
                if name in before and before[name] != now[name]:
                    raise VoicenymError(
                        f"{folder}: its training started with {name} {_short(before[name])}, and "
                        f"this is {_short(now[name])}; give that one, or choose another folder"
                    )
        private_folder(folder)
        write_private(path, json.dumps(now, indent=2) + "\n")
    except OSError as error:
        raise VoicenymError(f"{folder}: {error.strerror}; choose another folder") from error


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
