"""``voicenym evaluate``: measure the protection and report it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import typer

from voicenym.apps.cli.evaluating.evaluate_libraries import check_libraries
from voicenym.apps.cli.evaluating.evaluate_request import Request
from voicenym.apps.cli.options import evaluate_options as options
from voicenym.apps.cli.options import speaker_level as levels
from voicenym.apps.cli.options.corpus_options import ALLOW_PIPES, SPEAKER_FIELD
from voicenym.apps.cli.options.engine_options import ADDRESS, DEVICE, ENGINE, GPUS
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.apps.cli.terminal.skipped_files import FAIL_FAST, leaving_out

NEEDED = ("scipy", "matplotlib")
"""Libraries without which there are no attackers and no figures; others are optional."""


app = new_app()


@command(
    app,
    "voicenym evaluate corpus/ -o report/ -s recast -s mcadams --pool other-speakers/",
    "voicenym evaluate --original corpus/ --anonymized theirs/ -o report/",
    "voicenym evaluate --original data/ --anonymized-suffix _mcadams -o report/",
)
def evaluate(
    corpus: Path | None = options.CORPUS,
    output: Path = options.OUTPUT,
    system: list[str] = options.SYSTEM,
    every: bool = options.EVERY,
    original: Path | None = options.ORIGINAL,
    anonymized: Path | None = options.ANONYMIZED,
    anonymized_suffix: str = options.ANONYMIZED_SUFFIX,
    anonymized_enrolment: list[Path] = options.ANONYMIZED_ENROLMENT,
    anonymized_pool: list[Path] = options.ANONYMIZED_POOL,
    split: str | None = options.SPLIT,
    part: str | None = options.PART,
    speaker_level: int | None = levels.SPEAKER_LEVEL,
    speaker_field: str | None = SPEAKER_FIELD,
    half: str | None = options.HALF,
    line: str | None = options.LINE,
    live: bool = options.LIVE,
    pool: Path | None = options.POOL,
    pool_split: str | None = options.POOL_SPLIT,
    pool_part: str | None = options.POOL_PART,
    pool_size: int = options.POOL_SIZE,
    enrolls: list[Path] = options.ENROLLS,
    trials: list[Path] = options.TRIALS,
    lists: bool = options.LISTS,
    enrolment: int = options.ENROLMENT,
    tried: int = options.TRIED,
    any_sex: bool = options.ANY_SEX,
    per: str = options.PER,
    targets: str | None = options.TARGETS,
    keys: int = options.KEYS,
    denoise: bool = options.DENOISE,
    sanity: bool = options.SANITY,
    only: list[str] = options.ONLY,
    attacker_systems: list[str] = options.ATTACKER_SYSTEMS,
    verifiers: list[str] = options.VERIFIERS,
    attacker_budget: str | None = options.ATTACKER_BUDGET,
    attacker_steps: int | None = options.ATTACKER_STEPS,
    attacker_start: str = options.ATTACKER_START,
    attacker_config: str = options.ATTACKER_CONFIG,
    attacker_pretrained: Path | None = options.ATTACKER_PRETRAINED,
    normaliser: str | None = options.NORMALISER,
    recogniser: str | None = options.RECOGNISER,
    weights: str | None = options.WEIGHTS,
    retrained: list[str] = options.RETRAINED,
    phones: str = options.PHONES,
    sound: list[str] = options.SOUND,
    transcripts: list[str] = options.TRANSCRIPTS,
    sample: int = options.SAMPLE,
    replicates: int = options.REPLICATES,
    seed: int = options.SEED,
    workers: int | None = options.WORKERS,
    cache: Path | None = options.CACHE,
    allow_pipes: bool = ALLOW_PIPES,
    fail_fast: bool = FAIL_FAST,
    quiet: bool = options.QUIET,
    vectors: Path | None = options.VECTORS,
    identities: list[str] = options.IDENTITIES,
    attacker_identities: list[str] = options.ATTACKER_IDENTITIES,
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    gpus: float | None = GPUS,
    device: str = DEVICE,
) -> None:
    """Anonymize, attack and measure a corpus; write a report.

    The report is a folder: index.html to read, results.json and results.csv for programs.
    """
    request = Request(**locals())  # the parameters, all of which are its fields
    if request.vectors is not None:
        from voicenym.apps.cli.evaluating import evaluate_vectors

        check_libraries("evaluate", NEEDED)
        request.check_vectors(defaults())
        evaluate_vectors.run(
            request.vectors,
            pool,
            identities,
            output,
            attackers=attacker_identities,
            enrolment=enrolment,
            tried=tried,
            per=per,
            replicates=replicates,
            seed=seed,
            quiet=quiet,
        )
        return
    measured(request)


def defaults() -> dict[str, Any]:
    """Values of the options that are not given, by the names of the fields of a request."""
    parameters = inspect.signature(evaluate).parameters
    return {name: getattr(one.default, "default", one.default) for name, one in parameters.items()}


def measured(request: Request) -> None:
    """Evaluates what a request asks for, and writes the report.

    Raises:
        VoicenymError: options that exclude or lack each other, or as the evaluation says.
    """
    request.check()
    check_libraries("evaluate", NEEDED)
    _run(request)


def _run(request: Request) -> None:
    """Plans and runs the evaluation, and writes the report."""
    import torch

    from voicenym.apps.cli.evaluating import report_folder
    from voicenym.apps.cli.evaluating.evaluate_plan import plan_of
    from voicenym.corpus.batches.engines import engine_of, workers_of
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.evaluation import results_file
    from voicenym.evaluation.comparisons import saved_scores
    from voicenym.evaluation.measurements.finished_parts import forget
    from voicenym.evaluation.protocol import evaluate as run
    from voicenym.evaluation.reports import report, vector_report
    from voicenym.evaluation.reports.run_ending import ending
    from voicenym.evaluation.reports.text_summary import summary

    torch.set_num_threads(1)  # the same vectors for any number of workers
    output, quiet = request.output, request.quiet
    engine = engine_of(request.engine, request.address, request.gpus, request.device)
    with private_copies(), leaving_out(request.fail_fast, quiet) as left_out:
        plan = plan_of(request, left_out)
        report_folder.prepared(output, vector_report.RESULTS)
        with Progress(quiet) as tell:
            evaluation, evidence = run(
                plan,
                request.vector_cache,
                workers_of(engine, request.workers, plan.count, request.device),
                tell,
                tell.done,
                left_out,
                engine,
            )
        if plan.recogniser is not None:
            plan.recogniser.close()
        with report_folder.written(output, request.vector_cache):
            results_file.save(evaluation, output)
            saved_scores.save(evaluation, evidence, output)
            page = report.write(evaluation, evidence, output)
        forget(request.vector_cache)
        if not quiet:
            typer.echo(summary(evaluation))
            typer.echo("\n".join(ending(evaluation, page)))
