"""Where weights lie that do not come with the package, unless a folder is named."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "VOICENYM_WEIGHTS"


def home() -> Path:
    """The folder of folders of weights: ``$VOICENYM_WEIGHTS``, else ``~/.local/share/voicenym``."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path.home() / ".local" / "share" / "voicenym"
