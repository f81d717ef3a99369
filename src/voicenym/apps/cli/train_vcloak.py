"""``voicenym train vcloak``: a cloak from speech, verifiers and, if there is one, a recogniser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.training.cloak.cloak_losses import Words

FORMS = ("posteriorgram", "transcript")


def vcloak(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    verifiers: list[str] = typer.Option(
        ["ecapa-small"],
        "--verifier",
        help="Verifier to hide from: ecapa-small, a folder of voicenym train, ecapa:PLACE or "
        "xvector:PLACE; may be repeated: targets are voiceprints of the first.",
    ),
    words: Path | None = typer.Option(
        None,
        "--words",
        help="DeepSpeech2 that keeps the words: a folder of voicenym train recogniser, or a "
        "folder of models convert --as deepspeech2. Without, a filterbank's levels are kept.",
    ),
    form: str = typer.Option(
        "posteriorgram",
        "--words-form",
        help="What of it is compared: posteriorgram, or transcript (the paper's ablation).",
    ),
    start: Path | None = typer.Option(
        None, "--from", help="Cloak to go on from: a folder that this command wrote."
    ),
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
    """Train a cloak that hides voices from verifiers and keeps them for people (system vcloak)."""
    shared.needs_lightning()
    from voicenym.nets.cloak.cloak import Cloak
    from voicenym.training.cloak import train_vcloak as recipe
    from voicenym.training.cloak.cloak_step import VCloakConfig
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import kept_out
    from voicenym.verification.verifiers import encoder_of

    chosen = changed(load(config, VCloakConfig), steps=steps, batch=batch)
    if form not in FORMS:
        raise VoicenymError(f"--words-form is {' or '.join(FORMS)}, not {form!r}")
    keeper = None if words is None else _keeper(words, form)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    encoders = [encoder_of(name) for name in verifiers]
    cloak = recipe.new(chosen) if start is None else Cloak.load(start)[0]
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    place = shelf or output / "shelf"
    heard, held_out = shared.prepared(place, learnt, kept, means["say"])
    outcome = recipe.train(cloak, encoders, heard, held_out, chosen, output, words=keeper, **means)
    last = {k: v for k, v in (outcome.curve or [{}])[-1].items() if not k.startswith("train/")}
    cloak.save(
        output,
        card={
            **shared.learnt_from(heard, data, split, corpus),
            "hides from": [Path(name).name for name in verifiers],
            "words kept by": f"{form} of {words.name}" if words else "levels of a filterbank",
            "steps": outcome.steps,
            "figures of the last validation, on speakers kept out": last,
        },
        verifiers=[Path(name).name for name in verifiers],
    )
    typer.echo(f"{output}: {outcome.steps} steps, loss {outcome.best:.3f} on speakers kept out")


def _keeper(place: Path, form: str) -> Words:
    """What keeps the words, by a DeepSpeech2."""
    from voicenym.nets.safetensors_file import refuse_pickles
    from voicenym.nets.words.character_model import CharacterModel
    from voicenym.nets.words.deepspeech import DeepSpeech2
    from voicenym.training.cloak.cloak_losses import Posteriorgram, Transcript

    refuse_pickles(place, "deepspeech2")
    model, _ = CharacterModel.load(place)
    if not isinstance(model.net, DeepSpeech2):
        raise VoicenymError(
            f"{place}: holds a {model.kind}; words are kept by a DeepSpeech2: voicenym train "
            "recogniser with net: deepspeech2"
        )
    return Posteriorgram(model.net) if form == "posteriorgram" else Transcript(model.net)
