"""``voicenym train resynthesis``: parts that take a voice apart and put together another."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as common
from voicenym.errors import VoicenymError


def resynthesis(
    data: list[Path] = common.DATA,
    config: str = common.CONFIG,
    output: Path = common.OUTPUT,
    split: str | None = common.SPLIT,
    corpus: list[str] = common.CORPUS,
    start: Path | None = typer.Option(None, "--from", help="Folder of parts to go on from."),
    share: float = typer.Option(
        1.0,
        "--share",
        min=0.0,
        max=1.0,
        help="With --from: so much of the weights is the result's, the rest what it began with.",
    ),
    phones: Path | None = typer.Option(
        None,
        "--phones",
        help="Recogniser that listens for the words: a folder of voicenym train hybrid.",
    ),
    budget: str | None = common.BUDGET,
    steps: int | None = common.STEPS,
    batch: int | None = common.BATCH,
    accelerator: str = common.ACCELERATOR,
    devices: int = common.DEVICES,
    precision: str | None = common.PRECISION,
    workers: int | None = common.WORKERS,
    shelf: Path | None = common.SHELF,
    half: bool = typer.Option(False, "--half", help="Keep the result in half precision."),
    quiet: bool = common.QUIET,
) -> None:
    """Train the content encoder and the synthesizer of a resynthesis system."""
    common.needs_lightning()
    from voicenym.nets.checkpoint import version
    from voicenym.nets.words.phone_model import PhoneModel
    from voicenym.resynthesis.bundled.model_parts import Parts
    from voicenym.training.resynthesis import train_resynthesis as recipe
    from voicenym.training.resynthesis.resynthesis_dataset import takes
    from voicenym.training.resynthesis.resynthesis_step import ResynthesisConfig
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import kept_out
    from voicenym.verification.verifiers import encoder_of

    chosen = changed(load(config, ResynthesisConfig), steps=steps, batch=batch)
    if chosen.evened and start is None:
        raise VoicenymError(
            f"{config}: goes on from parts that are trained already; give their folder with --from"
        )
    listener = None if phones is None else PhoneModel.load(phones)[0].net
    speech = common.gathered(data, split, corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    encoder = encoder_of(chosen.encoder)
    made = recipe.parts(chosen, encoder.size) if start is None else Parts.load(start)
    if chosen.evened and made.everybody is None:
        made = made.with_normalisation()
    means = common.means(budget, quiet, accelerator, devices, precision, workers)
    spoken, aside = common.prepared(shelf or output / "shelf", learnt, kept, means["say"])
    bands = made.content.config()["bands"]
    heard, held_out = takes(spoken, encoder, bands, means["say"]), takes(aside, encoder, bands)
    outcome = recipe.train(
        made, heard, held_out, chosen, output, encoder=encoder, phones=listener, **means
    )
    if start is not None and share < 1.0:
        made.blend(Parts.load(start), 1.0 - share)
    best = min(outcome.curve, key=lambda row: row["loss kept out"])
    made.save(
        output,
        {
            **common.learnt_from([t.utterance.recording for t in heard], data, split, corpus),
            "hours": round(sum(take.frames for take in heard) / 360_000, 2),
            "encoder": chosen.encoder,
            **({} if phones is None else {"phones judged by": version(phones)}),
            "share of the weights that is the result's": share,
            "steps": outcome.steps,
            "on speakers kept out": {
                name: round(value, 4)
                for name, value in best.items()
                if name == "mel distance" or name.startswith("kept out: ")
            },
        },
        half=half,
    )
    typer.echo(
        f"{output}: {outcome.steps} steps, mel distance {best['mel distance']:.3f} on speakers "
        "kept out"
    )
