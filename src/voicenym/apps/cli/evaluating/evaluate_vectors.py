"""``voicenym evaluate --vectors``: evaluation of identity methods on speaker vectors."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.evaluating import report_folder
from voicenym.apps.cli.terminal import tables
from voicenym.errors import VoicenymError, counted


def run(
    users: Path,
    others: Path | None,
    methods: list[str],
    output: Path,
    *,
    attackers: list[str],
    enrolment: int,
    tried: int,
    per: str,
    replicates: int,
    seed: int,
    quiet: bool,
) -> None:
    """Evaluates methods on vectors of utterances, and writes a report.

    Args:
        users, others: folders of voicenym pool build --utterances.
        methods: ``[LABEL=]NAME:FIELD=VALUE,...`` each.
        output: folder of the report.
        attackers: ``LABEL=NAME:...`` of attackers with other weights than the users'.
        enrolment, tried: utterances per speaker.
        per: speaker or utterance.
        replicates: of the bootstrap.
        seed: of the split into enrolment and trials, and of the keys, so that figures are
            reproducible; these keys protect nothing.
        quiet: print only errors.
    """
    from voicenym.evaluation.measurements.vector_evaluation import Bench, Candidate, evaluate_method
    from voicenym.evaluation.reports import vector_report
    from voicenym.evaluation.results_file import RESULTS
    from voicenym.identity import METHODS
    from voicenym.identity.pools.speaker_pool import load
    from voicenym.pseudonym import Key

    if others is None:
        raise VoicenymError(
            "--vectors needs --pool, vectors of other people, on whom attackers train"
        )
    if not methods:
        raise VoicenymError("--vectors needs --identity, such as selection:pool=FOLDER")
    if per not in ("speaker", "utterance"):
        raise VoicenymError(f"--per is speaker or utterance, not {per!r}")
    theirs = _by_label("--attacker-identity", attackers)
    candidates = []
    for label, method in _by_label("--identity", methods).items():
        other = theirs.pop(label, None)
        candidates.append(
            Candidate(label, METHODS.load(method), METHODS.load(other) if other else None)
        )
    if theirs:
        raise VoicenymError(f"--attacker-identity {next(iter(theirs))}: no --identity of that name")
    bench = Bench.of(load(users), load(others), enrolment, tried, seed)
    report_folder.prepared(output, RESULTS)
    keys = [Key(bytes([kind]) + seed.to_bytes(31, "big")) for kind in (1, 2)]
    evaluated = []
    for candidate in candidates:
        if not quiet:
            typer.echo(candidate.name, err=True)
        evaluated.append(evaluate_method(candidate, bench, *keys, per=per, replicates=replicates))
    settings = (
        f"{users.name}: {counted(len(bench.trials.models), 'speaker')}, "
        f"{counted(enrolment, 'vector')} to enrol and "
        f"{tried} to try, a pseudonym per {per}; attackers learn from {others.name}, seed {seed}"
    )
    with report_folder.written(output):
        page = vector_report.write(evaluated, bench, output, settings)
    if not quiet:
        found = vector_report.records(evaluated)
        columns = [tables.field(name) for name in found[0]]
        notes = ["EER in percent by attacker, then figures of the vectors, with 95 % intervals."]
        tables.emit(found, columns, notes=notes)
        typer.echo(f"report: {page}", err=True)


def _by_label(option: str, texts: list[str]) -> dict[str, str]:
    """Methods by label.

    Raises:
        VoicenymError: two have the same label, by which tables, figures and attackers know them.
    """
    found: dict[str, str] = {}
    for text in texts:
        label, method = _labelled(text)
        if label in found:
            raise VoicenymError(
                f"{option} {text}: {label} is there already; name one of them, such as "
                f"{label}2={method}"
            )
        found[label] = method
    return found


def _labelled(text: str) -> tuple[str, str]:
    """Label and method of ``LABEL=NAME:...``; the default label is the name."""
    head, equals, rest = text.partition("=")
    if equals and ":" not in head:
        return head, rest
    return text.partition(":")[0], text
