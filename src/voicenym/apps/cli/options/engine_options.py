"""Options that choose the engine of a command's workers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer

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
DEVICE = typer.Option(
    "cpu",
    "--device",
    rich_help_panel="Engine",
    help="Of the systems, and of verifiers that are networks: cpu or cuda.",
)


def check_system(anonymizer: Anonymizer, engine: str) -> None:
    """Checks weights and device of a system before the first recording.

    With Ray, workers have the GPUs: this process need not have one.

    Raises:
        VoicenymError: weights or a device that are missing or do not fit.
    """
    from voicenym.anonymizer import check_device

    if engine == "local":
        check_device(anonymizer.device)
        anonymizer.check()
    else:
        replace(anonymizer, device="cpu").check()
