"""``voicenym train householder``: rotations of speaker vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli import train as shared
from voicenym.apps.cli.skipped_files import current
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from collections.abc import Callable

    from voicenym.identity.pools.speaker_pool import Pool

KEPT = "vectors"
"""Within the output folder: vectors that were made of speech."""


def householder(
    vectors: Path | None = typer.Option(
        None, "--vectors", help="Vectors to learn from, of voicenym pool build --utterances."
    ),
    data: list[Path] = typer.Option(
        [], "--data", "-d", help="Or speech, as for the other recipes: vectors are made of it once."
    ),
    output: Path = shared.OUTPUT,
    config: str = typer.Option("householder", "--config", "-c", help="./FILE of YAML, or bundled."),
    encoder: str = typer.Option(
        "ecapa-small", "--encoder", help="With --data: what makes vectors; as --verifier."
    ),
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    seed: int | None = typer.Option(
        None, "--seed", help="Of the weights: attackers have another one than users (50, 1986)."
    ),
    budget: str | None = shared.BUDGET,
    steps: int | None = shared.STEPS,
    batch: int | None = typer.Option(None, "--batch", min=2, help="Vectors in a step."),
    accelerator: str = typer.Option("cpu", "--accelerator", help="cpu, gpu, or auto."),
    workers: int = typer.Option(1, "--workers", "-j", min=1, help="Processes that embed."),
    quiet: bool = shared.QUIET,
) -> None:
    """Train a Householder network to turn speakers into others (paper 0)."""
    shared.needs_lightning()
    from voicenym.identity.pools.speaker_pool import load as pool_in
    from voicenym.nets.identity.householder_checkpoint import save
    from voicenym.training.identity import train_householder as recipe
    from voicenym.training.run.config import changed, load

    if (vectors is None) == (not data):
        raise VoicenymError("give either --vectors or --data")
    means = shared.means(budget, quiet, accelerator)
    chosen = changed(load(config, recipe.HouseholderConfig), steps=steps, batch=batch, seed=seed)
    pool = (
        pool_in(vectors)
        if vectors is not None
        else _made(data, split, corpus, encoder, output / KEPT, workers, means["say"])
    )
    network = recipe.network(chosen, pool.size)
    rotation, outcome = recipe.train(network, pool, chosen, output, **means)
    last = outcome.curve[-1] if outcome.curve else {}
    card = {
        "vectors": len(pool),
        "speakers": pool.people,
        "encoder": pool.encoder,
        "loss": chosen.loss,
        "seed": chosen.seed,
        "steps": outcome.steps,
        "held-out loss": outcome.best,
        "cosine of a vector and what it becomes": last.get("cosine"),
        "pseudo-speakers told apart %": last.get("told apart %"),
    }
    save(rotation, output, card)
    typer.echo(f"{output}: {outcome.steps} steps, held-out loss {outcome.best:.3f}")


def _made(
    data: list[Path],
    split: str | None,
    corpus: list[str],
    encoder: str,
    folder: Path,
    workers: int,
    say: Callable[[str], None],
) -> Pool:
    """Vectors of all utterances, which lie in the folder after the first run."""
    import torch

    from voicenym.corpus.embedder import Embedder
    from voicenym.identity.pools.speaker_pool import Pool, load, save
    from voicenym.verification.verifiers import verifier

    model = verifier(encoder)
    if not folder.is_dir():
        speech = shared.gathered(data, split, corpus)
        say(f"{len(speech)} recordings are embedded")
        with Embedder(workers=workers, left_out=current()) as embedder:
            found, speech = embedder.kept(model, speech)
        vectors = torch.from_numpy(found).float()
        sexes, speakers = tuple(r.sex for r in speech), tuple(r.speaker for r in speech)
        save(Pool(vectors, sexes, speakers, encoder, model.version), folder)
    pool = load(folder).made_by(encoder, model.version)
    say(f"{folder}: {pool}")
    return pool
