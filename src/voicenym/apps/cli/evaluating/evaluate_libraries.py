"""Check that the libraries of the extra ``evaluate`` are installed, before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from voicenym.errors import DependencyError


def check_libraries(command: str, needed: Sequence[str]) -> None:
    """Refuses a command that would end half-way for want of a library.

    Args:
        command: as typed, such as ``evaluate``.
        needed: names of modules.

    Raises:
        DependencyError: some are not installed; with the command that installs them.
    """
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise DependencyError(
            f"voicenym {command} needs {' and '.join(missing)}: pip install 'voicenym[evaluate]'"
        )
