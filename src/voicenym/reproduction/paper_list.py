"""The papers and their tables, by name; and the run of one table."""

from __future__ import annotations

import time
from datetime import date
from functools import cache
from importlib import import_module

import voicenym
from voicenym.errors import VoicenymError
from voicenym.registry import near
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.outcome import Outcome
from voicenym.reproduction.paper_table import NOTHING, SPEECH, PaperTable, normalised

MODULES = (
    "miao.miao_2023",
    "turner.turner_2022",
    "yao.yao_2024",
    "deng.deng_2023",
    "tomashenko.tomashenko_2022",
)
"""A module for each paper, with its tables in ``TABLES``."""


@cache
def papers() -> dict[str, tuple[PaperTable, ...]]:
    """Tables by the paper's name, in the paper's order."""
    found = {}
    for module in MODULES:
        tables = import_module(f"voicenym.reproduction.{module}").TABLES
        found[tables[0].paper.name] = tuple(tables)
    return found


@cache
def not_here() -> dict[str, dict[str, str]]:
    """Tables and figures without a command, by paper, with the reasons."""
    return {
        name: dict(getattr(import_module(f"voicenym.reproduction.{module}"), "NOT_HERE", {}))
        for name, module in zip(papers(), MODULES, strict=True)
    }


def tables(paper: str | None = None, name: str | None = None) -> list[PaperTable]:
    """Tables by names as typed; all of a paper, or of all papers, without names.

    Raises:
        VoicenymError: no such paper or table; the message lists those there are.
    """
    every = papers()
    if paper is None:
        return [table for own in every.values() for table in own]
    wanted = normalised(paper)
    if wanted not in every:
        raise VoicenymError(
            f"no paper {paper!r}{near(wanted, every)}; there are: {', '.join(every)}"
        )
    own = every[wanted]
    if name is None or normalised(name) == "all":
        return list(own)
    found = [table for table in own if table.name == normalised(name)]
    if found:
        return found
    reason = not_here()[wanted].get(normalised(name))
    if reason:
        raise VoicenymError(f"{wanted} {normalised(name)} has no command: {reason}")
    there = ", ".join(table.name for table in own)
    raise VoicenymError(f"{wanted} has no {name!r}; there are: {there}")


def run(table: PaperTable, bench: Bench) -> Outcome:
    """Computes our part of a table.

    Raises:
        VoicenymError: speech is missing, or unfit.
    """
    if SPEECH in table.needs and NOTHING not in table.needs and bench.speech is None:
        raise VoicenymError(
            f"{table.key} is measured on speech: give a folder of speakers, a Kaldi data folder or "
            "a manifest with --speech"
        )
    begin = time.perf_counter()
    ours = table.compute(bench)
    spoken = bench.speech is not None and SPEECH in table.needs
    return Outcome(
        ours.panels,
        ours.findings,
        ours.notes,
        (ours.data or bench.data) if spoken else "",
        bench.budget.name if spoken else "",
        date.today().isoformat(),
        voicenym.__version__,
        round(time.perf_counter() - begin, 1),
        dict(ours.drawings),
    )
