"""``voicenym train tokenizer``: one codebook over the frames of a network."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as shared


def tokenizer(
    data: list[Path] = shared.DATA,
    output: Path = shared.OUTPUT,
    config: str = typer.Option(
        "tokenizer", "--config", "-c", help="A YAML file as ./FILE, or bundled."
    ),
    features: str = typer.Option(
        ...,
        "--features",
        help="What is told in tokens: wav2vec2:PLACE, such as wav2vec2:xls-r-300m; a HuBERT; "
        "base, the bundled resynthesis' content; or cepstra.",
    ),
    layer: int = typer.Option(24, "--layer", min=1, help="Of the network."),
    start: Path | None = typer.Option(None, "--from", help="Folder of a tokenizer to go on from."),
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
    quiet: bool = shared.QUIET,
) -> None:
    """Train a tokenizer of one codebook: MUSA's teacher over XLS-R."""
    shared.needs_lightning()
    from voicenym.apps.cli.feature_options import features_of
    from voicenym.errors import VoicenymError
    from voicenym.nets.content.tokenizer import Tokenizer
    from voicenym.training.content import train_tokenizer as recipe
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import apart

    chosen = changed(load(config, recipe.TokenizerConfig), steps=steps, batch=batch)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    heard, source = features_of(features, layer, means["machine"])
    made = recipe.new(chosen, heard.size, source) if start is None else Tokenizer.load(start)
    if made.source != source:
        raise VoicenymError(f"{start}: a tokenizer of other features ({made.source}); give those")
    speech = shared.gathered(data, split, corpus)
    learnt, kept = apart(speech, chosen.held_out, chosen.seed)
    spoken, aside = shared.prepared(shelf or output / "shelf", learnt, kept, means["say"])
    paths = recipe.frames(heard, source, [*spoken, *aside], output, means["say"])
    train, held_out = paths[: len(spoken)], paths[len(spoken) :]
    outcome = recipe.train(made, train, held_out, chosen, output, **means)
    card = {
        **shared.learnt_from(spoken, data, split, corpus),
        "steps": outcome.steps,
        "share of the variance lost on speakers kept out": round(outcome.best, 4),
    }
    made.save(output, card)
    typer.echo(
        f"{output}: {outcome.steps} steps, {100 * outcome.best:.1f} % of the variance lost on "
        "speakers kept out"
    )
