"""Options that choose the engine of a command's workers."""

from __future__ import annotations

import typer

ENGINE = typer.Option(
    "local",
    "--engine",
    rich_help_panel="Engine",
    help=(
        "local: processes of this machine; ray: actors of Ray, on this machine or a cluster whose "
        "nodes share the folders. The outputs are the same bytes."
    ),
)
ADDRESS = typer.Option(
    None,
    "--address",
    metavar="HOST:PORT",
    rich_help_panel="Engine",
    help="Cluster of --engine ray, as `ray start --head` printed it; default: this machine alone.",
)
GPUS = typer.Option(
    None,
    "--gpus",
    metavar="NUMBER",
    rich_help_panel="Engine",
    help="GPUs of each worker of --engine ray, such as 1 or 0.25; needs --device cuda.",
)
