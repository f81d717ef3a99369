"""Jobs, outcomes and summaries of a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from voicenym.anonymizer import Refusal
from voicenym.corpus.batches.fallback import Fallback
from voicenym.corpus.batches.single_file import Result
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.sound_edits import EditSettings
from voicenym.pseudonym import DERIVATION_VERSION, Key, Pseudonym


@dataclass(frozen=True)
class Job:
    """Settings of all items of a batch.

    Args:
        system: name of the system.
        parameters: its parameters.
        key: where the voices come from.
        per_utterance: another voice for each recording of a speaker.
        overwrite: replace outputs that exist.
        lenient: accept silent, clipped and very short recordings.
        version: of its weights, unless they are bundled.
        revision: of the system: another one gives other voices.
        log: JSON-lines file, from which a later run resumes.
        opaque: outputs have drawn names: original names stay out of the log, and order and times do
            not reveal them.
        fresh: whether the key is new, so that no existing output can belong to this run.
        fallback: for recordings that the system refuses; None: they fail.
        edit: of recordings before they are anonymized; None for none.
    """

    system: str
    parameters: dict[str, Any]
    key: Key
    per_utterance: bool = False
    overwrite: bool = False
    lenient: bool = False
    version: str = ""
    revision: int = 1
    log: Path | None = None
    opaque: bool = False
    fresh: bool = False
    fallback: Fallback | None = None
    edit: EditSettings | None = None

    def pseudonym(self, item: Item) -> Pseudonym:
        return self.key.pseudonym(item.speaker, item.utterance if self.per_utterance else None)

    def for_workers(self) -> WorkerSettings:
        """Settings that workers need; the key and the log stay in the main process."""
        return WorkerSettings(
            self.system,
            self.parameters,
            self.overwrite,
            self.lenient,
            self.opaque,
            self.fallback,
            self.edit,
            digests=self.log is not None,
        )

    def input_check(self, digest: str | None) -> str | None:
        """Tag of a recording's content, which reveals nothing without the key.

        Args:
            digest: of the content; None without one.
        """
        return None if digest is None else self.key.tag("input check", digest)

    def stamp(self) -> dict[str, Any]:
        """Settings by which an output of an earlier run counts as done: all must be equal.

        The fall-back is not among them: it changes the outputs of refused recordings only.
        """
        return dict(self._stamp)

    @cached_property
    def _stamp(self) -> dict[str, Any]:
        weights = {"weights": self.version} if self.version else {}
        edit = {"edit": self.edit.stamp(self.key)} if self.edit is not None else {}
        return {
            "system": self.system,
            "revision": self.revision,
            "parameters": json.loads(json.dumps(self.parameters, default=str)),
            **weights,
            **edit,
            "derivation": DERIVATION_VERSION,
            "per": "utterance" if self.per_utterance else "speaker",
            "key_check": self.key.tag("key check")[:16],
        }


@dataclass(frozen=True)
class WorkerSettings:
    """Settings of a batch that its workers need; no key is among them.

    Args:
        system: as of :class:`Job`.
        parameters: as there.
        overwrite: as there.
        lenient: as there.
        opaque: as there.
        fallback: as there.
        edit: as there.
        digests: whether outcomes have digests of the recordings' content.
    """

    system: str
    parameters: dict[str, Any]
    overwrite: bool
    lenient: bool
    opaque: bool
    fallback: Fallback | None
    edit: EditSettings | None
    digests: bool


@dataclass
class Summary:
    """Outcome of a batch.

    Args:
        done: recordings that were anonymized.
        skipped: recordings whose output already existed.
        untried: recordings that were not processed, because the run stopped at the first failure.
        seconds: of audio that were anonymized.
        failures: the source and the reason of each recording that failed.
        warnings: for the user, each a sentence.
        refused: the source of each recording that the fall-back anonymized, and the refusal.
    """

    done: int = 0
    skipped: int = 0
    untried: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    refused: list[tuple[str, Refusal]] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """One finished item: a result, or the reason for its failure.

    Args:
        item: the recording.
        result: of the written output; None without one.
        reason: of the failure; None without one.
        skipped: whether its output already existed, equal to that of this run.
        input_digest: of the recording's content; see :meth:`Job.input_check`.
        edit: what the log says of the recording's edit; None without one.
    """

    item: Item
    result: Result | None
    reason: str | None
    skipped: bool = False
    input_digest: str | None = None
    edit: Mapping[str, Any] | None = None
