"""The command over shards, with a key and one worker."""

from __future__ import annotations

import pytest

from voicenym.pseudonym import Key


@pytest.fixture
def anonymize(command, tmp_path):
    """``anonymize(...)``: the command with a key and one worker."""
    path = tmp_path / "project.key"
    Key(bytes(range(100, 132))).save(path)
    return lambda *arguments: command(
        "anonymize", "--key", path, "--system", "mcadams", "--workers", "1", *arguments
    )
