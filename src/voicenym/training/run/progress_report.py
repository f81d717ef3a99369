"""Progress reports of a run, and the recordings that it skips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voicenym.corpus.skipped import STRICT, LeftOut


@dataclass(frozen=True)
class Report:
    """Receivers of a run's reports.

    Args:
        say: receives lines of progress.
        skipped: collects recordings that cannot be used; the default raises at the first one.
    """

    say: Callable[[str], None] = lambda text: None
    skipped: LeftOut = STRICT
