"""``voicenym audit``: one recording, and what an attacker sees of it."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import speaker_level as levels
from voicenym.apps.cli.command_group import command, new_app
from voicenym.apps.cli.skipped_files import FAIL_FAST, leaving_out

app = new_app()


@command(
    app,
    "voicenym audit interview.wav interview.anon.wav --system recast",
)
def audit(
    original: Path = typer.Argument(help="The recording before."),
    anonymized: Path = typer.Argument(help="The recording after."),
    system: str | None = typer.Option(
        None, "--system", "-s", help="System that was used: tries attackers who know it."
    ),
    verifiers: list[str] = typer.Option(
        [],
        "--verifier",
        help="What attackers compare voices with, as for evaluate; may be repeated. Default: "
        "ecapa-small and resemblyzer, as far as pulled.",
    ),
    pool: Path | None = typer.Option(
        None,
        "--pool",
        help="Original speech of other people: verifiers that do not know what their scores mean "
        "(ecapa:PLACE, xvector:PLACE, gmm-ubm:FOLDER, ivector:FOLDER) learn it from this.",
    ),
    pool_size: int = typer.Option(
        200, "--pool-size", min=2, help="Recordings of it at most, spread over its speakers."
    ),
    speaker_level: int | None = levels.SPEAKER_LEVEL,
    fail_fast: bool = FAIL_FAST,
) -> None:
    """Attack one anonymized recording and say what was recognised."""
    from voicenym.anonymizer import load
    from voicenym.corpus.recordings import recordings, spread
    from voicenym.evaluation.recording_audit import audit as run
    from voicenym.verification.verifiers import installed, unconverted, verifier

    if system is not None:
        load(system)
    with leaving_out(fail_fast, quiet=False) as left_out:
        others = []
        if pool is not None:
            everybody = recordings(pool, left_out=left_out, level=speaker_level)
            others = spread(everybody, pool_size)
        if not verifiers and (missing := unconverted()):
            typer.echo(missing, err=True)
        ears = [verifier(name) for name in verifiers or installed()]
        found = run(original, anonymized, ears, system, pool=others, left_out=left_out)
        typer.echo(found.verdict + "\n")
        for sight in found.sights:
            typer.echo(f"  {sight.attacker + ':':28s} {sight.words}")
        before, after = found.pitch
        if before and after:
            typer.echo(f"\nPitch: median {before:.0f} Hz before, {after:.0f} Hz after.")
        typer.echo(f"Waveforms: correlation {found.copied:.2f} (1 is a copy).")
        if abs(found.seconds[0] - found.seconds[1]) > 0.05:
            typer.echo(f"Length: {found.seconds[0]:.2f} s before, {found.seconds[1]:.2f} s after.")
        for tag in found.tags:
            typer.echo(f"Tag in the anonymized file: {tag}")
        if system is None:
            typer.echo("\nAttackers who know the system were not tried: name it with --system.")
        typer.echo(
            "\nThese attackers compare with the very recording that was anonymized: the worst "
            "case. One who has only other recordings of this person sees less; one who trains on "
            "anonymized speech may see more. What is said, accent and rhythm may name somebody too."
        )
