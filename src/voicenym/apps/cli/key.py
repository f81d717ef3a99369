"""``voicenym key``: creates, shows and upgrades key files, from which pseudo-voices are derived."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import tables
from voicenym.apps.cli.command_group import command, new_app
from voicenym.apps.cli.tables import Column, field

app = new_app("Make, show and upgrade key files.")


@app.callback()
def _root() -> None:
    pass


@command(app, "voicenym key new project.key")
def new(path: Path = typer.Argument(help="The file to write; never overwritten.")) -> None:
    """Write a new key, readable by its owner only (mode 0600), with the latest revisions."""
    from voicenym.pseudonym import Key

    Key.generate().save(path)
    typer.echo(
        f"{path}: new key. It links voices to speakers: store it away from the recordings; delete "
        "it to remove the link for good.",
        err=True,
    )


@command(app, "voicenym key show project.key")
def show(
    path: Path = typer.Argument(help="A key file."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show which revision of each system a key uses; never the secret."""
    from voicenym.anonymizer import revisions
    from voicenym.pseudonym import DERIVATION_VERSION, FIRST_REVISION, Key

    kept = Key.load(path).revisions or {}
    latest = revisions()
    records = [
        {
            "system": name,
            "revision": kept.get(name, FIRST_REVISION),
            "latest": latest.get(name),
            "derivation": DERIVATION_VERSION,
        }
        for name in sorted({*latest, *kept})
    ]
    columns = (
        field("system"),
        field("revision", right=True),
        field("latest", right=True),
        Column("note", _note, prose=True),
    )
    notes = [f"Pseudonyms are derived by version {DERIVATION_VERSION}."]
    tables.emit(records, columns, as_json=as_json, notes=notes)


def _note(record: tables.Record) -> str:
    if record["latest"] is None:
        return "not installed"
    if record["revision"] < record["latest"]:
        return "later voices: voicenym key upgrade"
    return "of a later release" if record["revision"] > record["latest"] else ""


@command(app, "voicenym key upgrade project.key project-2.key")
def upgrade(
    path: Path = typer.Argument(help="A key file; it stays as it is."),
    to: Path = typer.Argument(help="The file to write; never overwritten."),
) -> None:
    """Write a copy of a key with the systems' latest revisions; some of its voices change."""
    from voicenym.anonymizer import revisions
    from voicenym.pseudonym import FIRST_REVISION, Key

    key, latest = Key.load(path), revisions()
    kept = key.revisions or {}
    new = {**kept, **{name: max(latest[name], kept.get(name, 0)) for name in latest}}
    changed = [name for name in sorted(new) if new[name] != kept.get(name, FIRST_REVISION)]
    key.with_revisions(new).save(to)
    changes = ", ".join(f"{n} ({kept.get(n, FIRST_REVISION)} to {new[n]})" for n in changed)
    typer.echo(
        f"{to}: the same secret with newer voices: {changes}. Keep {path} for the corpora that "
        "were anonymized with it."
        if changed
        else f"{to}: the same secret and the same voices: {path} has the latest revisions.",
        err=True,
    )
