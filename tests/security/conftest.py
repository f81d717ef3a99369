"""Guarded commands among recordings, and the package's modules."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import soundfile
from guarded import Guard, modules

CONSOLE = """import re
import sys
from voicenym.__main__ import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit(main())
"""
"""What pip writes for the command ``voicenym``."""
STUB = "import re\nimport sys\n"
"""What of that runs before any line of ours."""
TINY = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
seconds: 0.4
batch: 8
speeds: [1.0]
every: 2
"""


@pytest.fixture(scope="session")
def sources() -> list[tuple[Path, ast.AST]]:
    """Every module of the package, parsed."""
    return list(modules())


@pytest.fixture(scope="session")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    """A guard; in its folder seven speakers who buzz, three recordings each, with texts."""
    found = Guard(tmp_path_factory.mktemp("guard"))
    time = np.arange(9_600) / 16_000
    for speaker in range(7):
        for take in range(3):
            rng = np.random.default_rng([speaker, take])
            pitch = 90.0 * 1.15**speaker
            sound = sum(np.sin(2 * np.pi * k * pitch * time + k) / k for k in range(1, 9))
            place = found.folder / "corpus" / f"s{speaker}" / f"{take}.wav"
            place.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(place, 0.1 * sound + 0.01 * rng.standard_normal(9_600), 16_000)
            place.with_suffix(".txt").write_text("the cat")
    (found.folder / "tiny.yaml").write_text(TINY)
    return found


@pytest.fixture(scope="session")
def console(guard: Guard, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """The command as pip installs it, and what of it is not ours."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "voicenym").write_text(CONSOLE)
    (folder / "stub").write_text(STUB)
    return [str(guard.python), str(folder / "voicenym")], [str(guard.python), str(folder / "stub")]
