"""``voicenym train units``, ``content`` and ``bottleneck``: content encoders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared
from voicenym.apps.cli.feature_options import CEPSTRA, features_behind, features_of
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.units import Units
    from voicenym.training.content.train_hubert_soft import SoftConfig

UNITS_CONFIG = typer.Option(None, "--config", "-c", help="./FILE of YAML; 100 units without.")
FEATURES = typer.Option(
    None, "--features",
    help="What units are clusters of: cepstra, base (what the bundled resynthesis hears of "
    "content), narrow:FOLDER (such of your own), a HuBERT (safetensors, folder or a name that was "
    "pulled), or wav2vec2:PLACE, such as wav2vec2:xls-r-300m.",
)  # fmt: skip
FROM_HUBERT = typer.Option(
    None, "--from", help="HuBERT to go on from: safetensors, a folder, or a name that was pulled."
)


def units(
    data: list[Path] = shared.DATA,
    output: Path = shared.OUTPUT,
    config: str | None = UNITS_CONFIG,
    features: str = typer.Option(CEPSTRA, "--features", help=FEATURES.help),
    layer: int = typer.Option(
        7, "--layer", min=1, help="Of the network, whose output is clustered."
    ),
    count: int | None = typer.Option(None, "--units", min=2, help="How many."),
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    budget: str | None = shared.BUDGET,
    accelerator: str = shared.ACCELERATOR,
    shelf: Path | None = shared.SHELF,
    quiet: bool = shared.QUIET,
) -> None:
    """Find units of speech without texts: clusters of frames (mini-batch k-means)."""
    shared.needs_lightning()
    from voicenym.training.content import train_units as recipe
    from voicenym.training.run.config import changed, load

    chosen = recipe.UnitsConfig() if config is None else load(config, recipe.UnitsConfig)
    chosen = changed(chosen, units=count)
    means = shared.means(budget, quiet, accelerator)
    limit, say = means["seconds"], means["say"]
    heard, source = features_of(features, layer, means["machine"])
    speech = shared.gathered(data, split, corpus)
    utterances, _ = shared.prepared(shelf or output / "shelf", speech, [], say)
    found = recipe.train(heard, source, utterances, chosen, output, seconds=limit, say=say)
    figures = {
        "share of the variance between units": round(found.explained, 4),
        "perplexity of units": round(found.perplexity, 2),
    }
    learnt = shared.learnt_from(utterances, data, split, corpus)
    counts = {"frames": found.frames, "recordings": found.utterances}
    found.units.save(output, {**learnt, **counts, **figures})
    typer.echo(
        f"{output}: {len(found.units)} units of {found.frames} frames; "
        + ", ".join(f"{name} {value:g}" for name, value in figures.items())
    )


def content(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    units: Path = typer.Option(..., "--units", help="Folder of voicenym train units."),
    features: str | None = FEATURES,
    start: str | None = FROM_HUBERT,
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
    """Train HuBERT-soft to predict units: content as soft units."""
    shared.needs_lightning()
    from voicenym.nets.content.content_encoders import save
    from voicenym.nets.content.units import Units
    from voicenym.training.content import train_hubert_soft as recipe
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import apart

    chosen = changed(load(config, recipe.SoftConfig), steps=steps, batch=batch)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    targets = Units.load(units)
    if features is None and targets.source.get("features") != CEPSTRA:
        features = start
    heard = features_behind(
        units, targets.source, features, means["machine"], by="--features or --from"
    )
    network = _student(start, chosen, targets)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = apart(speech, chosen.held_out, chosen.seed)
    spoken, held_out = shared.prepared(shelf or output / "shelf", learnt, kept, means["say"])
    outcome = recipe.train(network, heard, targets, spoken, held_out, chosen, output, **means)
    card = {
        **shared.learnt_from(spoken, data, split, corpus),
        "units": targets.source,
        "steps": outcome.steps,
        "nats a frame on speakers kept out, who decided which checkpoint is the best": outcome.best,
    }
    save(network, output, card)
    typer.echo(
        f"{output}: {outcome.steps} steps, {outcome.best:.3f} nats a frame on speakers kept out"
    )


def bottleneck(
    data: list[Path] = shared.DATA,
    config: str = shared.CONFIG,
    output: Path = shared.OUTPUT,
    start: Path | None = typer.Option(
        None, "--from", help="Folder to go on from: recogniser/ in an output of this command."
    ),
    adversary: float | None = typer.Option(
        None, "--adversary", min=0.0, help="Weight of the branch that hides the speaker; 0: none."
    ),
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    batch: int | None = typer.Option(None, "--batch", min=1, help="Utterances in a step."),
    accelerator: str = shared.ACCELERATOR,
    devices: int = shared.DEVICES,
    precision: str | None = shared.PRECISION,
    workers: int | None = shared.WORKERS,
    shelf: Path | None = shared.SHELF,
    quiet: bool = shared.QUIET,
) -> None:
    """Train a TDNN-F recogniser; its bottleneck is content, as in B1."""
    shared.needs_lightning()
    from voicenym.metrics import normalise
    from voicenym.nets.content.content_encoders import save
    from voicenym.nets.words.character_model import CharacterModel
    from voicenym.nets.words.ctc import Alphabet
    from voicenym.training.content import train_bottleneck as recipe
    from voicenym.training.run.config import changed, load
    from voicenym.training.words.train_recogniser import kept_out

    chosen = changed(
        load(config, recipe.BottleneckConfig), steps=steps, batch=batch, adversary=adversary
    )
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    if start is None:
        alphabet = Alphabet.of(normalise(recording.text) for recording in learnt)
        model = CharacterModel.make("tdnnf", alphabet, chosen.options)
    else:
        model, _ = CharacterModel.load(start)
        if model.kind != "tdnnf":
            raise VoicenymError(f"{start}: a {model.kind} has no bottleneck; give a tdnnf")
    spoken, held_out = shared.prepared(shelf or output / "shelf", learnt, kept, means["say"])
    outcome = recipe.train(model, spoken, held_out, chosen, output, **means)
    about = {
        **shared.learnt_from(spoken, data, split, corpus),
        "weight of the branch that hides the speaker": chosen.adversary,
        "steps": outcome.steps,
        "CER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
    }
    save(model.net.content, output, about)
    model.save(output / "recogniser", training=about)
    typer.echo(f"{output}: {outcome.steps} steps, CER {outcome.best:.1f} % on speakers kept out")


def _student(start: str | None, config: SoftConfig, targets: Units) -> HubertSoft:
    """A network to train: from nothing, from HuBERT, or with weights of an earlier run."""
    from voicenym.nets.checkpoint import configuration, is_ours
    from voicenym.nets.content.content_encoders import load
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.hubert_published import PLAIN, from_hubert
    from voicenym.nets.hub import place_of
    from voicenym.training.content.train_hubert_soft import network

    if start is None:
        return network(config, targets)
    path = Path(place_of(start))
    if not is_ours(path) or configuration(path).get("kind") == PLAIN:
        layers = config.layers or None
        return from_hubert(
            path, size=config.size, units=len(targets), layers=layers, seed=config.seed
        )
    found = load(path)
    if not isinstance(found, HubertSoft) or found.units != len(targets):
        raise VoicenymError(f"{start}: no HuBERT-soft of {len(targets)} units; give such a one")
    return found
