"""A table or figure of a paper: what it shows, how ours is computed, and what differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voicenym.reproduction.outcome import Finding, OurPanel
from voicenym.reproduction.published_figures import PublishedPanel, panels_of

if TYPE_CHECKING:
    from voicenym.reproduction.bench import Bench

NOTHING, SPEECH, ANSWERS, WORDS = "nothing", "speech", "answers", "words"
CLOAKS, CODECS = "cloaks", "codecs"
"""Needs of a computation: nothing but the package, speech (``--speech``), listeners' answers
(``--answers``), weights of a recogniser of words (``--recogniser-weights``), and cloaks or codecs
that were trained for it (``--cloak``, ``--codec``)."""


@dataclass(frozen=True)
class Paper:
    """A paper.

    Args:
        name: on the command line, author and year, such as ``turner-2022``.
        cited: author and year in texts.
        reference: full citation in a line.
    """

    name: str
    cited: str
    reference: str


@dataclass(frozen=True)
class Ours:
    """What a computation gives.

    Args:
        panels: of figures.
        findings: on the paper's claims.
        notes: limits of the figures.
        drawings: SVG by file name.
        data: speech behind the figures, where it is not all speech of the bench.
    """

    panels: tuple[OurPanel, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    drawings: tuple[tuple[str, str], ...] = ()
    data: str = ""


Compute = Callable[["Bench"], Ours]
"""Computation of our part of a table."""


@dataclass(frozen=True)
class PaperTable:
    """A table or figure.

    Args:
        paper: that prints it.
        name: ``table-1`` or ``figure-7``.
        title: what it shows, in our words.
        compute: our figures.
        how: how ours are computed, in a sentence or two.
        differs: what differs in systems, data, size and attackers, a sentence each.
        needs: of :data:`NOTHING`, :data:`SPEECH`, :data:`ANSWERS`, :data:`WORDS` and
            :data:`CLOAKS`.
        cost: of the smallest budget: ``seconds``, ``minutes`` or ``hours`` of one core.
        options: further ones of the command line that the documentation shows.
    """

    paper: Paper
    name: str
    title: str
    compute: Compute
    how: str
    differs: tuple[str, ...] = ()
    needs: tuple[str, ...] = (SPEECH,)
    cost: str = "minutes"
    options: str = ""

    @property
    def published(self) -> tuple[PublishedPanel, ...]:
        """Published figures; none for a figure of which the text has no numbers."""
        return panels_of(self.paper.name, self.name)

    @property
    def key(self) -> str:
        """Paper and name, such as ``turner-2022 table-1``."""
        return f"{self.paper.name} {self.name}"

    @property
    def heading(self) -> str:
        """``Table 1`` or ``Figure 7``."""
        kind, _, number = self.name.partition("-")
        return f"{kind.capitalize()} {number.upper()}"

    @property
    def called(self) -> str:
        """The heading within a sentence: ``table 1`` or ``table B7``."""
        return self.heading[0].lower() + self.heading[1:]


def normalised(text: str) -> str:
    """A name as typed in the form of the list: ``Table 1``, ``table_1`` and ``1`` are ``table-1``.

    Example:
        >>> normalised("Fig. 7"), normalised("3"), normalised("Turner 2022")
        ('figure-7', 'table-3', 'turner-2022')
    """
    found = re.sub(r"[\s_.]+", "-", text.strip().lower()).strip("-")
    found = re.sub(r"^fig-?(?=\d)", "figure-", found)
    found = re.sub(r"^(table|figure)(?=\w)", r"\1-", found)
    return f"table-{found}" if re.fullmatch(r"b?\d+", found) else found
