"""``voicenym listen analyse``: figures and report of a study's answers, or of other tools'."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.options.refused_options import refuse_options
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.listening.ratings import CheckResult, Rating

TABLE, ORIGINAL = "table", "original"

app = new_app()
table_option = partial(typer.Option, rich_help_panel="Answers of other tools")
quality_option = partial(typer.Option, rich_help_panel="Quality of listeners")


@command(
    app,
    "voicenym listen analyse study/ -o report/",
    "voicenym listen analyse study/ --evaluation evaluation/ -o report/",
    "voicenym listen analyse answers.csv --column listener=worker --column score=rating "
    "--column system=condition -o report/",
)
def analyse(
    source: Path = typer.Argument(help="Folder of a study, or a file of answers."),
    output: Path = typer.Option(..., "--output", "-o", help="Folder for the report."),
    intervals: str = typer.Option("bootstrap", "--intervals", help="bootstrap or mixed."),
    by_item: bool = typer.Option(
        False, "--by-utterance", help="Normalise ranks by utterance after listeners."
    ),
    evaluation: Path | None = typer.Option(
        None, "--evaluation", help="Report of voicenym evaluate, whose figures stand beside."
    ),
    measures: Path | None = typer.Option(
        None, "--measures", help="Table of measures by system, and perhaps utterance."
    ),
    tool: str = table_option(TABLE, "--from", help="table, webmushra or p808."),
    columns: list[str] = table_option(
        [], "--column", help="FIELD=COLUMN of the file, or FIELD==VALUE for all rows."
    ),
    scale: str | None = table_option(None, "--scale", help="LOW-HIGH of the ratings."),
    original: str = table_option(
        ORIGINAL, "--original", help="What the file calls original speech."
    ),
    key_of: Path | None = table_option(
        None, "--study", help="Study that was exported, to look clips up in its key."
    ),
    everybody: bool = quality_option(
        False, "--keep-everybody", help="Leave no listener out; their quality is reported."
    ),
    need_headphones: bool = quality_option(
        False, "--need-headphones", help="Leave out who failed the headphone check."
    ),
) -> None:
    """Analyse answers and write a report.

    Listeners are judged by gold and trapping items, time and agreement. Means have intervals over
    listeners and speakers; systems are compared by Mann-Whitney tests with Holm's correction.
    """
    from voicenym.listening.analysis import listening_report, objective_agreement
    from voicenym.listening.analysis.listening_analysis import analyse as analysed
    from voicenym.listening.analysis.quality_control import Criteria
    from voicenym.listening.analysis.report_sentences import sentences

    if everybody:
        refuse_options(
            {"--need-headphones": need_headphones},
            "leaves listeners out, and --keep-everybody none;",
        )
    title, ratings, checks = _read(source, tool, columns, scale, original, key_of)
    if not ratings:
        raise VoicenymError(f"{source}: nobody has rated anything yet; wait for answers")
    objective: objective_agreement.Measures = {}
    if evaluation is not None:
        objective |= objective_agreement.of_evaluation(evaluation)
    if measures is not None:
        objective |= objective_agreement.of_table(measures)
    criteria = Criteria(headphones=need_headphones)
    if everybody:
        criteria = Criteria(None, None, None, None, None, None, None)
    results = analysed(
        ratings, checks, criteria=criteria, intervals=intervals, by_item=by_item,
        objective=objective,
    )  # fmt: skip
    how = f"Intervals by {'a mixed model' if intervals == 'mixed' else 'bootstrap'}."
    page = listening_report.write(results, output, title, how)
    for one in results.listeners:
        if not one.kept:
            typer.echo(f"{one.listener} is left out: {'; '.join(one.reasons)}", err=True)
    for system, text in sentences(results).items():
        typer.echo(f"{system}: {text}")
    typer.echo(f"wrote {page}", err=True)


def _read(
    source: Path,
    tool: str,
    columns: list[str],
    scale: str | None,
    original: str,
    key_of: Path | None,
) -> tuple[str, list[Rating], list[CheckResult]]:
    """Title, ratings and results of checks of a study, or of a file."""
    from voicenym.listening import study as files
    from voicenym.listening.exchange import answer_tables, other_tools
    from voicenym.listening.ratings import of_study

    _check_tool(source, tool, columns, scale, original, key_of)
    if source.is_dir():
        from voicenym.listening.answer_store import AnswerStore

        study, key = files.load(source), files.load_key(source)
        store = AnswerStore(source / files.ANSWERS)
        try:
            return study.title, *of_study(study, key, store.everything())
        finally:
            store.close()
    if tool == "webmushra":
        return source.name, other_tools.read_webmushra(source), []
    if tool == "p808":
        known = None if key_of is None else files.load_key(key_of)
        return source.name, other_tools.read_p808(source, known), []
    if tool != "table":
        raise VoicenymError(f"--from {tool}: there are table, webmushra and p808")
    named = answer_tables.column_map(columns)
    limits = None if scale is None else _limits(scale)
    return source.name, answer_tables.read_table(source, named, limits, original), []


def _check_tool(
    source: Path,
    tool: str,
    columns: list[str],
    scale: str | None,
    original: str,
    key_of: Path | None,
) -> None:
    """Refuses options of answers that this source does not have.

    Raises:
        VoicenymError: one of them was given.
    """
    of_tables = {
        "--column": columns, "--scale": scale is not None, "--original": original != ORIGINAL,
    }  # fmt: skip
    if source.is_dir():
        given = {"--from": tool != TABLE, **of_tables, "--study": key_of is not None}
        refuse_options(given, f"is of answers of other tools, and {source} is a folder;")
    elif tool == TABLE:
        refuse_options({"--study": key_of is not None}, "is of answers of --from p808;")
    else:
        refuse_options(of_tables, f"is of tables, and not of --from {tool};")


def _limits(text: str) -> tuple[float, float]:
    low, mark, high = text.partition("-")
    try:
        found = float(low), float(high)
    except ValueError:
        found = (1.0, 0.0)
    if not mark or found[0] >= found[1]:
        raise VoicenymError(f"--scale {text}: give LOW-HIGH, such as 1-5")
    return found
