"""``voicenym key``: creates, shows, upgrades, shares and destroys key files."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import Column, field

app = new_app("Make, show, upgrade, share and destroy key files.")


@app.callback()
def _root() -> None:
    pass


@command(app, "voicenym key new project.key")
def new(path: Path = typer.Argument(help="The file to write; never overwritten.")) -> None:
    """Write a new key, readable by its owner only (mode 0600), with the latest revisions."""
    from voicenym.pseudonym import Key

    _check_name(path)
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

    _check_name(to)
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


@command(app, "voicenym key split project.key --shares 5 --need 3 -o shares/")
def split(
    path: Path = typer.Argument(help="A key file; it stays as it is."),
    shares: int = typer.Option(..., "--shares", help="Number of shares, 2 to 16."),
    need: int = typer.Option(..., "--need", help="Number of shares that make the key again."),
    output: Path = typer.Option(..., "--output", "-o", help="Folder to write; must not exist."),
) -> None:
    """Write shares of a key for several people; some of them together make it again.

    Fewer shares than needed say nothing about the key. Each file is readable by its owner only.
    """
    from voicenym.pseudonym import Key, key_shares

    _check_name(output, "shares are files in a folder; give its name")
    key_shares.save(key_shares.split(Key.load(path), shares, need), output)
    typer.echo(
        f"{output}: {shares} shares, of which {need} make the key. Give each to another person, "
        f"and destroy {path}: voicenym key destroy {path} --yes",
        err=True,
    )


@command(app, "voicenym key join shares/share-1.txt shares/share-4.txt -o project.key")
def join(
    shares: list[Path] = typer.Argument(help="Files of shares."),
    output: Path = typer.Option(..., "--output", "-o", help="Key file; never overwritten."),
) -> None:
    """Make a key again from its shares."""
    from voicenym.pseudonym import key_shares

    _check_name(output)
    found = [key_shares.load(path) for path in shares]
    key_shares.join(found).save(output)
    typer.echo(f"{output}: the key again, from {len(found)} of {found[0].count} shares", err=True)


@command(app, "voicenym key destroy project.key --yes")
def destroy(
    path: Path = typer.Argument(help="A key file."),
    yes: bool = typer.Option(False, "--yes", help="Needed: nobody can undo it."),
) -> None:
    """Overwrite and remove a key file; its voices can then not be made or linked again.

    Copies, backups and shares elsewhere stay; what a disk keeps is printed.
    """
    from voicenym.errors import KeyFileError
    from voicenym.pseudonym import key_destruction

    if not yes:
        raise KeyFileError(
            f"{path}: without this key nobody can continue its corpora or link their voices to "
            "speakers; add --yes to destroy it"
        )
    key_destruction.destroy(path)
    typer.echo(f"{path}: overwritten and removed. {key_destruction.LIMITS}", err=True)


def _check_name(path: Path, cure: str = "a key is a file; give a name") -> None:
    """Refuses ``-``, which does not stand for standard output here.

    Raises:
        KeyFileError: with the cure; a secret in a file of that name would be overlooked.
    """
    from voicenym.errors import KeyFileError

    if str(path) == "-":
        raise KeyFileError(f"{path}: {cure}")
