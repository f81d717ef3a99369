"""``voicenym status``: how far a batch is."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import counted, printable

if TYPE_CHECKING:
    from voicenym.corpus.run_records.run_status import RunStatus

app = new_app()
MOST_FAILURES = 10
"""Most failures that are listed."""


@command(app, "voicenym status anonymized/")
def status(
    run: str = typer.Argument(help="Output folder of a run of voicenym anonymize: path or URL."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Print how far a run over a corpus is.

    From another terminal, or after its end. It names recordings that failed and changes nothing.
    """
    from voicenym.corpus.run_records.run_status import status_of

    if "://" in run:
        from voicenym.corpus.shards.shard_ledger import status_of_store
        from voicenym.corpus.shards.stores.store_locations import is_url, location_of

        run = location_of(run)
        found = status_of_store(run) if is_url(run) else status_of(Path(run))
    else:
        found = status_of(Path(run))
    if as_json:
        record = {
            **asdict(found),
            "files_per_second": found.files_per_second,
            "seconds_left": found.seconds_left,
        }
        typer.echo(json.dumps(record))
        return
    for line in lines_of(found):
        typer.echo(printable(line))


def lines_of(found: RunStatus) -> list[str]:
    """Lines for people."""
    if found.process is None:
        head = "no run works in this folder"
    else:
        head = f"running: process {found.process} on {found.host}, {found.elapsed / 60:.1f} min"
    of = f" of {found.items}" if found.items else ""
    lines = [
        head,
        f"{found.done}{of} anonymized ({found.seconds / 60:.1f} min of audio), "
        f"{len(found.failures)} failed",
    ]
    if found.left_out:
        lost = counted(found.left_out, "recording failed and is", "recordings failed and are")
        lines.append(f"{lost} not in the new shards")
    if found.process is not None and found.files_per_second is not None:
        rate = f"{found.files_per_second:.2f} files a second"
        left = found.seconds_left
        lines.append(rate if left is None else f"{rate}, about {left / 60:.1f} min left")
    shown = list(found.failures.items())[:MOST_FAILURES]
    lines += [f"  {name}: {reason}" for name, reason in shown]
    if len(found.failures) > len(shown):
        lines.append(f"  ... and {len(found.failures) - len(shown)} more")
    return lines
