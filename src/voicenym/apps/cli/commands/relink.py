"""``voicenym relink``: outputs of speakers, by the key."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import field
from voicenym.errors import counted

app = new_app()


@command(app, 'voicenym relink anonymized/ --key project.key --speaker anna --why "withdrawn"')
def relink(
    folder: Path = typer.Argument(help="Output folder of a run, or its URL in a store."),
    key: Path = typer.Option(..., "--key", "-k", help="Key file of the run."),
    speaker: list[str] = typer.Option([], "--speaker", help="Name to find; may be repeated."),
    names: Path | None = typer.Option(None, "--names", help="File of names to find, one a line."),
    why: str = typer.Option(..., "--why", help="Reason, for the log."),
    log: Path | None = typer.Option(
        None, "--log", help="Log of all looks; by default KEY.relinks.jsonl beside the key."
    ),
    speaker_field: str | None = typer.Option(
        None, "--speaker-field", help="Of shards: the field of the speaker, if the run had one."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the outputs of speakers, for whoever keeps the key.

    For a trusted third party: a speaker withdraws consent, or must be told of a finding. The look
    is recorded in a log, with the names, before anything is printed.
    """
    from voicenym.corpus.speaker_links import names_in, outputs_of, record
    from voicenym.errors import CorpusError, printable
    from voicenym.pseudonym import Key

    wanted = list(dict.fromkeys([*speaker, *(names_in(names) if names else ())]))
    if not wanted:
        raise CorpusError("no names; give --speaker NAME or --names FILE")
    if not why.strip():
        raise CorpusError("--why is empty; give the reason, for the log")
    secret = Key.load(key)
    place = log or key.with_name(f"{key.name}.relinks.jsonl")
    if place.resolve().is_relative_to(folder.resolve()):
        raise CorpusError(
            f"{place}: lies in the output folder, with which it would be passed on; name another "
            "place with --log"
        )
    links = outputs_of(folder, secret, wanted, speaker_field)
    found = links.found
    record(place, folder, secret, found, why)
    records = [
        {"speaker": name, "output": output} for name in wanted for output in found[name] or [""]
    ]
    tables.emit(records, (field("speaker"), field("output")), as_json=as_json)
    there = sum(bool(outputs) for outputs in found.values())
    typer.echo(f"recorded in {place}; names with outputs: {there} of {len(wanted)}", err=True)
    if links.unknown:
        silent = counted(
            len(links.unknown),
            "output does not say who speaks in it",
            "outputs do not say who speaks in them",
        )
        typer.echo(
            f"voicenym: error: {silent}, so that these speakers may be there: "
            f"{printable(', '.join(links.unknown[:5]))}; give the "
            "--speaker-field of the run, or find them by the originals",
            err=True,
        )
        raise typer.Exit(1)
