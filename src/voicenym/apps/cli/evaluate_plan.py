"""The plan of an evaluation from what a user asks: speech, trials, attackers and recognisers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli import recogniser_options
from voicenym.errors import CorpusError

if TYPE_CHECKING:
    from voicenym.apps.cli.evaluate_request import Request
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.corpus.recording import Recording
    from voicenym.corpus.skipped import LeftOut
    from voicenym.evaluation.evaluation_plan import Plan
    from voicenym.evaluation.trials import Trials

ATTACKERS = "attackers"


def plan_of(request: Request, left_out: LeftOut) -> Plan:
    """Read what is asked for and plan the evaluation.

    Args:
        request: checked (:meth:`Request.check`).
        left_out: collects recordings that cannot be read.

    Raises:
        VoicenymError: whatever in the request or the recordings a user can mend.
    """
    from voicenym.anonymizer import usable
    from voicenym.attack.denoisers import denoisers
    from voicenym.corpus.anonymized_files import matched
    from voicenym.evaluation.evaluation_plan import Plan
    from voicenym.verification.verifiers import installed, unconverted

    asked = [*(usable(say_left_out) if request.every else ()), *request.system]
    systems, names = _systems(asked)
    speech, others = _speech(request, left_out)
    files = None
    if request.anonymized is not None:
        files = matched(speech, request.anonymized, left_out, allow_pipes=request.allow_pipes)
    test, drawn = _trials(request, speech)
    recogniser = recogniser_options.recogniser_of(
        request.recogniser,
        request.weights,
        [r.text for r in test.recordings if r.text],
        request.transcript_cache,
    )
    phones = recogniser_options.phones_of(request.phones)
    retrained = recogniser_options.retrained_of(request.retrained, names)
    transcripts = recogniser_options.transcripts_of(
        request.transcripts, [*names, "original", *(["files"] if files else [])]
    )
    if not request.verifiers and (missing := unconverted()):
        typer.echo(missing, err=True)
    return Plan(
        data=_data(request),
        settings=f"{drawn}, {len(others)} to train on, {request.keys} keys searched, "
        f"seed {request.seed}{recogniser_options.named(recogniser, phones)}",
        trials=test,
        pool=tuple(others),
        systems=systems,
        files=files,
        denoisers=tuple(denoisers()) if request.denoise else (),
        keys=request.keys,
        only=tuple(request.only),
        verifiers=tuple(request.verifiers or installed()),
        attacker_training=_attacker_training(request),
        normalise=request.normaliser is not None,
        per=request.per,
        recogniser=recogniser,
        transcripts=transcripts,
        retrained=retrained,
        phones=phones,
        sound=tuple(request.sound),
        sample=request.sample,
        replicates=request.replicates,
        seed=request.seed,
    )


Systems = tuple[tuple[str, dict[str, Any]], ...]


def _systems(asked: list[str]) -> tuple[Systems, list[str]]:
    """Systems with the settings that differ from defaults, each once, and their names in a report.

    Raises:
        VoicenymError: no such system or setting; weights that are missing or do not fit.
    """
    from voicenym.anonymizer import load
    from voicenym.evaluation.system_settings import label, parsed

    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for text in asked:
        name, settings = parsed(text)
        system = load(name, **settings)
        system.check()
        found[label(name, settings, system.version)] = name, settings
    return tuple(found.values()), list(found)


def _speech(request: Request, left_out: LeftOut) -> tuple[list[Recording], list[Recording]]:
    """Recordings that are evaluated, and those of other people, on which attackers train."""
    from voicenym.corpus.recordings import halved, recordings, spread

    how: dict[str, Any] = {"level": request.speaker_level, "allow_pipes": request.allow_pipes}
    speech = recordings(request.source, request.split, request.part, left_out, **how)
    speech = speech if request.half is None else halved(speech, request.half)
    others: list[Recording] = []
    if request.pool is not None:
        everybody = recordings(request.pool, request.pool_split, request.pool_part, left_out, **how)
        others = spread(everybody, request.pool_size)
    if not request.quiet:
        folders = [request.source, *([request.pool] if request.pool is not None else [])]
        _say_skipped(folders, request.output)
    _check_disjoint(speech, others)
    return speech, others


def _trials(request: Request, speech: list[Recording]) -> tuple[Trials, str]:
    """The trials, and how they were drawn."""
    from voicenym.evaluation.trials import build
    from voicenym.evaluation.voiceprivacy import from_voiceprivacy

    if request.trials:
        lists = ", ".join(f"{path.parent.name}/{path.name}" for path in request.trials)
        return from_voiceprivacy(request.enrolls, request.trials, speech), f"trials of {lists}"
    test = build(
        speech,
        enrolment=request.enrolment,
        trials=request.tried,
        same_sex=not request.any_sex,
        seed=request.seed,
    )
    drawn = f"{request.enrolment} recordings to enrol and {request.tried} to try a speaker"
    return test, drawn


def _data(request: Request) -> str:
    """What is evaluated, in a line."""
    half = request.half and f"{request.half} half"
    where = [request.source.name or request.source, request.part, request.split, half]
    return ", ".join(str(part) for part in where if part)


def _say_skipped(folders: list[Path], output: Path) -> None:
    """Print which files of the folders are not evaluated, and why."""
    from voicenym.corpus import folder_walk
    from voicenym.corpus.recordings import skipped

    parts = [part for folder in folders for part in skipped(folder, output)]
    for line in folder_walk.report(parts, rest=""):
        typer.echo(line, err=True)


def say_left_out(name: str, why: str) -> None:
    """Print why a system is not evaluated."""
    typer.echo(f"{name} is left out: {why}", err=True)


def _attacker_training(request: Request) -> AttackerTraining:
    """How the semi-informed attackers train; without a budget they train a back end only."""
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.training.run.resources import require_training, seconds

    limit = seconds(request.attacker_budget) or 0.0
    if limit:
        require_training()
    return AttackerTraining(
        request.vector_cache.parent / ATTACKERS,
        limit,
        None if request.attacker_start == "nothing" else request.attacker_start,
        config=request.attacker_config,
        workers=request.workers,
    )


def _check_disjoint(speech: list[Recording], others: list[Recording]) -> None:
    both = sorted({r.speaker for r in speech} & {r.speaker for r in others})
    if both:
        raise CorpusError(
            f"--pool: {both[0]} is also evaluated ({len(both)} such speakers); an attacker must "
            "train on other people"
        )
