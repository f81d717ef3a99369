"""The mapping file of a renamed corpus: original and output of each recording."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from voicenym.audio.atomic import PRIVATE, AtomicFile
from voicenym.corpus.plans.file_plan import Item
from voicenym.errors import AudioError, CorpusError


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


@contextmanager
def kept(path: Path | None, items: Sequence[Item]) -> Iterator[Callable[[], None]]:
    """Context manager of a run that keeps a mapping: ``{"input", "speaker", "output"}``, a line for
    each existing output; mode 0600.

    With a fresh key, the mapping is all that links outputs to originals. The lines of all outputs
    are therefore written before the first output is: a run that is killed, or whose disk is full,
    leaves some lines too many and none too few. Afterwards only those of existing outputs stay.
    Paths are absolute, so that the mapping is read from any folder. Lines of an earlier run stay.

    Args:
        path: of the mapping; None keeps none.
        items: of the corpus.

    Returns:
        What to call before the first output, once it is certain that the run is not refused: a
        refused run changes nothing.

    Raises:
        CorpusError: it cannot be written; before the run, then there is no output.
    """
    if path is None:
        yield lambda: None
        return
    state = _Mapping(path, items)
    try:
        yield state.begin
    except BaseException:
        with suppress(CorpusError):  # the first failure is told; all lines are there
            state.finish()
        raise
    state.finish()


class _Mapping:
    """The lines of a run and of earlier ones.

    Args:
        path, items: as of :func:`kept`.
    """

    def __init__(self, path: Path, items: Sequence[Item]) -> None:
        self._path, self._items = path, items
        self._before: dict[str, dict[str, str]] | None = None

    def begin(self) -> None:
        """Writes lines for all outputs, also for those to come."""
        earlier, before = _read(self._path), os.path.lexists(self._path)
        try:
            self._write({**earlier, **dict(map(_line, self._items))})
        except (OSError, AudioError) as error:
            raise CorpusError(
                f"{self._path}: the mapping cannot be written ({error}); nothing was anonymized: "
                "make room, or name another file with --mapping"
            ) from None
        self._before, self._was_there = earlier, before

    def finish(self) -> None:
        """Leaves lines for existing outputs alone; nothing where the run was refused."""
        if self._before is None:
            return
        lines = dict(self._before)
        for item in self._items:
            if item.target.is_file():
                lines.pop(str(item.target), None)  # earlier versions wrote paths as given
                output, line = _line(item)
                lines[output] = line
        try:
            if lines or self._was_there:
                self._write(lines)
            else:
                self._path.unlink(missing_ok=True)
        except (OSError, AudioError) as error:
            raise CorpusError(
                f"{self._path}: has lines of all outputs, also of those that were not made, and "
                f"cannot be written anew ({error}); keep it, make room, and give the same command "
                "with the same --key again"
            ) from None

    def _write(self, lines: Mapping[str, Mapping[str, str]]) -> None:
        """Replaces the file at once.

        Raises:
            OSError, AudioError: it cannot be written; the file of before is there.
        """
        file = AtomicFile(self._path, overwrite=True, mode=PRIVATE)
        try:
            with open(file.temporary, "w", encoding="utf-8", errors="surrogateescape") as text:
                text.writelines(f"{json.dumps(lines[o])}\n" for o in sorted(lines))
            file.commit()
        finally:
            file.discard()


def _line(item: Item) -> tuple[str, dict[str, str]]:
    """The absolute path of an output, and the line of the mapping about it."""
    source, output = item.source, os.path.abspath(item.target)
    return output, {
        "input": os.path.abspath(source) if isinstance(source, Path) else str(source),
        "speaker": item.speaker,
        "output": output,
    }


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
