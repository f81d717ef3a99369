"""What a run that was interrupted has done, in a private file until the next one is complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.corpus.batches.fallback import Fallback
    from voicenym.kept_work import KeptWork
    from voicenym.pseudonym import Key

PART = "kept part"
"""Purpose of the tags of anonymized parts."""

T = TypeVar("T", bound="Kept")


class Kept(Protocol):
    """A file of finished parts."""

    def close(self) -> None:
        """Closes the file, which stays."""
        ...

    def remove(self) -> None:
        """Removes the file."""
        ...


@contextmanager
def until_done(kept: T | None) -> Iterator[T | None]:
    """Context manager after which a file of finished parts is there only if the run was
    interrupted: neither after a run that is complete, nor after one that failed.
    """
    if kept is None:
        yield None
        return
    try:
        yield kept
    except VoicenymError:
        kept.remove()
        raise
    else:
        kept.remove()
    finally:
        kept.close()


def voices_before(output: Path, recording: Path, encoder: str) -> KeptWork | None:
    """What an interrupted run of ``voicenym speakers`` found; None where it cannot be kept.

    Args:
        output: beside which the file lies.
        recording: in which speakers are looked for.
        encoder: of speakers, by name or folder.
    """
    from voicenym.corpus.batches.single_file import sha256_of
    from voicenym.kept_work import KeptWork, beside
    from voicenym.nets.checkpoint import fingerprint
    from voicenym.verification.verifiers import encoder_of

    if not recording.is_file():
        return None
    weights = fingerprint(encoder_of(encoder).state_dict())
    stamp = {"voices": 1, "recording": sha256_of(recording), "encoder": weights}
    return KeptWork.open(beside(output, "voices"), stamp)


def parts_before(
    target: Path, recording: Path, system: Any, fallback: Fallback | None, key: Key
) -> KeptWork | None:
    """What an interrupted run with ``--rttm`` anonymized; None where it cannot be kept.

    The file holds anonymized sound, and tags that reveal nothing without the key.

    Args:
        target: beside which the file lies.
        recording: of several people.
        system: the anonymizer.
        fallback: of what it refuses.
        key: of the run.
    """
    from voicenym import __version__
    from voicenym.corpus.batches.single_file import sha256_of
    from voicenym.kept_work import KeptWork, beside

    settings = [
        __version__, system.card.name, system.parameters(), system.version,
        system.revision_for(key), None if fallback is None else fallback.stamp(),
        sha256_of(recording),
    ]  # fmt: skip
    text = json.dumps(settings, sort_keys=True, default=str)
    stamp = {"parts": 1, "settings": key.tag(f"{PART}s", text)}
    return KeptWork.open(beside(target, "parts"), stamp)
