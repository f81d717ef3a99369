"""``voicenym train ubm`` and ``ivector``: statistical verifiers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from voicenym.apps.cli import train as shared
from voicenym.apps.cli.skipped_files import current
from voicenym.training.run.cpu_count import cores

if TYPE_CHECKING:
    from voicenym.training.speakers.train_ubm import BackgroundConfig, Say, Spoken

    T = TypeVar("T", bound=BackgroundConfig)

CONFIG = typer.Option(None, "--config", "-c", help="./FILE of YAML; sizes follow the data without.")
WORKERS = typer.Option(None, "--workers", "-j", min=1, help="Processes that listen.")


def ubm(
    data: list[Path] = shared.DATA,
    output: Path = shared.OUTPUT,
    config: str | None = CONFIG,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    workers: int | None = WORKERS,
    shelf: Path | None = shared.SHELF,
    system: str | None = shared.SYSTEM,
    per: str = shared.PER,
    quiet: bool = shared.QUIET,
) -> None:
    """Train a background model of speech, for GMM-UBM verification (gmm-ubm:FOLDER)."""
    from voicenym.training.speakers.train_ubm import BackgroundConfig, train

    chosen, say = _config(config, BackgroundConfig), shared.telling(quiet)
    place = shelf or output / "shelf"
    speech = _speech(data, split, corpus, system, per, output, place, say)
    found = train(speech, output, chosen, say, workers or cores(), current())
    typer.echo(f"{output}: {found.mixture.components} components")


def ivector(
    data: list[Path] = shared.DATA,
    output: Path = shared.OUTPUT,
    config: str | None = CONFIG,
    split: str | None = shared.SPLIT,
    corpus: list[str] = shared.CORPUS,
    workers: int | None = WORKERS,
    shelf: Path | None = shared.SHELF,
    system: str | None = shared.SYSTEM,
    per: str = shared.PER,
    quiet: bool = shared.QUIET,
) -> None:
    """Train i-vectors, LDA and PLDA on a corpus of speakers (ivector:FOLDER)."""
    from voicenym.training.speakers.train_ivector import IVectorConfig
    from voicenym.training.speakers.verifier_training import TrainingOptions, train_verifier
    from voicenym.verification.ivector import IVector

    chosen, say = _config(config, IVectorConfig), shared.telling(quiet)
    place = shelf or output / "shelf"
    speech = _speech(data, split, corpus, system, per, output, place, say)
    options = TrainingOptions(chosen, workers=workers or cores(), say=say, left_out=current())
    found = train_verifier(IVector, speech, output, options=options).verifier
    typer.echo(f"{output}: {found.name}, version {found.version}")


def _config(name: str | None, kind: type[T]) -> T:
    from voicenym.training.run.config import load

    return kind() if name is None else load(name, kind)


def _speech(
    data: Sequence[Path],
    split: str | None,
    corpus: Sequence[str],
    system: str | None,
    per: str,
    output: Path,
    shelf: Path,
    say: Say,
) -> Sequence[Spoken]:
    """Recordings as they are, or anonymized ones from a shelf."""
    recordings = shared.gathered(data, split, corpus)
    how = shared.rendering(system, per, output)
    return recordings if system is None else shared.shelved(shelf, recordings, how, say)
