"""``voicenym train register``: which pitch goes with a speaker vector."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as shared
from voicenym.apps.cli.skipped_files import current


def register(
    data: list[Path] = shared.DATA,
    speaker: Path = typer.Option(
        ..., "--speaker", help="The encoder's folder, as that of voicenym models assemble."
    ),
    output: Path = shared.OUTPUT,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    tracker: str = typer.Option("yaapt", "--tracker", help="Of pitch."),
    quiet: bool = shared.QUIET,
) -> None:
    """Learn which mean and deviation of pitch go with a speaker vector, for f0=moved."""
    import torch

    from voicenym.dsp.pitch.trackers import tracker as named
    from voicenym.training.identity import train_f0_regression as recipe

    torch.set_num_threads(1)  # the same vectors on any machine
    speech = shared.gathered(data, split, corpus)
    left_out = current()
    before = len(left_out)
    told = shared.telling(quiet)
    found, left = recipe.train(speech, speaker, named(tracker), told, left_out)
    gone = {omission.name for omission in list(left_out)[before:]}
    heard = [recording for recording in speech if recording.name not in gone]
    people = len({recording.speaker for recording in heard})
    rest = "what is left of mean ln F0, on speakers left out (standard deviation)"
    found.save(output, {"speakers": people, "recordings": len(heard), rest: round(left, 4)})
    typer.echo(f"{output}: {people} speakers; leaves {left:.3f} of ln F0 of others")
