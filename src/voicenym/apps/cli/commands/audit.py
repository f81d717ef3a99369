"""``voicenym audit``: attacks on one anonymized recording."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.evaluating.evaluate_libraries import check_libraries
from voicenym.apps.cli.options import speaker_level as levels
from voicenym.apps.cli.options.corpus_options import ALLOW_PIPES
from voicenym.apps.cli.options.refused_options import refuse_options
from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.skipped_files import FAIL_FAST, leaving_out
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.evaluation.recording_audit import Audit

POOL_SIZE = 200
"""Recordings of the pool at most, unless stated."""

app = new_app()


@command(
    app,
    "voicenym audit interview.wav interview.anon.wav --system recast",
)
def audit(
    original: Path = typer.Argument(help="The recording before."),
    anonymized: Path = typer.Argument(help="The recording after."),
    system: str | None = typer.Option(
        None,
        "--system",
        "-s",
        metavar="NAME[:FIELD=VALUE,...]",
        help="System that was used, with its settings where they differ from the defaults; adds "
        "attackers who know it.",
    ),
    verifiers: list[str] = typer.Option(
        [],
        "--verifier",
        help="Verifier of the attackers, as for evaluate; may be repeated. Default: ecapa-small, "
        "and resemblyzer if its weights are here.",
    ),
    pool: Path | None = typer.Option(
        None,
        "--pool",
        help="Original speech of other speakers, which calibrates the scores of ecapa:PLACE, "
        "xvector:PLACE, gmm-ubm:FOLDER and ivector:FOLDER.",
    ),
    pool_size: int = typer.Option(
        POOL_SIZE, "--pool-size", min=2, help="Recordings of --pool at most, from all its speakers."
    ),
    speaker_level: int | None = levels.SPEAKER_LEVEL,
    allow_pipes: bool = ALLOW_PIPES,
    fail_fast: bool = FAIL_FAST,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Attack one anonymized recording and report what was recognised.

    The exit status is 1 if the original waveform is still there.
    """
    from voicenym.anonymizer import check_device, load
    from voicenym.anonymizer.live_delay import check_delay_is_used
    from voicenym.anonymizer.system_settings import label, parsed
    from voicenym.corpus.readers.recording_subsets import pool_of
    from voicenym.corpus.recordings import recordings
    from voicenym.evaluation.recording_audit import audit as run
    from voicenym.verification.verifiers import installed, unconverted, verifier

    check_libraries("audit", ("scipy",))
    if pool is None:
        refuse_options(
            {
                "--pool-size": pool_size != POOL_SIZE, "--speaker-level": speaker_level,
                "--allow-pipes": allow_pipes, "--fail-fast": fail_fast,
            },
            "is of the speech of --pool; give that, or",
        )  # fmt: skip
    name, settings = (None, {}) if system is None else parsed(system)
    if name is not None:
        judged = load(name, **settings)
        check_delay_is_used(judged)
        check_device(judged.device)
        judged.check()
    with leaving_out(fail_fast, quiet=False) as left_out:
        others = []
        if pool is not None:
            everybody = recordings(
                pool, left_out=left_out, level=speaker_level, allow_pipes=allow_pipes
            )
            others = pool_of(everybody, pool_size)
        if not verifiers and (missing := unconverted()):
            typer.echo(missing, err=True)
        used = [verifier(name) for name in verifiers or installed()]
        if pool is not None and all(math.isfinite(one.calibration[0]) for one in used):
            raise VoicenymError(
                "--pool calibrates scores, and those of "
                f"{', '.join(one.name for one in used)} are calibrated; leave it out"
            )
        found = run(original, anonymized, used, name, settings, pool=others, left_out=left_out)
        if as_json:
            typer.echo(json.dumps(dataclasses.asdict(found), indent=2, ensure_ascii=False))
        else:
            called = None if name is None else label(name, settings)
            for line in page(found, anonymized, called, tables.width()):
                typer.echo(line)
    if found.is_copy:
        raise typer.Exit(1)


def page(found: Audit, anonymized: Path, system: str | None, room: int) -> list[str]:
    """Lines of an audit for a terminal of ``room`` columns: verdict, attackers, signal, limits.

    Args:
        found: the audit.
        anonymized: the file.
        system: of the output, with its settings, if known.
        room: columns.
    """
    records = [
        {"attacker": sight.attacker, "finds the pair": sight.words} for sight in found.sights
    ]
    columns = (tables.field("attacker"), tables.field("finds the pair", prose=True))
    lines = [tables.wrapped(text, room) for text in (found.verdict, found.searched())]
    lines += ["", *tables.aligned(records, columns, room), ""]
    before, after = found.pitch
    if before and after:
        lines.append(f"Pitch: median {before:.0f} Hz before, {after:.0f} Hz after.")
    lines.append(f"Waveforms: correlation {found.copied:.2f} (1 is a copy).")
    if abs(found.seconds[0] - found.seconds[1]) > 0.05:
        lines.append(f"Length: {found.seconds[0]:.2f} s before, {found.seconds[1]:.2f} s after.")
    lines += [tables.wrapped(f"Tag in the anonymized file: {tag}", room) for tag in found.tags]
    known = (
        "Attackers who know the system were not run: name it with --system."
        if system is None
        else f"Attackers who know the system {system} were run. Its figures over many speakers: "
        f"voicenym systems {system.partition(':')[0]}"
    )
    limits = (
        "These attackers compare with the very recording that was anonymized, which is the worst "
        "case. An attacker with other recordings of this speaker recognises less; one who trains "
        "on anonymized speech may recognise more. Words, accent and rhythm can identify a speaker "
        "too."
    )
    audited = tables.wrapped(f"Audited: {anonymized}", room)
    return [*lines, "", tables.wrapped(known, room), "", tables.wrapped(limits, room), audited]
