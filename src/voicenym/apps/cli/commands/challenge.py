"""``voicenym challenge``: a system on the data of a VoicePrivacy Challenge, with its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voicenym.apps.cli.commands import evaluate as evaluation_command
from voicenym.apps.cli.evaluating.evaluate_request import Request
from voicenym.apps.cli.options import evaluate_options as options
from voicenym.apps.cli.options.corpus_options import ALLOW_PIPES
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import CorpusError, VoicenymError

TRAINING = "train-clean-360"
"""Folder of the attackers' training speech, in the challenge's folder or beside it."""
REPORT = "report"
BUDGET = "30m"
"""Time of the attacker's training where neither time nor steps are given."""

app = new_app()


@command(
    app,
    "voicenym challenge data/ -s mcadams --year 2022 -o results/",
    "voicenym challenge data/ -s recast --year 2024 --attacker-budget 2h -o results/",
)
def challenge(
    data: Path = typer.Argument(
        help="Folder of the challenge's data folders: libri_dev_enrolls, libri_dev_trials_f, ..."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Folder of the results."),
    system: str = typer.Option(..., "--system", "-s", help="System, such as mcadams:low=0.8."),
    year: int = typer.Option(2022, "--year", help="Challenge: 2020, 2022 or 2024."),
    pool: Path | None = typer.Option(
        None,
        "--pool",
        help=f"Speech on which the attacker trains. Default: {TRAINING} in DATA or beside it.",
    ),
    pool_size: int = options.POOL_SIZE,
    attacker_budget: str | None = typer.Option(
        None,
        "--attacker-budget",
        help=f"Time of the attacker's training, such as 2h. Default: {BUDGET}, or no limit of time "
        "with --attacker-steps.",
    ),
    attacker_steps: int | None = options.ATTACKER_STEPS,
    verifiers: list[str] = options.VERIFIERS,
    recogniser: str | None = options.RECOGNISER,
    weights: str | None = options.WEIGHTS,
    sample: int = options.SAMPLE,
    replicates: int = options.REPLICATES,
    seed: int = options.SEED,
    workers: int | None = options.WORKERS,
    cache: Path | None = options.CACHE,
    allow_pipes: bool = ALLOW_PIPES,
    quiet: bool = options.QUIET,
) -> None:
    """Evaluate as a VoicePrivacy Challenge does; write its files.

    The system anonymizes trials, enrolment and the attacker's training speech, on which the
    challenge's attacker trains. 2020 and 2022 get results.txt, 2024 result_for_rank_SYSTEM;
    summary.md has a table, and report/ what voicenym evaluate writes.
    """
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.skipped import LeftOut
    from voicenym.evaluation import results_file
    from voicenym.evaluation.challenge_tables import YEARS, check_lists, results, summary
    from voicenym.evaluation.challenge_tables import challenge as figures
    from voicenym.evaluation.trial_plans.challenge_lists import set_of
    from voicenym.evaluation.trial_plans.trial_lists import check_challenge, find_lists
    from voicenym.evaluation.trial_plans.voiceprivacy import from_voiceprivacy
    from voicenym.private import write_inside

    if year not in YEARS:
        raise VoicenymError(f"--year is {', '.join(map(str, YEARS))}, not {year}")
    if data.is_dir():
        check_challenge(data)
    lists = find_lists(data)
    if lists is None:
        raise CorpusError(
            f"{data}: no lists enrolls and trials in its data folders; give the challenge's data/"
        )
    named = recordings(data, left_out=LeftOut(), allow_pipes=allow_pipes, only=lists.names())
    check_lists(from_voiceprivacy(lists.enrolment, lists.trials, named))
    if attacker_budget is None and attacker_steps is None:
        attacker_budget = BUDGET
    subsets = {set_of(path).partition("_")[2] for path in lists.trials}
    report = output / REPORT
    given: dict[str, Any] = {
        "corpus": data, "output": report, "system": [system], "pool": pool or _training(data),
        "pool_size": pool_size, "attacker_budget": attacker_budget,
        "attacker_steps": attacker_steps, "attacker_start": "nothing",
        "per": "utterance" if year >= 2024 else "speaker", "only": ["ignorant", f"asv-eval-{year}"],
        "denoise": False, "sanity": False, "verifiers": verifiers, "recogniser": recogniser,
        "weights": weights, "sample": sample, "replicates": replicates, "seed": seed,
        "workers": workers, "cache": cache, "allow_pipes": allow_pipes, "quiet": quiet,
    }  # fmt: skip
    evaluation_command.measured(Request(**{**evaluation_command.defaults(), **given}))
    found = figures(results_file.load(report), year, min(subsets))
    name = found.system.system
    file = output / (f"result_for_rank_{name}" if year >= 2024 else "results.txt")
    for path, text in ((file, results(found)), (output / "summary.md", summary(found))):
        try:
            write_inside(path, text)
        except OSError as error:
            raise VoicenymError(f"{path}: cannot be written ({error.strerror})") from error
    if not quiet:
        typer.echo(summary(found))
        typer.echo(f"{file}\n{output / 'summary.md'}\n{report / 'index.html'}")


def _training(data: Path) -> Path:
    for place in (data / TRAINING, data.resolve().parent / TRAINING):
        if place.is_dir():
            return place
    raise CorpusError(
        f"{data}: no {TRAINING} in it or beside it, on which the attacker trains; give --pool DIR"
    )
