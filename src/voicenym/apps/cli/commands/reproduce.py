"""``voicenym reproduce``: tables and figures of the papers with our figures beside theirs."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import field
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.reproduction.bench import Bench
    from voicenym.reproduction.outcome import Outcome
    from voicenym.reproduction.paper_table import PaperTable

app = new_app()
speech_option = partial(typer.Option, rich_help_panel="Speech")
result_option = partial(typer.Option, rich_help_panel="Results")


@command(
    app,
    "voicenym reproduce --list",
    "voicenym reproduce turner-2022 figure-5",
    "voicenym reproduce turner-2022 table-1 --speech corpus/ --pool others/ --cache cache/",
)
def reproduce(
    paper: str | None = typer.Argument(None, help="Author and year, such as turner-2022."),
    table: list[str] = typer.Argument(
        [], help="Tables or figures, such as table-1 or figure-7; without one, all of the paper."
    ),
    listed: bool = typer.Option(False, "--list", help="List tables, needs, and what has been run."),
    stored: bool = typer.Option(
        False, "--stored", help="Print the outcome that comes with the package; compute nothing."
    ),
    budget: str = typer.Option("small", "--budget", help="tiny, small, medium or full."),
    speech: Path | None = speech_option(
        None, "--speech", help="Folder of speakers, Kaldi data folder, or TSV manifest."
    ),
    split: str | None = speech_option(None, "--split", help="Rows of a manifest to use."),
    part: str | None = speech_option(None, "--part", help="Corpus of a manifest to use."),
    half: str | None = speech_option(None, "--half", help="Every other speaker: tune, or report."),
    pool: Path | None = speech_option(
        None, "--pool", help="Other people's speech, on which attackers train."
    ),
    pool_split: str | None = speech_option(None, "--pool-split", help="Rows of that manifest."),
    pool_part: str | None = speech_option(None, "--pool-part", help="Corpus of that manifest."),
    verifier: list[str] = typer.Option(
        [], "--verifier", help="Verifier, as of voicenym evaluate; may be repeated."
    ),
    recogniser: str | None = typer.Option(None, "--recogniser", help="whisper, sphinx, or none."),
    weights: str | None = typer.Option(
        None, "--recogniser-weights", help="Folder or hub name of the recogniser's weights."
    ),
    retrained: list[str] = typer.Option(
        [],
        "--recogniser-anonymized",
        help="SYSTEM=FOLDER: a recogniser trained on the system's output; may be repeated.",
    ),
    cloak: list[str] = typer.Option(
        [],
        "--cloak",
        help="NAME=FOLDER: a cloak of voicenym train vcloak for an ablation, such as full or "
        "no-words; may be repeated.",
    ),
    codec: list[str] = typer.Option(
        [],
        "--codec",
        help="NAME=FOLDER: a codec of voicenym train musa for an ablation: full, no-semantic or "
        "no-speaker; may be repeated.",
    ),
    pipeline: list[str] = typer.Option(
        [],
        "--pipeline",
        help="NAME=FOLDER: a pipeline of voicenym models assemble for M1 or M1c1 of the "
        "VoicePrivacy Challenge 2020, or for S-ROH or S-LOH of Miao et al. (networks trained by "
        "AAM); may be repeated.",
    ),
    answers: Path | None = typer.Option(None, "--answers", help="TSV file of listeners' answers."),
    cache: Path | None = typer.Option(
        None, "--cache", help="Folder of vectors, transcripts and finished attacks."
    ),
    workers: int | None = typer.Option(
        None, "--workers", min=1, help="Processes; as many as pay unless given."
    ),
    output: Path | None = result_option(
        None, "--output", "-o", help="Folder for the tables as text, and pictures."
    ),
    update: bool = result_option(
        False, "--update", help="Put the outcomes into the package's stored outcomes."
    ),
    page: Path | None = result_option(
        None,
        "--page",
        help="Write the documentation's pages of all stored outcomes: this file, and one for each "
        "paper in a folder of its name.",
    ),
    as_json: bool = result_option(False, "--json", help="Print JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Only errors and the tables."),
) -> None:
    """Print tables and figures of the papers, ours below the published ones.

    What needs no speech runs in seconds. Other tables are measured on the speech given, at the size
    of --budget; with --cache they share measurements, and an interrupted run resumes.
    """
    from voicenym.reproduction import paper_list, stored_outcomes
    from voicenym.reproduction.counterparts import GIVEN
    from voicenym.reproduction.deng.deng_ablations import ABLATIONS as OF_CLOAKS
    from voicenym.reproduction.named_folders import named_folders
    from voicenym.reproduction.yao.yao_ablations import ABLATIONS as OF_CODECS

    if listed:
        _list(paper, as_json)
        return
    if paper is None and page is None:
        raise VoicenymError(
            "name a paper and a table, or see what there is: voicenym reproduce --list"
        )
    if page is not None and page.is_dir():
        raise VoicenymError(
            f"--page {page}: is a folder; name the first page, such as {page / 'reproduction.md'}"
        )
    if page is not None and page.suffix != ".md":
        raise VoicenymError(f"--page {page}: pages are Markdown; end its name in .md")
    if paper is not None:
        chosen = [one for name in (table or ["all"]) for one in paper_list.tables(paper, name)]
        if output is not None:  # one that cannot be written is refused before the work
            output.mkdir(parents=True, exist_ok=True)
            if not os.access(output, os.W_OK | os.X_OK):
                raise VoicenymError(f"{output}: cannot be written to; choose another folder")
        if stored:
            outcomes = {key: one for key, one in stored_outcomes.load().items()
                        if key in {c.key for c in chosen}}  # fmt: skip
        else:
            pipelines = named_folders(pipeline, "--pipeline", GIVEN)
            speaking = _bench(
                budget, speech, split, part, half, pool, pool_split, pool_part, verifier,
                recogniser, weights, retrained, pipelines, answers, cache, workers, quiet,
            )  # fmt: skip
            speaking.cloaks = named_folders(cloak, "--cloak", OF_CLOAKS)
            speaking.codecs = named_folders(codec, "--codec", OF_CODECS)
            outcomes = _run(chosen, speaking, update, len(chosen) == 1)
        _emit(chosen, outcomes, output, as_json, all_given=not stored)
    if page is not None:
        from voicenym.reproduction import pages

        for path in pages.write(page, stored_outcomes.load()):
            typer.echo(f"wrote {path}", err=True)


def _list(paper: str | None, as_json: bool) -> None:
    from voicenym.reproduction import paper_list, stored_outcomes
    from voicenym.reproduction.pages import needs, state

    outcomes = stored_outcomes.load()
    records = [
        {
            "paper": one.paper.name,
            "table": one.name,
            "shows": one.title,
            "needs": needs(one).replace("`", ""),
            "cost": one.cost,
            "run": state(one, outcomes),
        }
        for one in paper_list.tables(paper)
    ]
    columns = (field("paper"), field("table"), field("shows", prose=True),
               field("needs", prose=True), field("cost"), field("run", prose=True))  # fmt: skip
    tables.emit(records, columns, as_json=as_json)
    if as_json:
        return
    for name, absent in paper_list.not_here().items():
        for what, why in absent.items():
            if paper is None and tables.is_terminal():
                typer.echo(f"no command: {name} {what}: {why}")


def _bench(
    budget: str,
    speech: Path | None,
    split: str | None,
    part: str | None,
    half: str | None,
    pool: Path | None,
    pool_split: str | None,
    pool_part: str | None,
    verifiers: list[str],
    recogniser: str | None,
    weights: str | None,
    retrained: list[str],
    pipelines: dict[str, Path],
    answers: Path | None,
    cache: Path | None,
    workers: int | None,
    quiet: bool,
) -> Bench:
    """Bench of the options."""
    import torch

    from voicenym.anonymizer.system_settings import labelled
    from voicenym.apps.cli.options import recogniser_options
    from voicenym.apps.cli.options.corpus_options import progress_printer
    from voicenym.corpus.batches.engines import local_workers
    from voicenym.private import private_folder
    from voicenym.reproduction.bench import Bench, Speech
    from voicenym.reproduction.budgets import budget as named
    from voicenym.reproduction.counterparts import AAM
    from voicenym.reproduction.miao.miao_speech import SYSTEMS
    from voicenym.training.run.resources import require_training

    torch.set_num_threads(1)  # the same vectors for any number of workers
    size = named(budget)
    if size.attacker_seconds and speech is not None:
        require_training()
        if cache is None:
            raise VoicenymError(f"--budget {budget} trains attackers: give a folder with --cache")
    if cache is not None:
        private_folder(cache)
    given = None
    if speech is not None:
        given = Speech(speech, split, part, half, pool, pool_split, pool_part)
    bench = Bench(
        size, cache, given, answers=answers, workers=workers or 1,
        verifiers=tuple(verifiers) or ("ecapa-small",), say=progress_printer(quiet),
    )  # fmt: skip
    bench.pipelines = pipelines
    if retrained:
        given_weights = [labelled(f"{AAM[name]}:weights={pipelines[name]}")
                         for name in pipelines if name in AAM]  # fmt: skip
        systems = sorted({*SYSTEMS.values(), *given_weights})
        bench.retrained = recogniser_options.retrained_of(retrained, systems)
    if given is not None:
        bench.workers = local_workers(workers, len(bench.recordings) + size.pool)
        texts = [recording.text for recording in bench.recordings if recording.text]
        transcripts = None if cache is None else cache / "transcripts.jsonl"
        bench.recogniser = recogniser_options.recogniser_of(recogniser, weights, texts, transcripts)
    return bench


def _run(chosen: list[PaperTable], bench: Bench, update: bool, alone: bool) -> dict[str, Outcome]:
    """Runs tables in turn; of several, those whose speech is missing are named and left out."""
    from voicenym.reproduction import paper_list, stored_outcomes

    found = {}
    for one in chosen:
        try:
            found[one.key] = paper_list.run(one, bench)
        except VoicenymError as error:
            if alone:
                raise
            typer.echo(f"{one.key} is left out: {error}", err=True)
            continue
        if update:
            stored_outcomes.store({one.key: found[one.key]})
    if bench.recogniser is not None:
        bench.recogniser.close()
    return found


def _emit(
    chosen: list[PaperTable],
    outcomes: dict[str, Outcome],
    output: Path | None,
    as_json: bool,
    all_given: bool,
) -> None:
    from voicenym.reproduction.rendering import text

    if as_json:
        plain = {key: outcome.plain() for key, outcome in outcomes.items()}
        typer.echo(json.dumps(plain, indent=1, ensure_ascii=False))
    else:
        printed = [one for one in chosen if one.key in outcomes or not all_given]
        typer.echo("\n".join(text(one, outcomes.get(one.key)) for one in printed), nl=False)
    if output is None:
        return
    for one in chosen:
        if one.key in outcomes:
            name = one.key.replace(" ", "-")
            (output / f"{name}.txt").write_text(text(one, outcomes[one.key]), "utf-8")
            for picture, svg in outcomes[one.key].drawings.items():
                (output / f"{name}-{picture}").write_text(svg, "utf-8")
    typer.echo(f"wrote {output}", err=True)
