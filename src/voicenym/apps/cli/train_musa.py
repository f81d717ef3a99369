"""``voicenym train musa``: a codec that parts the speaker from what is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared

if TYPE_CHECKING:
    from voicenym.training.codec.codec_losses import Teacher
    from voicenym.training.run.fit import Machine

NO_TEACHER = "none"


def musa(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    units: str = typer.Option(
        NO_TEACHER,
        "--units",
        help="What the first codebook is to tell: a folder of voicenym train units or tokenizer. "
        "none: nothing (the ablation), with weights: {semantic: 0} in the configuration.",
    ),
    features: str | None = typer.Option(
        None,
        "--features",
        help="What the units are clusters of, unless cepstra or base: a HuBERT, wav2vec2:PLACE or "
        "narrow:FOLDER.",
    ),
    start: Path | None = typer.Option(None, "--from", help="Folder of a codec to go on from."),
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    batch: int | None = shared.BATCH,
    accelerator: str = shared.ACCELERATOR,
    devices: int = shared.DEVICES,
    precision: str | None = shared.PRECISION,
    workers: int | None = shared.WORKERS,
    shelf: Path | None = shared.SHELF,
    half: bool = typer.Option(False, "--half", help="Keep the result in half precision."),
    quiet: bool = shared.QUIET,
) -> None:
    """Train MUSA's codec: the speaker, the content and the prosody taken apart in turn."""
    shared.needs_lightning()
    from voicenym.nets.codec.codec import Codec
    from voicenym.training.codec import train_musa as recipe
    from voicenym.training.codec.codec_dataset import taught
    from voicenym.training.codec.codec_step import MusaConfig
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import apart

    chosen = changed(load(config, MusaConfig), steps=steps, batch=batch)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    codec = recipe.new(chosen) if start is None else Codec.load(start)[0]
    teacher = None if units == NO_TEACHER else _teacher(Path(units), features, means["machine"])
    recipe.checked(chosen, codec, teacher)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = apart(speech, chosen.held_out, chosen.seed)
    spoken, aside = shared.prepared(shelf or output / "shelf", learnt, kept, means["say"])
    takes = taught([*spoken, *aside], teacher, output / "told", means["say"])
    heard, held_out = takes[: len(spoken)], takes[len(spoken) :]
    outcome = recipe.train(codec, heard, held_out, chosen, output, teacher=teacher, **means)
    codec.save(
        output,
        half=half,
        card={
            **shared.learnt_from(spoken, data, split, corpus),
            "hours": round(sum(take.utterance.length for take in heard) / 57_600_000, 2),
            "teacher": None if teacher is None else teacher.source,
            "optimizer steps, discriminators' included": outcome.steps,
            "mel distance on speakers kept out": round(outcome.best, 4),
        },
    )
    typer.echo(
        f"{output}: {outcome.steps} steps, mel distance {outcome.best:.3f} on speakers kept out"
    )


def _teacher(folder: Path, features: str | None, machine: Machine) -> Teacher:
    """Units or a tokenizer, of the features that they were found in.

    Raises:
        VoicenymError: others were given, or none.
    """
    from voicenym.apps.cli.feature_options import features_behind
    from voicenym.nets.checkpoint import configuration
    from voicenym.nets.content import tokenizer
    from voicenym.nets.content.units import Units
    from voicenym.training.codec.codec_losses import UnitTeacher

    units: Units | tokenizer.Tokenizer
    if configuration(folder).get("kind") == tokenizer.KIND:
        units = tokenizer.Tokenizer.load(folder)
    else:
        units = Units.load(folder)
    return UnitTeacher(features_behind(folder, units.source, features, machine), units)
