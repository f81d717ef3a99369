"""``voicenym train mixture``: pseudo-speakers' distribution, from a pool."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from voicenym.apps.cli import train as shared
from voicenym.errors import VoicenymError

SEARCH, PICTURE = "search.jsonl", "search.svg"


def mixture(
    source: Path = typer.Argument(help="A pool, of voicenym pool build."),
    output: Path = shared.OUTPUT,
    share: float = typer.Option(0.99, "--share", help="Of the variance that PCA keeps."),
    components: int = typer.Option(1, "--components", min=1, help="Of the mixture."),
    covariance: str = typer.Option("diag", "--covariance", help="diag or full."),
    any_sex: bool = typer.Option(False, "--any-sex", help="One mixture for women and men."),
    search: bool = typer.Option(
        False,
        "--search",
        help="Choose share and components by how alike pseudo-speakers are to each other (D_KS) "
        "and by entropy; writes what was tried, and figures of it.",
    ),
    shares: list[float] = typer.Option([], "--try-share", help="Of a search; may be repeated."),
    counts: list[int] = typer.Option([], "--try-components", help="Of a search; may be repeated."),
    seed: int = typer.Option(0, "--seed", help="Of every draw."),
    quiet: bool = shared.QUIET,
) -> None:
    """Fit a Gaussian mixture in principal components of a pool's vectors (paper 1)."""
    from voicenym.identity.pools.speaker_pool import opened
    from voicenym.identity.pools.vector_mixture import save
    from voicenym.training.identity import train_mixture as recipe

    if covariance not in ("diag", "full"):
        raise VoicenymError(f"--covariance is diag or full, not {covariance!r}")
    pool = opened(str(source))
    sizes: dict[str, Any] = {"covariance": covariance, "by_sex": not any_sex, "seed": seed}
    config = recipe.MixtureConfig(share, components, **sizes)
    if search:
        tried = recipe.search(
            pool,
            config,
            shares or recipe.SHARES,
            counts or recipe.COMPONENTS,
            say=shared.telling(quiet),
        )
        share, components = recipe.chosen(tried)
        config = recipe.MixtureConfig(share, components, **sizes)
        output.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(asdict(row)) for row in tried]
        (output / SEARCH).write_text("\n".join(lines) + "\n", "utf-8")
        from voicenym.evaluation.figures.mixture_sizes import sizes as picture

        (output / PICTURE).write_text(picture(tried), "utf-8")
    found = recipe.train(pool, config)
    save(found, output, {"speakers": len(pool), **asdict(config)})
    typer.echo(f"{output}: {found}")
