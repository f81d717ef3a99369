"""Finished parts of an evaluation, stored until its report is written, so that a killed run
resumes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import voicenym
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.measurements.protection import Attacked
from voicenym.evaluation.measurements.utility import Utility
from voicenym.evaluation.results_file import attack_from, figures_from, plain
from voicenym.metrics.metric import Measured
from voicenym.metrics.metric_inputs import Tally
from voicenym.nets.checkpoint import CONFIG, stamp
from voicenym.verification.vector_store import using

TABLE = "CREATE TABLE IF NOT EXISTS parts (id BLOB PRIMARY KEY, content BLOB NOT NULL)"
ELSEWHERE = ("data", "settings", "systems", "only")
"""Fields of a plan on which no part depends."""
OMITTED = "omitted"
"""Array of the recordings that were left out of a part."""


class FinishedParts:
    """Finished attacks and utility figures of a run, in the file of its vectors.

    The key of a part is a digest of everything on which it depends: the plan, the system, the
    attacker, and the source files of this package. Nothing is unpickled. A part keeps the list of
    recordings that were left out of it, too, so that the report of a resumed run names them.

    Args:
        path: of the vectors (:class:`voicenym.verification.vector_store.VectorCache`), which
            exists; None stores nothing.
        plan: of the run; None where nothing is kept.
        say: receives a line when a part is taken from an earlier run.
        left_out: collects the recordings that are left out of the parts, in this run or when they
            were computed; the default raises at the first one.
    """

    def __init__(
        self,
        path: Path | None,
        plan: Plan | None,
        say: Callable[[str], None],
        left_out: LeftOut = STRICT,
    ) -> None:
        self._say, self._new, self._left_out = say, set[bytes](), left_out
        self._path = path
        self._base = None if path is None else _opened(path)
        self._plan = b""
        if path is not None and plan is not None:
            shared = [f for f in dataclasses.fields(plan) if f.name not in ELSEWHERE]
            self._plan = digest([source(), *(getattr(plan, f.name) for f in shared)])

    @classmethod
    def nowhere(cls, say: Callable[[str], None] = lambda text: None) -> FinishedParts:
        """Finished parts without a file: all parts are computed."""
        return cls(None, None, say)

    def attacks(
        self, name: str, on: Any, compute: Callable[[], Sequence[Attacked]]
    ) -> list[Attacked]:
        """Attacks on one system, computed or read.

        Args:
            name: for progress.
            on: further values on which they depend, besides the plan.
            compute: computes the attacks.
        """

        def packed(found: Sequence[Attacked]) -> dict[str, np.ndarray]:
            record = [[plain(a.figures), plain(a.threshold)] for a in found]
            scores = {f"scores {n}": a.scores for n, a in enumerate(found)}
            return {"record": np.array(json.dumps(record)), **scores}

        def unpacked(arrays: Mapping[str, np.ndarray]) -> list[Attacked]:
            record = json.loads(str(arrays["record"]))
            return [
                Attacked(attack_from(figures), arrays[f"scores {n}"], float(threshold))
                for n, (figures, threshold) in enumerate(record)
            ]

        return self._part(name, ("attacks", on), lambda: list(compute()), packed, unpacked)

    def utility(self, name: str, on: Any, compute: Callable[[], Utility]) -> Utility:
        """Utility figures of one system, computed or read; arguments as of :meth:`attacks`."""

        def packed(found: Utility) -> dict[str, np.ndarray]:
            tallies = {key: (t.names, t.speakers) for key, t in found.tallies.items()}
            record = [plain(found.figures), found.notes, tallies]
            counts = {
                f"tally {key}": np.stack([t.above, t.below]) for key, t in found.tallies.items()
            }
            return {"record": np.array(json.dumps(record)), **counts}

        def unpacked(arrays: Mapping[str, np.ndarray]) -> Utility:
            figures, notes, named = json.loads(str(arrays["record"]))
            tallies = {}
            for key, (names, speakers) in named.items():
                above, below = arrays[f"tally {key}"]
                tallies[key] = Tally(above, below, tuple(names), tuple(speakers))
            return Utility(figures_from(figures), tuple(notes), tallies)

        return self._part(name, ("utility", on), compute, packed, unpacked)

    def control(
        self, name: str, on: Any, compute: Callable[[], tuple[Measured | None, str]]
    ) -> tuple[Measured | None, str]:
        """An attacker's EER on a control, or why there is none, computed or kept; arguments as of
        :meth:`attacks`.
        """

        def packed(found: tuple[Measured | None, str]) -> dict[str, np.ndarray]:
            return {"record": np.array(json.dumps(plain(found)))}

        def unpacked(arrays: Mapping[str, np.ndarray]) -> tuple[Measured | None, str]:
            eer, why = json.loads(str(arrays["record"]))
            return None if eer is None else figures_from({"": eer})[""], why

        def computed() -> tuple[Measured | None, str]:
            self._say(name)
            return compute()

        found: tuple[Measured | None, str]
        found = self._part(name, ("control", on), computed, packed, unpacked)
        return found

    def _part(self, name: str, on: Any, compute: Any, packed: Any, unpacked: Any) -> Any:
        if self._base is None:
            return compute()
        key = digest([self._plan, on])
        with using(self._path):
            row = self._base.execute("SELECT content FROM parts WHERE id = ?", (key,)).fetchone()
        if row is not None:
            before = "found before" if key in self._new else "from the run that was interrupted"
            self._say(f"{name}: {before}")
            with np.load(io.BytesIO(row[0]), allow_pickle=False) as file:
                arrays = dict(file)
            self._left_out.add_again(json.loads(str(arrays.pop(OMITTED))))
            return unpacked(arrays)
        with self._left_out.noting() as omitted:
            found = compute()
        self._new.add(key)
        content = io.BytesIO()
        names = [(o.name, o.reason, o.step) for o in omitted.values()]
        arrays = {**packed(found), OMITTED: np.array(json.dumps(names))}
        np.savez_compressed(content, **arrays)
        with using(self._path), self._base:
            self._base.execute(
                "INSERT OR REPLACE INTO parts VALUES (?, ?)", (key, content.getvalue())
            )
        return found

    def close(self) -> None:
        """Close the file."""
        if self._base is not None:
            self._base.close()


def forget(path: Path) -> None:
    """Removes the finished parts of all runs from a file of vectors, after its report is
    written.
    """
    if path.is_file():
        base = _opened(path)
        with using(path), base:
            base.execute("PRAGMA secure_delete = ON")
            base.execute("DELETE FROM parts")
        base.close()


def _opened(path: Path) -> sqlite3.Connection:
    with using(path):
        base = sqlite3.connect(path)
        base.execute(TABLE)
        return base


@cache
def source() -> bytes:
    """Digest of names, sizes and times of this package's source files."""
    root = Path(voicenym.__file__).parent
    files = sorted(root.rglob("*.py"))
    return digest(
        [(str(f.relative_to(root)), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    )


def digest(value: Any) -> bytes:
    """SHA-256 of a value: of a dataclass by its compared fields, of a recording by its sound.

    Folders of weights count by their content. Other objects count by their ``name`` and
    ``identity`` or ``version``, which differ for other weights, or by their ``repr``: if that
    contains an address in memory, no part is found again.
    """
    found = hashlib.sha256()
    for part in _written(value):
        found.update(len(part).to_bytes(8, "big") + part)
    return found.digest()


def _written(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        yield from _written(sorted(value.items(), key=lambda item: repr(item[0])))
    elif isinstance(value, (list, tuple)):
        yield f"{len(value)} items".encode()
        for item in value:
            yield from _written(item)
    elif isinstance(value, Set):
        yield from _written(sorted(value, key=repr))
    elif isinstance(value, Recording):
        record = dataclasses.asdict(dataclasses.replace(value, path=Path()))
        yield f"{sorted(record.items())} {value.digest()}".encode()
    elif isinstance(value, Path) and value.is_file():
        about = value.stat()
        yield f"{value} {about.st_size} {about.st_mtime_ns}".encode()
    elif isinstance(value, Path) and (value / CONFIG).is_file():
        yield f"{value} {stamp(value)}".encode()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield _kind(value)
        for field in dataclasses.fields(value):
            if field.compare:
                yield from _written(getattr(value, field.name))
    elif isinstance(getattr(value, "name", None), str):
        yield _kind(value)
        which = getattr(value, "identity", "") or getattr(value, "version", "")
        yield f"{value.name} {which}".encode()
    else:
        yield repr(value).encode()


def _kind(value: Any) -> bytes:
    return f"{type(value).__module__}.{type(value).__qualname__}".encode()
