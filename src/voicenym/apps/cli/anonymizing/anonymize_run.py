"""A run of ``voicenym anonymize``: its system with the key, and options that all inputs have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import voicenym
from voicenym.apps.cli.anonymizing.batch_report import describe

if TYPE_CHECKING:
    from pathlib import Path

    from voicenym.anonymizer import Anonymizer
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.corpus.batches.batch import Job
    from voicenym.corpus.batches.fallback import Fallback
    from voicenym.corpus.sound_edits import EditSettings
    from voicenym.pseudonym import Key


@dataclass(frozen=True)
class RunOptions:
    """Options that recordings, folders, data sets and shards have in common.

    Args:
        per_utterance: another voice for each recording of a speaker.
        overwrite: replace outputs that exist.
        lenient: accept silent, clipped and very short recordings.
        fail_fast: stop at the first failure.
        dry_run: list what would be done, and write nothing.
        say: the user's messages.
    """

    per_utterance: bool
    overwrite: bool
    lenient: bool
    fail_fast: bool
    dry_run: bool
    say: Messages


@dataclass(frozen=True)
class RunSystem:
    """System of a run, with the key that draws its voices.

    Args:
        name: of the system.
        anonymizer: the system with its settings.
        key: where the voices come from, with the revisions of both systems.
        stored: whether the key is.
        revision: of the system under this key.
        fallback: for recordings that the system refuses; None: they fail.
    """

    name: str
    anonymizer: Anonymizer
    key: Key
    stored: bool
    revision: int
    fallback: Fallback | None

    @classmethod
    def of(
        cls, name: str, anonymizer: Anonymizer, key: Key, stored: bool, fallback: Fallback | None
    ) -> RunSystem:
        """The system with the revisions that the key has.

        Args:
            name, anonymizer, stored, fallback: as of the class.
            key: of the run.
        """
        revision = anonymizer.revision_for(key)
        revisions = {name: revision}
        if fallback is not None:
            revisions[fallback.system] = fallback.revision
        # workers get the revisions with the key
        return cls(name, anonymizer, key.with_revisions(revisions), stored, revision, fallback)

    def job(
        self,
        options: RunOptions,
        *,
        opaque: bool,
        log: Path | None = None,
        edit: EditSettings | None = None,
    ) -> Job:
        """Settings of a batch.

        Args:
            options: of the run.
            opaque, log, edit: as of :class:`voicenym.corpus.batches.batch.Job`.
        """
        from voicenym.corpus.batches.batch import Job

        return Job(
            system=self.name,
            parameters=self.anonymizer.parameters(),
            version=self.anonymizer.version,
            revision=self.revision,
            key=self.key,
            per_utterance=options.per_utterance,
            overwrite=options.overwrite,
            lenient=options.lenient,
            log=log,
            opaque=opaque,
            fresh=not self.stored,
            fallback=self.fallback,
            edit=edit,
        )

    def conclude(
        self, say: Messages, made: int, by_fallback: int = 0, what: str = "recordings"
    ) -> None:
        """Prints what made the outputs, its protection and price, and whether the key is stored.

        Where the fall-back made all of them, the protection of the system is nobody's.

        Args:
            say: the user's messages.
            made: number of recordings, or of voices in one, that this run anonymized.
            by_fallback: number of those that the fall-back anonymized.
            what: they are.
        """
        other = self.loaded_fallback() if by_fallback else None
        if other is None or by_fallback < made:
            describe("system", self.anonymizer, say)
        if other is not None:
            describe(f"fall-back, of {by_fallback} of {made} {what}", other, say)
        if not self.stored:
            say(
                "key: none was given, and the fresh one of this run is not stored: nobody, you "
                "included, can make these voices again. For the same voices next time: voicenym "
                "key new FILE, then --key FILE."
            )

    def about(self) -> dict[str, Any]:
        """What the log of a single output says of the system."""
        return {
            "version": voicenym.__version__,
            "system": self.name,
            "revision": self.revision,
            "parameters": dict(self.anonymizer.parameters()),
        }

    def loaded_fallback(self) -> Any:
        """The fall-back's anonymizer; None without one."""
        from voicenym.anonymizer import load

        if self.fallback is None:
            return None
        return load(self.fallback.system, **self.fallback.parameters)
