"""``voicenym key``: make the secret that voices are derived from, and see what it remembers."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.command_group import command, new_app

app = new_app("Make, show and upgrade key files.")


@app.callback()
def _root() -> None:
    pass


@command(app, "voicenym key new project.key")
def new(path: Path = typer.Argument(help="The file to write; never overwritten.")) -> None:
    """Write a fresh key that only you may read (mode 0600), with the systems' latest revisions."""
    from voicenym.pseudonym import Key

    Key.generate().save(path)
    typer.echo(
        f"{path}: new key. Whoever has it can link voices to speakers: keep it apart from the "
        "recordings; delete it to cut the link for good.",
        err=True,
    )


@command(app, "voicenym key show project.key")
def show(path: Path = typer.Argument(help="A key file.")) -> None:
    """Say which revision of each system a key's voices are made with; never the secret."""
    from voicenym.anonymizer import revisions
    from voicenym.pseudonym import DERIVATION_VERSION, FIRST_REVISION, Key

    kept = Key.load(path).revisions or {}
    latest = revisions()
    typer.echo(f"derivation: version {DERIVATION_VERSION}")
    for name in sorted({*latest, *kept}):
        found = kept.get(name, FIRST_REVISION)
        if name not in latest:
            note = " (no system of this installation)"
        elif found < latest[name]:
            note = f" (the latest is {latest[name]}: voicenym key upgrade)"
        elif found > latest[name]:
            note = f" (of a later release; this one has {latest[name]})"
        else:
            note = ""
        typer.echo(f"{name}: revision {found}{note}")


@command(app, "voicenym key upgrade project.key project-2.key")
def upgrade(
    path: Path = typer.Argument(help="A key file; it stays as it is."),
    to: Path = typer.Argument(help="The file to write; never overwritten."),
) -> None:
    """Write a copy of a key for the systems' latest revisions: some of its voices change."""
    from voicenym.anonymizer import revisions
    from voicenym.pseudonym import FIRST_REVISION, Key

    key, latest = Key.load(path), revisions()
    kept = key.revisions or {}
    new = {**kept, **{name: max(latest[name], kept.get(name, 0)) for name in latest}}
    changed = [name for name in sorted(new) if new[name] != kept.get(name, FIRST_REVISION)]
    key.with_revisions(new).save(to)
    told = ", ".join(f"{n} ({kept.get(n, FIRST_REVISION)} to {new[n]})" for n in changed)
    typer.echo(
        f"{to}: the same secret for other voices: {told}. Corpora that were begun with {path} go "
        f"on with {path}: keep it as long as they grow."
        if changed
        else f"{to}: the same secret and the same voices: {path} has the latest revisions.",
        err=True,
    )
