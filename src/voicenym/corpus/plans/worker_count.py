"""Number of worker processes that pay: an estimate from sizes, before anything is opened.

Recordings of unknown senders are decoded in workers where there are several, so that a crash of a
decoder ends no run. The estimate therefore opens none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voicenym.corpus.plans.file_plan import Item

START_SECONDS = 2.0
"""Processor time of the start of a worker, most of it the import of torch."""
WORKER_BYTES = 1_500_000_000
"""Memory of a worker, at most, of bundled systems."""
EVALUATED_EACH = 32
"""Recordings of an evaluation that keep a further worker busy for longer than it starts."""
MEMORY = Path("/proc/meminfo")
PCM_BYTES, FLAC_BYTES, CODED_BYTES = 64_000, 32_000, 6_000
"""Bytes of a second of sound, between those of telephone speech and of music. More bytes a
second mean shorter recordings and fewer workers.
"""


def workers_that_pay(items: Sequence[Item], speed: float, cores: int) -> int:
    """Number of workers of which each works at least as long as it starts; 1 for few or short
    recordings.

    Args:
        items: of the batch.
        speed: seconds of speech that one core processes in a second.
        cores: available processors.
    """
    most = min(cores, len(items), max(1, _free_memory() // WORKER_BYTES))
    if most < 2:
        return 1
    work = 0.0
    for item in items:
        work += _seconds(item) / speed
        if work >= most * START_SECONDS:
            return most
    return max(1, int(work / START_SECONDS))


def workers_to_evaluate(recordings: int, cores: int) -> int:
    """Number of workers for recordings that are all changed and embedded; 1 for few of them.

    Args:
        recordings: their number.
        cores: available processors.
    """
    return max(1, min(cores, recordings // EVALUATED_EACH, _free_memory() // WORKER_BYTES))


def _seconds(item: Item) -> float:
    """Estimated length of a recording; 0 where it is not a file."""
    source = item.source
    if not isinstance(source, Path):
        begin, end = source.stretch
        return 0.0 if end is None else max(0.0, end - begin)
    try:
        size = source.stat().st_size
    except OSError:  # reported when it is its turn
        return 0.0
    suffix = source.suffix.lower()
    if suffix in (".wav", ".w64", ".rf64", ".aif", ".aiff", ".caf", ".au"):
        return size / PCM_BYTES
    return size / (FLAC_BYTES if suffix == ".flac" else CODED_BYTES)


def _free_memory(file: Path = MEMORY) -> int:
    """Bytes of memory that are available; unlimited where the system does not say."""
    try:
        for line in file.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return 1024 * int(value.split()[0])
    except (OSError, ValueError, IndexError):
        pass
    return 2**62
