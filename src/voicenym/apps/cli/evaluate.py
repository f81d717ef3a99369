"""``voicenym evaluate``: measure the protection and report it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import recogniser_options
from voicenym.apps.cli import speaker_level as levels
from voicenym.apps.cli.command_group import command, new_app
from voicenym.apps.cli.progress import Progress
from voicenym.apps.cli.skipped_files import FAIL_FAST, leaving_out
from voicenym.errors import CorpusError, DependencyError, VoicenymError

if TYPE_CHECKING:
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.corpus.recording import Recording

CACHE = "cache.sqlite"
NEEDED = ("scipy", "matplotlib")
"""Without them there are no attackers and no figures; what else is missing only leaves gaps."""
ATTACKERS = "attackers"


app = new_app()


@command(
    app,
    "voicenym evaluate corpus/ -o report/ -s recast -s mcadams --pool other-speakers/",
    "voicenym evaluate --original corpus/ --anonymized theirs/ -o report/",
)
def evaluate(
    corpus: Path | None = typer.Argument(
        None, help="Folder of speakers, Kaldi data folder, or TSV manifest of original speech."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Folder of the report."),
    system: list[str] = typer.Option(
        [], "--system", "-s", rich_help_panel="Systems", help="System; may be repeated."
    ),
    every: bool = typer.Option(
        False,
        "--all",
        rich_help_panel="Systems",
        help="Evaluate every system whose weights are here.",
    ),
    original: Path | None = typer.Option(
        None, "--original", rich_help_panel="Systems", help="Original speech, with --anonymized."
    ),
    anonymized: Path | None = typer.Option(
        None,
        "--anonymized",
        rich_help_panel="Systems",
        help="The same recordings, anonymized by something else.",
    ),
    split: str | None = typer.Option(
        None, "--split", rich_help_panel="Speech", help="Split of a manifest to use."
    ),
    part: str | None = typer.Option(
        None, "--corpus", rich_help_panel="Speech", help="Corpus of a manifest to use."
    ),
    speaker_level: int | None = levels.SPEAKER_LEVEL,
    half: str | None = typer.Option(
        None,
        "--half",
        rich_help_panel="Speech",
        help=(
            "tune or report: use every other speaker, one half to tune a system and the "
            "other to report."
        ),
    ),
    pool: Path | None = typer.Option(
        None,
        "--pool",
        rich_help_panel="Attackers",
        help="Speech of other speakers, on which attackers train.",
    ),
    pool_split: str | None = typer.Option(
        None, "--pool-split", rich_help_panel="Attackers", help="Split of the manifest of --pool."
    ),
    pool_part: str | None = typer.Option(
        None,
        "--pool-corpus",
        rich_help_panel="Attackers",
        help="Corpus of the manifest of --pool.",
    ),
    pool_size: int = typer.Option(
        600,
        "--pool-size",
        min=0,
        rich_help_panel="Attackers",
        help="Recordings of --pool at most, from all its speakers.",
    ),
    enrolls: list[Path] = typer.Option(
        [],
        "--enrolls",
        rich_help_panel="Trials",
        help="VoicePrivacy enrolment list; may be repeated.",
    ),
    trials: list[Path] = typer.Option(
        [],
        "--trials",
        rich_help_panel="Trials",
        help=(
            "VoicePrivacy trial list; may be repeated. The rates of several lists are also "
            "averaged with the challenge's weights."
        ),
    ),
    enrolment: int = typer.Option(
        8,
        "--enrolment",
        min=1,
        rich_help_panel="Trials",
        help="Enrolment utterances per speaker.",
    ),
    tried: int = typer.Option(
        6, "--tried", min=1, rich_help_panel="Trials", help="Trial utterances per speaker."
    ),
    any_sex: bool = typer.Option(
        False,
        "--any-sex",
        rich_help_panel="Trials",
        help="Also compare speakers of different sex.",
    ),
    per: str = typer.Option(
        "speaker",
        "--per",
        rich_help_panel="Systems",
        help="One voice per speaker or per utterance.",
    ),
    keys: int = typer.Option(
        24, "--keys", min=1, rich_help_panel="Attackers", help="Keys that the key search tries."
    ),
    denoise: bool = typer.Option(True, help="Also run V-Cloak's de-noising attackers."),
    only: list[str] = typer.Option(
        [],
        "--attacker",
        rich_help_panel="Attackers",
        help=(
            "Run only attackers whose names contain this text, such as 'verifier trained'; "
            "may be repeated. The strongest attacker may then be missing."
        ),
    ),
    verifiers: list[str] = typer.Option(
        [],
        "--verifier",
        rich_help_panel="Attackers",
        help=(
            "Verifier of the attackers: ecapa-small, resemblyzer, a folder of voicenym "
            "train verifier, gmm-ubm:FOLDER of train ubm or ivector, ivector:FOLDER of "
            "train ivector, ecapa:PLACE or xvector:PLACE of published weights (a pulled "
            "name, or a folder of models convert); may be repeated. Default: the first two, "
            "if their weights are here."
        ),
    ),
    attacker_budget: str | None = typer.Option(
        None,
        "--attacker-budget",
        rich_help_panel="Attackers",
        help=(
            "Training time of the semi-informed attacker per system, such as 20m or 2h: it "
            "trains a verifier on the anonymized --pool. Without, it trains a back end "
            "only."
        ),
    ),
    attacker_start: str = typer.Option(
        "ecapa-small",
        "--attacker-from",
        rich_help_panel="Attackers",
        help="Verifier that this training starts from; 'nothing' trains from scratch.",
    ),
    attacker_config: str = typer.Option(
        "attacker",
        "--attacker-config",
        rich_help_panel="Attackers",
        help="Configuration of this training.",
    ),
    normaliser: str | None = typer.Option(
        None,
        "--normalise",
        rich_help_panel="Attackers",
        help="as-norm: also run attackers with scores normalised against --pool.",
    ),
    recogniser: str = typer.Option(
        "sphinx",
        "--recogniser",
        rich_help_panel="Words",
        help="sphinx, whisper, wav2vec2, hybrid or ctc (trained here), or none.",
    ),
    weights: str | None = typer.Option(
        None,
        "--recogniser-weights",
        rich_help_panel="Words",
        help="Folder or hub name of its weights.",
    ),
    retrained: list[str] = typer.Option(
        [],
        "--recogniser-anonymized",
        rich_help_panel="Words",
        help="SYSTEM=FOLDER: a recogniser that voicenym train recogniser trained on this system's "
        "output; may be repeated.",
    ),
    transcripts: list[str] = typer.Option(
        [],
        "--transcripts",
        rich_help_panel="Words",
        help=(
            "SYSTEM=FILE: transcripts of a system's output by another recogniser "
            "(original=FILE, files=FILE): Kaldi's text, a TSV or a folder; may be repeated."
        ),
    ),
    sample: int = typer.Option(60, "--sample", min=1, help="Recordings to measure utility on."),
    replicates: int = typer.Option(
        1000, "--replicates", min=20, help="Bootstrap replicates of the intervals."
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of trials, samples and bootstrap."),
    workers: int = typer.Option(1, "--workers", "-j", min=1, help="Number of processes."),
    cache: Path | None = typer.Option(
        None, "--cache", help="Cache of speaker vectors; default: in the report."
    ),
    fail_fast: bool = FAIL_FAST,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors only."),
    vectors: Path | None = typer.Option(
        None,
        "--vectors",
        rich_help_panel="Vectors",
        help=(
            "Evaluate identity methods on speaker vectors, in a folder of voicenym pool "
            "build --utterances; --pool is then such a folder too."
        ),
    ),
    identities: list[str] = typer.Option(
        [],
        "--identity",
        rich_help_panel="Vectors",
        help="[LABEL=]METHOD:FIELD=VALUE,..., for --vectors; may be repeated.",
    ),
    attacker_identities: list[str] = typer.Option(
        [],
        "--attacker-identity",
        rich_help_panel="Vectors",
        help="LABEL=METHOD:..., the method with the weights of the attackers, where they differ.",
    ),
) -> None:
    """Anonymize, attack and measure a corpus; write a report.

    The report is a folder: index.html to read, results.json and results.csv for programs.
    """
    if vectors is not None:
        from voicenym.apps.cli import evaluate_vectors

        _needs_extra()
        evaluate_vectors.run(
            vectors,
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
    if per not in ("speaker", "utterance"):
        raise VoicenymError(f"--per is speaker or utterance, not {per!r}")
    if (corpus is None) == (original is None):
        raise VoicenymError("give the original speech once: as an argument or with --original")
    if (original is None) != (anonymized is None):
        raise VoicenymError("--original and --anonymized belong together")
    if bool(enrolls) != bool(trials):
        raise VoicenymError("--enrolls and --trials belong together")
    if normaliser not in (None, "as-norm"):
        raise VoicenymError(f"--normalise is as-norm, not {normaliser!r}")
    _needs_extra()
    if output.exists() and not output.is_dir():
        raise VoicenymError(f"{output}: is a file; give a folder for the report")
    import torch

    from voicenym.anonymizer import load, usable
    from voicenym.attack.denoisers import denoisers
    from voicenym.corpus.recordings import halved, matched, recordings, spread
    from voicenym.evaluation import report, results, saved_scores
    from voicenym.evaluation.evaluation_plan import Plan
    from voicenym.evaluation.protocol import evaluate as run
    from voicenym.evaluation.text_summary import summary
    from voicenym.evaluation.trials import build
    from voicenym.evaluation.voiceprivacy import from_voiceprivacy
    from voicenym.verification.verifiers import installed, unconverted

    torch.set_num_threads(1)  # the same vectors for any number of workers
    names = usable(_left_out) if every else system
    for name in names:
        load(name).check()
    with leaving_out(fail_fast, quiet) as left_out:
        source = corpus or original
        assert source is not None
        speech = recordings(source, split, part, left_out, level=speaker_level)
        speech = speech if half is None else halved(speech, half)
        others = []
        if pool is not None:
            everybody = recordings(pool, pool_split, pool_part, left_out, level=speaker_level)
            others = spread(everybody, pool_size)
        if not quiet:
            _say_skipped([source, *([pool] if pool is not None else [])], output)
        _check_disjoint(speech, others)
        files = None if anonymized is None else matched(speech, anonymized, left_out)
        if trials:
            test = from_voiceprivacy(enrolls, trials, speech)
            drawn = f"trials of {', '.join(f'{path.parent.name}/{path.name}' for path in trials)}"
        else:
            drawn = f"{enrolment} recordings to enrol and {tried} to try a speaker"
            test = build(speech, enrolment=enrolment, trials=tried, same_sex=not any_sex, seed=seed)
        hears = recogniser_options.recogniser_of(
            recogniser, weights, [r.text for r in test.recordings if r.text]
        )
        learnt = recogniser_options.retrained_of(retrained, names)
        heard = recogniser_options.transcripts_of(
            transcripts, [*names, "original", *(["files"] if files else [])]
        )
        where = [
            str(source.name or source),
            *(x for x in (part, split, half and f"{half} half") if x),
        ]
        place = cache or output / CACHE
        if not verifiers and (missing := unconverted()):
            typer.echo(missing, err=True)
        plan = Plan(
            data=", ".join(where),
            settings=f"{drawn}, {len(others)} to train on, {keys} keys searched, seed {seed}",
            trials=test,
            pool=tuple(others),
            systems=tuple((name, {}) for name in names),
            files=files,
            denoisers=tuple(denoisers()) if denoise else (),
            keys=keys,
            only=tuple(only),
            verifiers=tuple(verifiers or installed()),
            attacker_training=_attacker_training(
                attacker_budget, attacker_start, attacker_config, place.parent / ATTACKERS, workers
            ),
            normalise=normaliser is not None,
            per=per,
            recogniser=hears,
            transcripts=heard,
            retrained=learnt,
            sample=sample,
            replicates=replicates,
            seed=seed,
        )
        with Progress(quiet) as tell:
            evaluation, evidence = run(plan, place, workers, tell, tell.done, left_out)
        if hears is not None:
            hears.close()
        results.save(evaluation, output)
        saved_scores.save(evaluation, evidence, output)
        page = report.write(evaluation, evidence, output)
        if not quiet:
            typer.echo(summary(evaluation))
            typer.echo(f"report: {page}")


def _say_skipped(folders: list[Path], output: Path) -> None:
    """Print which files of the folders are not evaluated, and why."""
    from voicenym.corpus import folder_walk
    from voicenym.corpus.recordings import skipped

    parts = [part for folder in folders for part in skipped(folder, output)]
    for line in folder_walk.report(parts, rest=""):
        typer.echo(line, err=True)


def _left_out(name: str, why: str) -> None:
    typer.echo(f"{name} is left out: {why}", err=True)


def _attacker_training(
    budget: str | None, start: str, config: str, folder: Path, workers: int
) -> AttackerTraining:
    """How the semi-informed attackers train; without a budget they train a back end only."""
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.training.run.resources import require_training, seconds

    limit = seconds(budget) or 0.0
    if limit:
        require_training()
    begun = None if start == "nothing" else start
    return AttackerTraining(folder, limit, begun, config=config, workers=workers)


def _needs_extra() -> None:
    """Refuse at once where a library is missing, and not after hours of computing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise DependencyError(
            f"voicenym evaluate needs {' and '.join(missing)}: pip install 'voicenym[evaluate]'"
        )


def _check_disjoint(speech: list[Recording], others: list[Recording]) -> None:
    both = sorted({r.speaker for r in speech} & {r.speaker for r in others})
    if both:
        raise CorpusError(
            f"--pool: {both[0]} is also evaluated ({len(both)} such speakers); an attacker must "
            "train on other people"
        )
