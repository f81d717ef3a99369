"""Revisions of a system: which one a key has, and the system as of one."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from voicenym.errors import UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer.card import Card
    from voicenym.pseudonym import Key, Pseudonym


def listed(revisions: Sequence[int]) -> str:
    """Revisions as text for messages: ``1 and 2``."""
    return " and ".join(str(revision) for revision in revisions)


class SystemRevisions:
    """Part of :class:`voicenym.anonymizer.Anonymizer`: the way its voices are drawn and made.

    A revision gives the same voices in every release. A change of the output, by other weights too,
    is a new revision.
    """

    revision: int

    card: ClassVar[Card]
    revisions: ClassVar[tuple[int, ...]] = (1,)
    """Revisions of this release, in rising order."""
    last_live_revision: ClassVar[int] = 0
    """Revision that changed live streams last: those of later ones are the same. 0: the latest."""

    def revision_for(self, pseudonym: Pseudonym | Key) -> int:
        """The revision in force: that of the system, else of the key, else the latest.

        Raises:
            UnknownSystemError: this release does not have it.
        """
        name = self.card.name
        found = self.revision or pseudonym.revision(name) or self.revisions[-1]
        if found not in self.revisions:
            raise UnknownSystemError(
                f"{name}: revision {found} is not of this release, which has "
                f"{listed(self.revisions)}; use the release that the key was made with, or give "
                f"revision={self.revisions[-1]} for other voices"
            )
        return found

    def of_revision(self, revision: int) -> Self:
        """The system of a revision, with all that it holds, an edit of texts included."""
        found = copy.copy(self)
        object.__setattr__(found, "revision", revision)
        return found
