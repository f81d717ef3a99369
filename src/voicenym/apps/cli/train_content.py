"""``voicenym train units``, ``content`` and ``bottleneck``: content encoders."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from voicenym.apps.cli import train as shared
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.nets.content.content import Content
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.units import Units
    from voicenym.training.content import SoftConfig
    from voicenym.training.fit import Machine

T = TypeVar("T")

CEPSTRA = "cepstra"
WAV2VEC = "wav2vec2:"
UNITS_CONFIG = typer.Option(None, "--config", "-c", help="A YAML file; 100 units without.")
FEATURES = typer.Option(
    None, "--features",
    help="What units are clusters of: cepstra, a HuBERT (file, folder or catalogue's name), or "
    "wav2vec2:PLACE, such as wav2vec2:xls-r-300m.",
)  # fmt: skip
FROM_HUBERT = typer.Option(
    None, "--from", help="HuBERT to go on from: a checkpoint, a folder, or a catalogue's name."
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
    from voicenym.training import units as recipe
    from voicenym.training.config import load

    chosen = recipe.UnitsConfig() if config is None else load(config, recipe.UnitsConfig)
    chosen = _changed(chosen, units=count)
    say, limit = shared.telling(quiet), shared.seconds(budget)
    machine = shared.on(accelerator, 1, None, None)
    heard, source = features_of(features, layer, machine)
    speech = shared.gathered(data, split, corpus)
    how = shared.rendering(None, "utterance", output)
    utterances = shared.shelved(shelf or output / "shelf", speech, how, say)
    found = recipe.train(heard, source, utterances, chosen, output, seconds=limit, say=say)
    figures = {
        "share of the variance between units": round(found.explained, 4),
        "perplexity of units": round(found.perplexity, 2),
    }
    named = [f"{path.name} {split or ''} {' '.join(corpus)}".strip() for path in data]
    card = {"data": named, "frames": found.frames, "recordings": found.utterances, **figures}
    found.units.save(output, card)
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
    from voicenym.nets.content.units import Units
    from voicenym.nets.content.weights import save
    from voicenym.training import content as recipe
    from voicenym.training.apart import apart
    from voicenym.training.config import load

    chosen = _changed(load(config, recipe.SoftConfig), steps=steps, batch=batch)
    say, limit = shared.telling(quiet), shared.seconds(budget)
    machine = shared.on(accelerator, devices, precision, workers)
    targets = Units.load(units)
    clustered = features or (CEPSTRA if targets.source.get("features") == CEPSTRA else start)
    if clustered is None:
        raise VoicenymError(
            f"{units}: its units are clusters of a HuBERT's layer; give it by --features or --from"
        )
    heard, source = features_of(clustered, int(targets.source.get("layer", 0)), machine)
    if source != targets.source:
        raise VoicenymError(
            f"{units}: its units are clusters of other features ({targets.source}, not {source}); "
            "give those by --features"
        )
    network = _student(start, chosen, targets)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = apart(speech, chosen.held_out, chosen.seed)
    how = shared.rendering(None, "utterance", output)
    utterances = shared.shelved(shelf or output / "shelf", [*learnt, *kept], how, say)
    outcome = recipe.train(
        network,
        heard,
        targets,
        utterances[: len(learnt)],
        utterances[len(learnt) :],
        chosen,
        output,
        seconds=limit,
        machine=machine,
        say=say,
    )
    card = {
        "data": [f"{path.name} {split or ''} {' '.join(corpus)}".strip() for path in data],
        "speakers": len({r.speaker for r in learnt}),
        "recordings": len(learnt),
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
    from voicenym.nets.content.weights import save
    from voicenym.nets.words.ctc import Alphabet
    from voicenym.nets.words.recogniser import CharacterModel
    from voicenym.training import bottleneck as recipe
    from voicenym.training.config import load
    from voicenym.training.recogniser import kept_out

    chosen = _changed(
        load(config, recipe.BottleneckConfig), steps=steps, batch=batch, adversary=adversary
    )
    say, limit = shared.telling(quiet), shared.seconds(budget)
    machine = shared.on(accelerator, devices, precision, workers)
    speech = shared.gathered(data, split, corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    if start is None:
        alphabet = Alphabet.of(normalise(recording.text) for recording in learnt)
        model = CharacterModel.make("tdnnf", alphabet, chosen.options)
    else:
        model, _ = CharacterModel.load(start)
        if model.kind != "tdnnf":
            raise VoicenymError(f"{start}: a {model.kind} has no bottleneck; give a tdnnf")
    how = shared.rendering(None, "utterance", output)
    utterances = shared.shelved(shelf or output / "shelf", [*learnt, *kept], how, say)
    outcome = recipe.train(
        model,
        utterances[: len(learnt)],
        utterances[len(learnt) :],
        chosen,
        output,
        seconds=limit,
        machine=machine,
        say=say,
    )
    about = {
        "data": [f"{path.name} {split or ''} {' '.join(corpus)}".strip() for path in data],
        "speakers": len({r.speaker for r in learnt}),
        "recordings": len(learnt),
        "weight of the branch that hides the speaker": chosen.adversary,
        "steps": outcome.steps,
        "CER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
    }
    save(model.net.content, output, about)
    model.save(output / "recogniser", training=about)
    typer.echo(f"{output}: {outcome.steps} steps, CER {outcome.best:.1f} % on speakers kept out")


def features_of(place: str, layer: int, machine: Machine) -> tuple[Content, dict[str, object]]:
    """What gives frames, and what to call it: a network by its weights, wherever it lies.

    Args:
        place: ``cepstra``, ``wav2vec2:PLACE`` (XLS-R among others), or a HuBERT's.
        layer: of a network.
        machine: where it is to run.

    Raises:
        VoicenymError: no such features.
    """
    from voicenym.nets.content.units import Cepstra, HubertLayer

    device = "cuda" if machine.cuda else "cpu"
    if place == CEPSTRA:
        return Cepstra().to(device), {"features": CEPSTRA}
    if place.startswith(WAV2VEC):
        from voicenym.nets.content.wav2vec import Wav2Vec
        from voicenym.nets.folder import fingerprint

        network = Wav2Vec.from_published(place.removeprefix(WAV2VEC), layer)
        told = {
            "features": "wav2vec2",
            "layer": layer,
            "sha256": fingerprint(network.state_dict()),
        }
        return network.to(device), told
    hubert, digest = _hubert(place)
    source = {"features": "hubert", "layer": layer, "sha256": digest}
    try:
        hubert.hidden(hubert.norm.weight.new_zeros(1, 320), layer=layer)
    except ValueError as error:
        raise VoicenymError(f"{place}: {error}; give another --layer") from None
    return HubertLayer(hubert, layer).to(device), source


def _hubert(place: str) -> tuple[HubertSoft, str]:
    """A HuBERT at a place, and the SHA-256 of its weights."""
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.hubert_published import from_hubert, located
    from voicenym.nets.content.weights import load
    from voicenym.nets.hub import place_of, sha256

    path = Path(place_of(place))
    if _is_ours(path):
        network = load(path)
        if not isinstance(network, HubertSoft):
            raise VoicenymError(f"{place}: a {network.kind}; give a HuBERT")
    else:
        network = from_hubert(path)
    return network, sha256(located(path))


def _student(start: str | None, config: SoftConfig, targets: Units) -> HubertSoft:
    """A network to train: from nothing, from HuBERT, or with weights of an earlier run."""
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.hubert_published import from_hubert
    from voicenym.nets.content.weights import load
    from voicenym.nets.hub import place_of
    from voicenym.training.content import network

    if start is None:
        return network(config, targets)
    path = Path(place_of(start))
    if not _is_ours(path):
        layers = config.layers or None
        return from_hubert(
            path, size=config.size, units=len(targets), layers=layers, seed=config.seed
        )
    found = load(path)
    if not isinstance(found, HubertSoft) or found.units != len(targets):
        raise VoicenymError(f"{start}: no HuBERT-soft of {len(targets)} units; give such a one")
    return found


def _changed(config: T, **changes: Any) -> T:
    """The recipe with some fields changed; those that are None stay."""
    given: dict[str, Any] = {name: v for name, v in changes.items() if v is not None}
    return dataclasses.replace(config, **given)  # type: ignore[type-var]


def _is_ours(path: Path) -> bool:
    """Whether a folder holds a network in our own format."""
    from voicenym.nets.folder import CONFIG, DIGEST, configuration

    return (path / CONFIG).is_file() and DIGEST in configuration(path)
