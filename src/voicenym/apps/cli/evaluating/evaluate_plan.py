"""Plan of an evaluation from the user's options: speech, trials, attackers and recognisers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.evaluating.evaluate_files import files_of, pool_of, submission_of
from voicenym.apps.cli.options import recogniser_options
from voicenym.errors import CorpusError, VoicenymError, counted

if TYPE_CHECKING:
    from voicenym.apps.cli.evaluating.evaluate_request import Request
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.corpus.recording import Recording
    from voicenym.corpus.skipped import LeftOut
    from voicenym.evaluation.evaluation_plan import Plan
    from voicenym.evaluation.trial_plans.trial_lists import Lists
    from voicenym.evaluation.trial_plans.trials import Trials

ATTACKERS = "attackers"
NO_SOUND = "none"


def plan_of(request: Request, left_out: LeftOut) -> Plan:
    """Reads the recordings of a request, and plans the evaluation.

    Args:
        request: checked (:meth:`Request.check`).
        left_out: collects recordings that cannot be read.

    Raises:
        VoicenymError: a fault in the request or the recordings that the user can fix.
    """
    from voicenym.attack.denoisers import denoisers
    from voicenym.corpus.telephone_line import TelephoneLine
    from voicenym.evaluation.evaluation_plan import Plan
    from voicenym.evaluation.reported_metrics import metrics
    from voicenym.verification.verifiers import installed, unconverted

    metrics()  # a defective one of another package is told before the work, not after it
    _check_sound(request.sound)
    asked = [*_every(request), *request.system]
    systems, names = _systems(asked, request)
    attackers_systems, theirs = _attackers_systems(request, {name for name, _ in systems})
    line = () if request.line is None else (TelephoneLine(request.line),)
    submission = submission_of(request)
    lists = _lists(request)
    speech = _speech(request, lists, left_out)
    pool = pool_of(request, submission, left_out)
    _check_disjoint(speech, pool.recordings)
    test, drawn = _trials(request, lists, speech)
    files = files_of(request, submission, test, pool, left_out)
    test = files.trials
    recogniser = recogniser_options.recogniser_of(
        request.recogniser,
        request.weights,
        [r.text for r in test.recordings if r.text],
        request.transcript_cache,
    )
    phones = recogniser_options.phones_of(request.phones)
    retrained = recogniser_options.retrained_of(request.retrained, names)
    transcripts = recogniser_options.transcripts_of(
        request.transcripts, [*names, "original", *(["files"] if files.published else [])]
    )
    if not request.verifiers and (missing := unconverted()):
        typer.echo(missing, err=True)
    return Plan(
        data=_data(request, *(one.title for one in line)),
        settings=f"{drawn}, {len(pool.recordings)} to train on, "
        f"seed {request.seed}{recogniser_options.named(recogniser, phones)}{theirs}",
        trials=test,
        pool=pool.recordings,
        systems=systems,
        attackers_systems=attackers_systems,
        files=files.published,
        attackers_files=files.attackers,
        published_enrolment=files.published_enrolment,
        pool_is_original=pool.is_original,
        file_notes=files.notes,
        line=line,
        denoisers=tuple(denoisers()) if request.denoise else (),
        keys=request.keys,
        only=tuple(request.only),
        device=request.device,
        verifiers=tuple(request.verifiers or installed()),
        attacker_training=_attacker_training(request, len(test.recordings) + len(pool.recordings)),
        normalise=request.normaliser is not None,
        per=request.per,
        targets=request.targets or "",
        sanity=request.sanity,
        recogniser=recogniser,
        transcripts=transcripts,
        retrained=retrained,
        phones=phones,
        sound=tuple(request.sound),
        sample=request.sample,
        replicates=request.replicates,
        seed=request.seed,
    )


def _check_sound(parts: Sequence[str]) -> None:
    """Refuses parts of names that no metric of sound has.

    Raises:
        VoicenymError: with the names.
    """
    from voicenym.evaluation.reported_metrics import of
    from voicenym.metrics.metric_inputs import SpeechPairs

    names = [metric.name for metric in of(SpeechPairs)]
    for part in parts:
        if part != NO_SOUND and not any(part in name for name in names):
            raise VoicenymError(
                f"--metric {part}: no metric of sound has this in its name; there are: "
                f"{', '.join(names)}, or {NO_SOUND}"
            )


def _every(request: Request) -> list[str]:
    """All systems that can be used, where they are asked for; with ``--live``, those that can."""
    from voicenym.anonymizer import load, usable

    if not request.every:
        return []
    found = usable(say_left_out)
    return [name for name in found if not request.live or load(name).works_live]


Systems = tuple[tuple[str, dict[str, Any]], ...]


def _systems(asked: list[str], request: Request) -> tuple[Systems, list[str]]:
    """Systems with the settings that differ from defaults, without duplicates, and their names.

    Raises:
        VoicenymError: no such system or setting; weights that are missing or do not fit; target
            voices that a system cannot draw.
    """
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for text in asked:
        called, name, settings = _checked(text, request)
        found[called] = name, settings
    return tuple(found.values()), list(found)


def _attackers_systems(request: Request, names: Set[str]) -> tuple[dict[str, dict[str, Any]], str]:
    """Settings of the attackers by the name of a system, and what the report says of them.

    Raises:
        VoicenymError: a system that is not evaluated, or is named twice; as :func:`_systems`.
    """
    found: dict[str, dict[str, Any]] = {}
    said = []
    for text in request.attacker_systems:
        called, name, settings = _checked(text, request)
        if name in found or name not in names:
            why = "is named twice" if name in found else "is no --system of this evaluation"
            raise VoicenymError(f"--attacker-system {text}: {name} {why}")
        found[name] = settings
        said.append(called)
    return found, f", attackers run {' and '.join(said)}" if said else ""


def _checked(text: str, request: Request) -> tuple[str, str, dict[str, Any]]:
    """A system that works: its name in the report, its name, and the settings that differ from
    its defaults, with those of the target voices.

    Raises:
        VoicenymError: as :func:`_systems`.
    """
    from voicenym.anonymizer import check_device, load
    from voicenym.anonymizer.live_delay import check_delay_is_used
    from voicenym.anonymizer.system_settings import label, parsed
    from voicenym.evaluation.trial_plans.voice_targets import drawn

    name, settings = parsed(text)
    if request.live:
        settings = {**settings, "live": True}
    if request.device != "cpu":
        settings = {**settings, "device": request.device}
    settings = dict(drawn(name, settings, request.per, request.targets or "").parameters)
    system = load(name, **settings)
    check_delay_is_used(system)
    check_device(system.device)
    system.check()
    return label(name, settings, system.version), name, settings


def _lists(request: Request) -> Lists | None:
    """Enrolment and trial lists: those of the options, or those in the corpus's folders."""
    from voicenym.evaluation.trial_plans.trial_lists import Lists, find_lists

    if request.trials:
        return Lists(tuple(request.enrolls), tuple(request.trials))
    if not request.lists or request.half is not None:
        return None
    return find_lists(request.source, without=request.anonymized_suffix)


def _speech(request: Request, lists: Lists | None, left_out: LeftOut) -> list[Recording]:
    """Recordings to evaluate."""
    from voicenym.corpus.readers.recording_subsets import halved
    from voicenym.corpus.recordings import check_field, recordings

    others = [] if request.pool is None else [request.pool]
    check_field(request.speaker_field, [request.source, *others])
    speech = recordings(
        request.source,
        request.split,
        request.part,
        left_out,
        level=request.speaker_level,
        field=request.speaker_field,
        allow_pipes=request.allow_pipes,
        only=None if lists is None else lists.names(),
        without=request.anonymized_suffix,
    )
    if not request.quiet:
        folders = [request.source, *([request.pool] if request.pool is not None else [])]
        _say_skipped(folders, request.output)
    return speech if request.half is None else halved(speech, request.half)


def _trials(request: Request, lists: Lists | None, speech: list[Recording]) -> tuple[Trials, str]:
    """Trials, and a description of their selection: as many recordings as a speaker has at most."""
    from voicenym.evaluation.trial_plans.trials import build
    from voicenym.evaluation.trial_plans.voiceprivacy import from_voiceprivacy

    if lists is not None:
        named = ", ".join(f"{path.parent.name}/{path.name}" for path in lists.trials)
        return from_voiceprivacy(lists.enrolment, lists.trials, speech), f"trials of {named}"
    test = build(
        speech,
        enrolment=request.enrolment,
        trials=request.tried,
        same_sex=not request.any_sex,
        seed=request.seed,
    )
    enrolled = max(len(model.recordings) for model in test.models)
    tried = max(Counter(recording.speaker for recording in test.recordings).values())
    return test, f"{counted(enrolled, 'recording')} to enrol and {tried} to try a speaker"


def _data(request: Request, *lines: str) -> str:
    """Description of the data in a line, by which cards match reports."""
    half = request.half and f"{request.half} half"
    where = [request.source.name or request.source, request.part, request.split, half]
    where += [f"over a telephone line ({line}, 8 kHz)" for line in lines]
    return ", ".join(str(part) for part in where if part)


def _say_skipped(folders: list[Path], output: Path) -> None:
    """Prints the files of the folders that are not evaluated, with reasons."""
    from voicenym.corpus.readers import folder_walk
    from voicenym.corpus.recordings import skipped

    parts = [part for folder in folders for part in skipped(folder, output)]
    for line in folder_walk.report(parts, rest=""):
        typer.echo(line, err=True)


def say_left_out(name: str, why: str) -> None:
    """Prints the reason why a system is not evaluated."""
    typer.echo(f"{name} is left out: {why}", err=True)


def _attacker_training(request: Request, recordings: int) -> AttackerTraining:
    """Training settings of semi-informed attackers; without a limit they train only a back end."""
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.corpus.batches.engines import local_workers
    from voicenym.training.run.resources import require_training, seconds

    training = AttackerTraining(
        request.vector_cache.parent / ATTACKERS,
        seconds(request.attacker_budget, "--attacker-budget") or 0.0,
        None if request.attacker_start == "nothing" else request.attacker_start,
        config=request.attacker_config,
        workers=local_workers(request.workers, recordings, request.device),
        pretrained=request.attacker_pretrained,
        steps=request.attacker_steps,
    )
    if training.of_networks:
        require_training()
    return training


def _check_disjoint(speech: Sequence[Recording], others: Sequence[Recording]) -> None:
    both = sorted({r.speaker for r in speech} & {r.speaker for r in others})
    if both:
        raise CorpusError(
            f"--pool: {both[0]} is also evaluated ({counted(len(both), 'such speaker')}); an "
            "attacker must "
            "train on other people"
        )
