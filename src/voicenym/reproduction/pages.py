"""Pages of the documentation on reproduction: a summary, and a page for each paper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from voicenym.reproduction.narrow_intervals import MARK, SINCE
from voicenym.reproduction.outcome import Outcome
from voicenym.reproduction.paper_list import not_here, papers
from voicenym.reproduction.paper_table import (
    ANSWERS,
    CLOAKS,
    CODECS,
    NOTHING,
    SPEECH,
    WORDS,
    PaperTable,
)
from voicenym.reproduction.rendering import markdown, sentences

FOLDER = "reproduction"
"""Folder of the papers' pages, beside the summary."""
NEEDED = {
    NOTHING: "nothing else",
    SPEECH: "`--speech`",
    WORDS: "`--recogniser-weights`",
    ANSWERS: "`--answers`",
    CLOAKS: "`--cloak`",
    CODECS: "`--codec`",
}

INTRODUCTION = (
    "# Reproduction",
    "",
    "`voicenym reproduce` prints each table of five papers in the paper's rows and columns, "
    "with our figures below the published ones. It writes this page and the papers' pages from "
    "what has been run.",
    "",
    "```",
    "voicenym reproduce --list",
    "voicenym reproduce turner-2022 figure-5",
    "voicenym reproduce turner-2022 table-1 --speech SPEECH --split dev --pool SPEECH \\",
    "    --pool-split train --budget small --cache cache/",
    "voicenym reproduce tomashenko-2022 table-16 --answers answers.tsv",
    "```",
    "",
    "- `--budget` is `tiny`, `small`, `medium` or `full`: it sets the numbers of speakers, "
    "recordings and swept values.",
    "- `--cache` keeps vectors, transcripts and finished attacks: tables share them, and an "
    "interrupted run resumes.",
    "- `--output` writes the tables, and pictures of the figures.",
    "- `--answers` is a tab-separated file of listeners' answers with the columns listener, "
    "item, system, question, kind and score; questions are MOS, naturalness, intelligibility, "
    "similarity and acceptability, and kind is same or different for similarity; a column set "
    "may name the test set.",
    "- `--verifier` may be repeated; `gmm-ubm:IVECTOR` and `ivector:IVECTOR` take the folder "
    "that `voicenym train ivector` wrote.",
    "- `--update` puts the outcome into the package, `--page` writes these pages.",
    "",
)
"""Lines of the summary on how to run tables."""


def needs(table: PaperTable) -> str:
    """What a table needs, in words."""
    if NOTHING in table.needs:
        more = [NEEDED[need] for need in table.needs if need != NOTHING]
        return f"nothing; more with {' and '.join(more)}" if more else "nothing"
    return " and ".join(NEEDED[need] for need in table.needs)


def command(table: PaperTable) -> str:
    """Command line of a table."""
    parts = [f"voicenym reproduce {table.paper.name} {table.name}"]
    if SPEECH in table.needs:
        parts.append("--speech SPEECH --pool OTHERS --budget small")
    if table.options:
        parts.append(table.options)
    if WORDS in table.needs:
        parts.append("--recogniser-weights WHISPER")
    if CLOAKS in table.needs:
        parts.append("--cloak full=FOLDER --cloak no-words=FOLDER")
    if CODECS in table.needs:
        parts.append("--codec full=FOLDER --codec no-semantic=FOLDER --codec no-speaker=FOLDER")
    if ANSWERS in table.needs:
        parts.append("--answers ANSWERS.tsv")
    return " ".join(parts)


def write(page: Path, outcomes: Mapping[str, Outcome]) -> list[Path]:
    """Writes the summary and the papers' pages.

    Args:
        page: of the summary, such as ``docs/reproduction.md``.
        outcomes: by the tables' keys.
    """
    folder = page.parent / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(summary(outcomes), "utf-8")
    written = [page]
    for name, tables in papers().items():
        path = folder / f"{name}.md"
        path.write_text(of_paper(tables, outcomes), "utf-8")
        written.append(path)
    return written


def summary(outcomes: Mapping[str, Outcome]) -> str:
    """The summary: how to run, what came out against the papers, and what has been run."""
    every = [table for tables in papers().values() for table in tables]
    lines = [
        *INTRODUCTION,
        _counts(every, outcomes),
        "",
        "## Against the papers",
        "",
        "What did not come out as a paper says, with our systems and speech:",
        "",
        *_verdicts(every, outcomes, False, arithmetic=False),
        "",
        "What the papers' own numbers contradict:",
        "",
        *_verdicts(every, outcomes, False, arithmetic=True),
        "",
        "## As the papers say",
        "",
        *_verdicts(every, outcomes, True, arithmetic=False),
        "",
        "## Undecided",
        "",
        *_verdicts(every, outcomes, None, arithmetic=False),
        "",
        "## Tables and figures",
        "",
    ]
    for name, tables in papers().items():
        lines += _list_of_tables(name, tables, outcomes)
    return "\n".join(lines)


def _counts(tables: list[PaperTable], outcomes: Mapping[str, Outcome]) -> str:
    """How many tables have been run, and how far their figures can be trusted."""
    run = [table for table in tables if table.key in outcomes]
    ours = [table for table in run if measured(table, outcomes[table.key])]
    checked = [t for t in run if t not in ours and outcomes[t.key].findings]
    return (
        f"Of {len(tables)} tables and figures, {len(ours)} have figures of ours, and of "
        f"{len(checked)} more the paper's own numbers were checked; the others have not been run, "
        "for a reason where there is one. Figures of the budget `small` have wide intervals, and "
        "those of `tiny`, of eight speakers and two trials each, show that a command runs and "
        "little more; a claim is *undecided* where its intervals leave it open, or where there is "
        "none. Intervals of min C_llr, ROCCH-EER and expected disclosure (ZEBRA) that were "
        "measured before 29 November 2026 are percentiles, which show too little protection and "
        "are too narrow; those of G_VD and DeID that were measured before 30 November 2026 are "
        "half as wide as they should be ([Metrics](measuring/metrics.md)). Equal error rates of "
        f"few errors that were measured before {SINCE} have too narrow intervals, and are marked "
        f"with {MARK}; a claim that they decide may be undecided."
    )


def _list_of_tables(
    name: str, tables: tuple[PaperTable, ...], outcomes: Mapping[str, Outcome]
) -> list[str]:
    """The tables of one paper: what each shows and needs, and whether it has been run."""
    lines = [f"### {tables[0].paper.cited}", "", f"{tables[0].paper.reference}.", ""]
    lines += ["| | shows | needs | run |", "| --- | --- | --- | --- |"]
    for table in tables:
        link = f"[{table.heading}]({FOLDER}/{name}.md#{table.name})"
        lines.append(f"| {link} | {table.title} | {needs(table)} | {state(table, outcomes)} |")
    lines.append("")
    lines += [f"- No command: {what}: {why}." for what, why in not_here()[name].items()]
    return lines + ([""] if not_here()[name] else [])


def state(table: PaperTable, outcomes: Mapping[str, Outcome]) -> str:
    """Whether a table has been run, at which size and when."""
    found = outcomes.get(table.key)
    if found is None:
        return "no"
    if not found.panels and not found.findings:
        return "; ".join(("no", *found.notes))
    when = ", ".join(x for x in (found.budget, found.date) if x)
    return when if measured(table, found) else f"the paper's own numbers, {when}"


def measured(table: PaperTable, found: Outcome) -> bool:
    """Whether an outcome has figures of ours, not only checks of the paper's numbers."""
    if SPEECH in table.needs:
        return bool(found.data)
    return any(figure.known for p in found.panels for row in p.rows for figure in row.figures)


def _verdicts(
    tables: list[PaperTable], outcomes: Mapping[str, Outcome], holds: bool | None, arithmetic: bool
) -> list[str]:
    seen: set[str] = set()
    lines = []
    for table in tables:
        for finding in outcomes[table.key].findings if table.key in outcomes else ():
            same = f"{table.paper.name} {finding.claim}"
            if finding.holds is holds and finding.arithmetic is arithmetic and same not in seen:
                seen.add(same)
                link = f"[{table.called}]({FOLDER}/{table.paper.name}.md#{table.name})"
                size = " (`tiny`)" if outcomes[table.key].budget == "tiny" else ""
                own = size if not arithmetic else ""
                lines.append(f"- {table.paper.cited}, {link}{own}: {sentences(finding)}")
    return lines or ["- None."]


def of_paper(tables: tuple[PaperTable, ...], outcomes: Mapping[str, Outcome]) -> str:
    """The page of one paper."""
    paper = tables[0].paper
    lines = [
        f"# {paper.cited}",
        "",
        f"{paper.reference}. Rows in bold are ours; the others are the paper's, as printed. "
        "Intervals are 95 %, over speakers. [Reproduction](../reproduction.md) says how to run a "
        "table.",
        "",
    ]
    for table in tables:
        lines.append(markdown(table, outcomes.get(table.key), command(table)))
    return "\n".join(lines).rstrip() + "\n"
