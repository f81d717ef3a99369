"""``voicenym train recogniser``: from transcribed speech, original or anonymized."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared

if TYPE_CHECKING:
    from voicenym.training.speech.speech_cache import Utterance

WEIGHED = 60
"""Utterances that the n-gram is weighed on, of those that are kept out."""


def recogniser(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    test: Path | None = typer.Option(
        None, "--test", help="Transcribed speech of other speakers, to be judged on at the end."
    ),
    test_split: str | None = shared.TEST_SPLIT,
    test_corpus: list[str] = shared.TEST_CORPUS,
    start: Path | None = typer.Option(
        None, "--from", help="Recogniser to go on from: a folder that this command wrote."
    ),
    order: int | None = typer.Option(
        None, "--order", min=0, help="Words of the n-gram; 0 for none; default: as configured."
    ),
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    batch: int | None = typer.Option(None, "--batch", min=1, help="Utterances in a step."),
    accelerator: str = shared.ACCELERATOR,
    devices: int = shared.DEVICES,
    precision: str | None = shared.PRECISION,
    workers: int | None = shared.WORKERS,
    shelf: Path | None = shared.SHELF,
    system: str | None = shared.SYSTEM,
    per: str = shared.PER,
    quiet: bool = shared.QUIET,
) -> None:
    """Train a recogniser of words; with --system, of words that a system anonymized."""
    shared.needs_lightning()
    from voicenym.metrics import normalise
    from voicenym.nets.words.character_model import CharacterModel
    from voicenym.nets.words.ctc import Alphabet
    from voicenym.recognition.ctc_recogniser import note
    from voicenym.recognition.language_model_weight import attach
    from voicenym.training.run.config import changed, load
    from voicenym.training.words import train_recogniser as recipe

    chosen = changed(load(config, recipe.RecogniserConfig), steps=steps, batch=batch, order=order)
    speech = shared.gathered(data, split, corpus)
    judged = [] if test is None else shared.gathered([test], test_split, test_corpus)
    judged = [recording for recording in judged if recording.text]
    learnt, kept = recipe.kept_out(speech, chosen.held_out, chosen.seed)
    shared.others(speech, judged)
    if start is None:
        alphabet = Alphabet.of(normalise(recording.text) for recording in learnt)
        model = CharacterModel.make(chosen.net, alphabet, chosen.options)
    else:
        model, _ = CharacterModel.load(start)
    how, place = shared.rendering(system, per, output), shelf or output / "shelf"
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    say = means["say"]
    spoken, held_out = shared.prepared(place, learnt, kept, say, how)
    outcome = recipe.train(model, spoken, held_out, chosen, output, **means)
    about = {
        **shared.learnt_from(spoken, data, split, corpus),
        "anonymized by": system or "",
        "voices per": per if system else "",
        "steps": outcome.steps,
        "CER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
    }
    model.save(output, training=about)
    typer.echo(f"{output}: {outcome.steps} steps, CER {outcome.best:.1f} % on speakers kept out")
    if chosen.order:
        weighed = [(u.samples(), u.recording.text) for u in held_out[:WEIGHED]]
        attach(output, [r.text for r in learnt], weighed, chosen.order, say=say)
    if judged:
        heard = shared.shelved(place, judged, how, say)
        figures = _figures(output, heard, "cuda" if means["machine"].cuda else "cpu")
        note(output, measured={f"{test.name if test else ''} {test_split or ''}".strip(): figures})
        for name, figure in figures.items():
            typer.echo(f"{name}: {figure}")


def _figures(folder: Path, speech: Sequence[Utterance], device: str) -> dict[str, str]:
    """Error rates with 95 % intervals over speakers, as decoded by default and greedily."""
    from voicenym.metrics import word_errors
    from voicenym.recognition.ctc_recogniser import Trained

    figures: dict[str, str] = {}
    name = ""
    for beam in (0, None):
        with Trained(folder, device=device, beam=beam) as ears:
            if beam is None and ears.name == name:
                break
            name = ears.name
            found = ears.transcribe([utterance.samples() for utterance in speech])
        said = [utterance.recording.text for utterance in speech]
        who = [utterance.speaker for utterance in speech]
        for rate, characters in (("WER", False), ("CER", True)):
            errors = word_errors(said, found, who, characters=characters)
            low, high = errors.interval or (errors.value, errors.value)
            figures[f"{rate} %, {name}"] = (
                f"{100 * errors.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            )
    return figures
