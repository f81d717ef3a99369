"""``voicenym train synthesizer``: what a pipeline speaks with, under encoders that stay."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as shared


def synthesizer(
    data: list[Path] = shared.DATA,
    content: str = typer.Option(
        ...,
        "--content",
        help="As --content of voicenym models assemble: it will be the pipeline's.",
    ),
    speaker: str = typer.Option(
        ...,
        "--speaker",
        help="As --speaker of voicenym models assemble; or ecapa:PLACE, xvector:PLACE.",
    ),
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    start: Path | None = typer.Option(
        None, "--from", help="Folder of a synthesizer to go on from."
    ),
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
    """Train a synthesizer to speak what frozen encoders hear, for voicenym models assemble."""
    shared.needs_lightning()

    from voicenym.apps.cli.encoder_options import folder_of
    from voicenym.nets.synthesis.synthesizers import save
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import apart
    from voicenym.training.synthesis import train_synthesizer as recipe
    from voicenym.training.synthesis.synthesis_dataset import takes
    from voicenym.training.synthesis.synthesizer_step import SynthesizerConfig

    chosen = changed(load(config, SynthesizerConfig), steps=steps, batch=batch)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    hears, knows = folder_of("content", content), folder_of("speaker", speaker)
    parts, learnt = recipe.parts(chosen, hears, knows, start)
    recipe.resumable(output, parts, learnt, chosen)
    speech = shared.gathered(data, split, corpus)
    own, kept = apart(speech, chosen.held_out, chosen.seed)
    place, say = shelf or output / "shelf", means["say"]
    spoken, aside = shared.prepared(place, own, kept, say)
    device = "cuda" if means["machine"].cuda else "cpu"
    heard, held_out = (takes(some, parts, place / "heard", device, say) for some in (spoken, aside))
    outcome = recipe.train(parts.synthesizer, heard, held_out, chosen, output, **means)
    save(
        parts.synthesizer,
        output,
        half=half,
        card={
            **shared.learnt_from([take.utterance.recording for take in heard], data, split, corpus),
            "hours": round(sum(take.utterance.length for take in heard) / 57_600_000, 2),
            "content": f"{parts.content.kind}, {Path(content).name}",
            "speaker": f"{parts.speaker.kind}, {Path(speaker).name}",
            "optimizer steps, discriminators' included": outcome.steps,
            "mel distance on speakers kept out": round(outcome.best, 4),
        },
        **learnt.config(),
    )
    typer.echo(
        f"{output}: {outcome.steps} steps, mel distance {outcome.best:.3f} on speakers kept out"
    )
