"""Names of earlier releases: parts of run states, and files and folders of runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def rename_state(checkpoint: dict[str, Any], former: Mapping[str, str]) -> None:
    """Renames parts of a checkpoint of an earlier release to their present names, in place.

    Args:
        checkpoint: of Lightning, with ``state_dict``.
        former: present prefixes of parameters by former ones.
    """
    state = checkpoint["state_dict"]
    for name in list(state):
        for old, new in former.items():
            if name.startswith(old):
                state[new + name.removeprefix(old)] = state.pop(name)


def present_or_former(folder: Path, name: str, former: str) -> Path:
    """Path of a file or folder of a run, under its former name if only that exists.

    Args:
        folder: of the run.
        name: present name.
        former: name in earlier releases.
    """
    present, earlier = folder / name, folder / former
    return earlier if earlier.exists() and not present.exists() else present
