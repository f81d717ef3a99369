"""Folder of weights that are not bundled."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "VOICENYM_WEIGHTS"


def home() -> Path:
    """Folder of weights: ``$VOICENYM_WEIGHTS``, else ``~/.local/share/voicenym``."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path.home() / ".local" / "share" / "voicenym"
