"""Names that earlier releases wrote: parts of run states, and files and folders of runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def rename_state(checkpoint: dict[str, Any], former: Mapping[str, str]) -> None:
    """Give parts of a checkpoint of an earlier release their present names, in place.

    Args:
        checkpoint: as of Lightning, with ``state_dict``.
        former: prefixes of parameters, to those of now.
    """
    state = checkpoint["state_dict"]
    for name in list(state):
        for old, new in former.items():
            if name.startswith(old):
                state[new + name.removeprefix(old)] = state.pop(name)


def present_or_former(folder: Path, name: str, former: str) -> Path:
    """The path of a file or folder of a run, by its former name where only that exists.

    Args:
        folder: of the run.
        name: of now.
        former: of earlier releases.
    """
    present, earlier = folder / name, folder / former
    return earlier if earlier.exists() and not present.exists() else present
