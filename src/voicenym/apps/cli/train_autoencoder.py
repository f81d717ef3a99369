"""``voicenym train autoencoder``: hide sex, accent and speaker in speaker vectors."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import typer

from voicenym.apps.cli import train as shared
from voicenym.errors import CorpusError


def autoencoder(
    source: Path = typer.Argument(help="Vectors, of voicenym pool build --utterances."),
    output: Path = shared.OUTPUT,
    config: str | None = typer.Option(None, "--config", "-c", help="A YAML file, as ./FILE."),
    accents: Path | None = typer.Option(
        None, "--accents", help="TSV with the columns speaker and accent (or language)."
    ),
    budget: str | None = shared.BUDGET,
    accelerator: str = typer.Option("cpu", "--accelerator", help="cpu, gpu, or auto."),
    quiet: bool = shared.QUIET,
) -> None:
    """Train the adversarial autoencoder of the challenge's S1 and S2."""
    shared.needs_lightning()
    from voicenym.identity.pools.speaker_pool import load
    from voicenym.nets.identity.vector_autoencoder import save
    from voicenym.training.identity import train_autoencoder as recipe
    from voicenym.training.run.config import load as settings

    kind = recipe.AutoencoderConfig
    chosen = kind() if config is None else settings(config, kind)
    spoken = load(source)
    network, outcome = recipe.train(
        spoken,
        chosen,
        output,
        accents=None if accents is None else _accents(accents, spoken.speakers),
        **shared.means(budget, quiet, accelerator),
    )
    card = {"vectors": len(spoken), "steps": outcome.steps, **asdict(chosen)}
    save(network, output, spoken.encoder, spoken.version, card)
    typer.echo(f"{output}: {outcome.steps} steps")


def _accents(path: Path, speakers: tuple[str, ...]) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        told = {row["speaker"]: row["accent"] or "" for row in rows}
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({error})") from None
    except KeyError as error:
        raise CorpusError(f"{path}: needs a column {error} in its first line") from None
    return [told.get(name, "") for name in speakers]
