"""The mapping file of a renamed corpus: original and output of each recording."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from voicenym.audio.atomic import AtomicFile
from voicenym.corpus.plans.file_plan import Item
from voicenym.errors import AudioError, CorpusError

_MODE = 0o600


def check_place(path: Path, output: Path) -> None:
    """Refuses a path that is published with the corpus, or holds another file.

    Args:
        path: where the mapping is to be written.
        output: folder of the corpus.

    Raises:
        CorpusError: the path is refused.
    """
    if path.resolve().is_relative_to(output.resolve()):
        raise CorpusError(
            f"{path}: lies in the output folder, with which it would be passed on; keep the "
            "mapping beside the key"
        )
    if not path.parent.is_dir():
        raise CorpusError(f"{path}: its folder does not exist; create the folder first")
    _read(path)


def write(path: Path, items: Iterable[Item]) -> None:
    """Writes ``{"input", "speaker", "output"}``, a line for each existing output; mode 0600.

    Paths are absolute, so that the mapping is read from any folder. Lines of an earlier run about
    other outputs stay.

    Args:
        path: of the mapping.
        items: of the corpus.

    Raises:
        CorpusError: it cannot be written.
    """
    lines = _read(path)
    for item in items:
        if item.target.is_file():
            lines.pop(str(item.target), None)  # earlier versions wrote paths as given
            source, output = item.source, os.path.abspath(item.target)
            lines[output] = {
                "input": os.path.abspath(source) if isinstance(source, Path) else str(source),
                "speaker": item.speaker,
                "output": output,
            }
    try:
        file = AtomicFile(path, overwrite=True, mode=_MODE)
        try:
            with open(file.temporary, "w", encoding="utf-8", errors="surrogateescape") as text:
                text.writelines(f"{json.dumps(lines[o])}\n" for o in sorted(lines))
            file.commit()
        finally:
            file.discard()
    except (OSError, AudioError) as error:
        raise CorpusError(
            f"{path}: the mapping cannot be written ({error}); the outputs are there: make room, "
            "and give the same command with the same --key again (without one, with --overwrite)"
        ) from None


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The lines of an earlier mapping by output."""
    try:
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {line["output"]: {k: str(v) for k, v in line.items()} for line in found}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(
            f"{path}: exists already and is no mapping of ours; choose another name"
        ) from None
