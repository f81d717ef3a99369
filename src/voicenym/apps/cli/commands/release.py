"""``voicenym release``: an anonymized corpus to a folder that can be published."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.options import speaker_level as levels
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import VoicenymError, counted

app = new_app()


@command(
    app,
    "voicenym release --template about.toml",
    "voicenym release anon/ -o published/ --about about.toml --original corpus/ --report report/",
)
def release(
    corpus: Path | None = typer.Argument(None, help="The anonymized corpus: folder or manifest."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Folder to write, which does not exist yet."
    ),
    about: Path | None = typer.Option(
        None, "--about", help="What you state on the corpus: licence, consent, contact and others."
    ),
    template: Path | None = typer.Option(
        None, "--template", help="Write an empty file for --about, and end."
    ),
    original: Path | None = typer.Option(
        None, "--original", help="The originals: each file is compared with its own."
    ),
    mapping: Path | None = typer.Option(
        None, "--mapping", help="File of anonymize --mapping, where names were drawn."
    ),
    report: Path | None = typer.Option(
        None, "--report", help="Report of evaluate --original ... --anonymized on this corpus."
    ),
    system_report: Path | None = typer.Option(
        None,
        "--system-report",
        help="Report of evaluate --system on other outputs of the system that made the corpus; the "
        "card marks its figures.",
    ),
    system: str | None = typer.Option(
        None, "--system", "-s", help="System in --system-report, where it holds several."
    ),
    formats: list[str] = typer.Option(
        [], "--format", help="kaldi, lhotse, webdataset or parquet; may be repeated. Default: all."
    ),
    keep: list[str] = typer.Option(
        [],
        "--keep",
        help="Publish text, sex, age, accent, emotion, or names of the originals; may be repeated.",
    ),
    speaker_level: int | None = levels.SPEAKER_LEVEL,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print no progress."),
) -> None:
    """Verify an anonymized corpus and write it for publication.

    Nothing is written unless every file may be published and every required statement is made.
    """
    from voicenym.publication import corpus_description

    if system is not None and system_report is None:
        raise VoicenymError("--system names one of --system-report; give that, or leave it out")
    if template is not None:
        if output is not None or about is not None:
            raise VoicenymError(
                "--template writes an empty file, and ends; leave out -o and --about"
            )
        corpus_description.template(template)
        typer.echo(
            f"{template}: fill it in, then voicenym release CORPUS -o OUT --about {template}"
        )
        return
    if corpus is None or output is None or about is None:
        raise VoicenymError(
            "release needs CORPUS, --output and --about; voicenym release --template about.toml "
            "writes a file to fill in"
        )
    from voicenym.publication.claim_meter import overall
    from voicenym.publication.corpus_release import Request
    from voicenym.publication.corpus_release import release as run
    from voicenym.publication.published_manifests import FORMATS

    request = Request(
        corpus,
        output,
        corpus_description.read(about),
        original=original,
        mapping=mapping,
        report=report,
        system_report=system_report,
        system=system,
        formats=tuple(dict.fromkeys(formats)) or tuple(FORMATS),
        keep=tuple(dict.fromkeys(keep)),
        level=speaker_level,
    )
    with Progress(quiet) as tell:
        tell(f"verifying {corpus}")
        done = run(request, lambda count, of: tell.done(count))
    for note in done.notes:
        typer.echo(f"voicenym: warning: {note}", err=True)
    if not quiet:
        typer.echo(f"{output}: {counted(len(done.files), 'file')}, all verified")
        typer.echo(overall(done.claims))
