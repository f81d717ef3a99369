"""``voicenym train hybrid``: a recogniser of phones, frame by frame, from aligned transcripts."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli import train as shared
from voicenym.errors import CorpusError

WEIGHED = 60
"""Utterances that the n-gram is weighed on, of those that are kept out."""


def hybrid(
    data: list[Path] = shared.DATA,
    config: str = typer.Option(
        "recogniser-hybrid", "--config", "-c", help="A YAML file as ./FILE, or bundled."
    ),
    output: Path = shared.OUTPUT,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    start: Path | None = typer.Option(
        None, "--from", help="Recogniser to go on from: a folder that this command wrote."
    ),
    lexicon: Path | None = typer.Option(
        None,
        "--lexicon",
        help="Pronunciations of words that pocketsphinx's dictionary lacks, in CMU's form.",
    ),
    alignments: Path | None = typer.Option(
        None,
        "--alignments",
        help="File of alignments, made where there is none; default: within the output folder.",
    ),
    order: int | None = typer.Option(
        None, "--order", min=1, help="Words of the n-gram; default: as configured."
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
    """Train a recogniser of English words by their phones; with --system, of anonymized words."""
    shared.needs_lightning()
    from voicenym.metrics import normalise
    from voicenym.nets.words.phone_model import PhoneModel
    from voicenym.nets.words.phones import States
    from voicenym.recognition.alignment import Alignments, pronunciations
    from voicenym.recognition.closed_vocabulary import lexicon_of
    from voicenym.recognition.hybrid_recogniser import attach
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.aligned_dataset import aligned, shares
    from voicenym.training.speech.speaker_split import apart
    from voicenym.training.words import train_hybrid as recipe

    chosen = changed(load(config, recipe.HybridConfig), steps=steps, batch=batch, order=order)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    say = means["say"]
    spoken = [r for r in shared.gathered(data, split, corpus) if r.text]
    learnt, kept = apart(spoken, chosen.held_out, chosen.seed, "recordings with text")
    own = None if lexicon is None else lexicon_of(lexicon)
    known = pronunciations((normalise(r.text) for r in [*learnt, *kept]), own)
    if not known:
        raise CorpusError("no word has a known pronunciation; give --lexicon, or train recogniser")
    place = alignments or output / "alignments.jsonl"
    how = shared.rendering(system, per, output)
    heard, held_out = shared.prepared(shelf or output / "shelf", learnt, kept, say, how)
    count = len(heard)
    readable = [utterance.recording for utterance in (*heard, *held_out)]
    phones = Alignments(place, known).of(readable, say)
    speech, left = aligned(heard, phones[:count], chosen.longest)
    judged, _ = aligned(held_out, phones[count:], chosen.longest)
    for reason, number in left.items():
        say(f"{number} of {count} utterances are left out: {reason}")
    if start is None:
        names = {name for ways in known.values() for way in ways for name in way.split()}
        states = States(tuple(sorted(names)))
        model = PhoneModel.make(states, chosen.options, shares(speech, states, chosen.smoothing))
    else:
        model, _ = PhoneModel.load(start)
    outcome = recipe.train(model, speech, judged, chosen, output, **means)
    about = {
        **shared.learnt_from(heard, data, split, corpus),
        "recordings": len(speech),
        "from": start.name if start else "",
        "anonymized by": system or "",
        "voices per": per if system else "",
        "steps": outcome.steps,
        "cross-entropy on speakers kept out, who chose the checkpoint": outcome.best,
    }
    model.save(output, training=about)
    some = judged[:: max(1, len(judged) // WEIGHED)]  # of all speakers
    weighed = [(one.speech.samples(), one.speech.recording.text) for one in some]
    texts = [recording.text for recording in learnt]
    rate = attach(output, texts, known, weighed, max(1, chosen.order), say=say)
    typer.echo(
        f"{output}: {outcome.steps} steps; on speakers kept out, cross-entropy "
        f"{outcome.best:.2f} nats, WER {rate:.1f} %"
    )
