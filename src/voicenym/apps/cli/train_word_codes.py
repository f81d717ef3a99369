"""``voicenym train word-codes``: a discrete bottleneck before Whisper's decoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared

if TYPE_CHECKING:
    from voicenym.training.speech.speech_cache import Utterance


def word_codes(
    data: list[Path] = shared.DATA,
    output: Path = shared.OUTPUT,
    config: str = typer.Option("word-codes", "--config", "-c", help=shared.CONFIG.help),
    whisper: str = typer.Option(
        "whisper-tiny.en",
        "--whisper",
        help="A Whisper of English: a name of models list, or a folder as ./FOLDER (ours, the "
        "hub's, or CTranslate2's).",
    ),
    start: Path | None = typer.Option(None, "--from", help="Folder of codes to go on from."),
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    accelerator: str = shared.ACCELERATOR,
    devices: int = shared.DEVICES,
    precision: str | None = shared.PRECISION,
    workers: int | None = shared.WORKERS,
    shelf: Path | None = shared.SHELF,
    states: Path | None = typer.Option(
        None, "--states", help="Folder for Whisper's states; default: within the output folder."
    ),
    prepare: bool = typer.Option(False, "--prepare", help="Keep the states, and train nothing."),
    quiet: bool = shared.QUIET,
) -> None:
    """Train codes of words: a discrete bottleneck that Whisper's own decoder understands."""
    shared.needs_lightning()
    from voicenym.errors import VoicenymError
    from voicenym.nets.content import word_codes as codes
    from voicenym.nets.hub import place_of
    from voicenym.nets.words.whisper_published import published
    from voicenym.training.content import train_word_codes as recipe
    from voicenym.training.content.word_state_dataset import Hearing, parted, pieces
    from voicenym.training.run.config import changed, load
    from voicenym.training.speech.speaker_split import apart
    from voicenym.training.speech.voice_augmentation import Disguise

    chosen = changed(load(config, recipe.WordCodesConfig), steps=steps)
    means = shared.means(budget, quiet, accelerator, devices, precision, workers)
    say = means["say"]
    listener = published(Path(place_of(whisper)))
    made = recipe.new(chosen, listener.network) if start is None else codes.load(start)
    sizes = listener.network.sizes
    if (made.sizes.states, made.sizes.window) != (sizes.width, sizes.states):
        raise VoicenymError(f"{start}: codes of another Whisper's states; give that one")
    device = "cuda" if means["machine"].cuda else "cpu"
    place = states or output / "states"
    plain = Hearing(listener, place, seed=chosen.seed, device=device)
    disguised = Hearing(listener, place, Disguise(), seed=chosen.seed, device=device)
    heard: list[Path] = []
    watched: list[Path] = []
    learnt: list[Utterance] = []
    for source in data:  # one by one, so that what is added leaves the windows of others alone
        some, kept = apart(shared.gathered([source], split, corpus), chosen.held_out, chosen.seed)
        spoken, aside = shared.prepared(shelf or output / "shelf", some, kept, say)
        texts = pieces(spoken, listener, place, say)
        heard += plain(parted(texts, chosen.cut), say)
        if chosen.disguised:
            heard += disguised(parted(texts, chosen.changed()), say)
        watched += plain(parted(pieces(aside, listener, place, say), chosen.cut), say)
        learnt += spoken
    if prepare:
        typer.echo(f"{place}: {len(heard)} windows to learn from, {len(watched)} to watch by")
        return
    outcome = recipe.train(made, listener.network, heard, watched, chosen, output, **means)
    card = {
        **shared.learnt_from(learnt, data, split, corpus),
        "states and decoder": f"{whisper}, encoder's last layer",
        "windows": len(heard),
        "steps": outcome.steps,
        "nats a token on speakers kept out, who decided which checkpoint is the best": outcome.best,
    }
    codes.save(made, output, card, half=True)
    typer.echo(
        f"{output}: {outcome.steps} steps, {outcome.best:.3f} nats a token on speakers kept out"
    )
