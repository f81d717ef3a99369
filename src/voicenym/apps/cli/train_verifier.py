"""``voicenym train verifier``: a speaker encoder, from original or anonymized speech."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as shared


def verifier(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    test: Path | None = typer.Option(
        None, "--test", help="Speech of speakers to be judged on at the end."
    ),
    test_split: str | None = shared.TEST_SPLIT,
    test_corpus: list[str] = shared.TEST_CORPUS,
    start: str | None = typer.Option(
        None, "--from", help="Verifier to go on from: a folder, or a name as in evaluate."
    ),
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    batch: int | None = shared.BATCH,
    accelerator: str = shared.ACCELERATOR,
    devices: int = shared.DEVICES,
    precision: str | None = shared.PRECISION,
    workers: int | None = shared.WORKERS,
    shelf: Path | None = shared.SHELF,
    system: str | None = shared.SYSTEM,
    per: str = shared.PER,
    quiet: bool = shared.QUIET,
) -> None:
    """Train a speaker encoder to tell the speakers of a corpus apart."""
    shared.needs_lightning()
    from voicenym.nets.speakers.speaker_encoders import save
    from voicenym.training.run.config import changed, load
    from voicenym.training.speakers import train_verifier as recipe
    from voicenym.training.speech.speaker_split import kept_out
    from voicenym.verification.verifiers import encoder_of

    chosen = changed(load(config, recipe.VerifierConfig), steps=steps, batch=batch)
    speech = shared.gathered(data, split, corpus)
    judged = [] if test is None else shared.gathered([test], test_split, test_corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    shared.others(speech, judged)
    encoder = recipe.encoder(chosen) if start is None else encoder_of(start)
    place = shelf or output / "shelf"
    how = shared.rendering(system, per, output)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    heard, held_out = shared.prepared(place, learnt, kept, means["say"], how)
    outcome = recipe.train(encoder, heard, held_out, chosen, output, **means)
    figures = {}
    if judged:
        figures = recipe.judge(encoder, shared.shelved(place, judged, how, means["say"]))
    meaning = recipe.calibrated(encoder, held_out)
    save(
        encoder,
        output,
        card={
            **shared.learnt_from(heard, data, split, corpus),
            "anonymized by": system or "",
            "steps": outcome.steps,
            "EER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
            **{f"EER % on {test.name if test else ''}, {k}": v for k, v in figures.items()},
        },
        calibration=(meaning.slope, meaning.offset),
    )
    for name, (value, low, high) in figures.items():
        typer.echo(f"EER {name}: {value:.2f} % ({low:.2f} to {high:.2f})")
    typer.echo(f"{output}: {outcome.steps} steps, EER {outcome.best:.2f} % on speakers kept out")
