"""What ``voicenym anonymize`` chooses where an option is not given: system, key and workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.measured_systems import measured
from voicenym.corpus import DEFAULT_FALLBACK, DEFAULT_SYSTEM, NO_FALLBACK
from voicenym.errors import KeyFileError, UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.corpus.batches.engines import Engine
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.pseudonym import Key

PROTECTION = typer.Option(
    None,
    "--protection",
    metavar="STEP",
    rich_help_panel="System",
    help=(
        "Instead of --system: the system that earns this step by measured figures; listener, "
        "machine, expert or words (voicenym explain)."
    ),
)
USUAL_SPEED = 20.0
"""Seconds of speech in a second, of systems without a figure."""
KEY_VARIABLE = "VOICENYM_KEY_FILE"


def system_of_run(system: str | None, step: str | None, say: Messages) -> str:
    """System of the run: the named one, that of a step of protection, or the default.

    Raises:
        UnknownSystemError: both are given; no such step, or no system here earns it.
    """
    if step is None:
        return system or DEFAULT_SYSTEM
    if system is not None:
        raise UnknownSystemError("--protection chooses the system; leave out --system, or it")
    from voicenym.anonymizer import declarations
    from voicenym.apps.cli.measured_systems.protection_steps import chosen

    cards = [found.card for found in declarations(lambda name, why: None).values()]
    name = chosen(cards, step).name
    say(f"--protection {step}: {name}")
    return name


def check_fallback(name: str, anonymizer: Anonymizer) -> None:
    """Refuses a fall-back of a system that refuses no recording.

    Args:
        name: of ``--fallback``. Its default and ``none`` pass: they change nothing.
        anonymizer: the system.

    Raises:
        UnknownSystemError: the fall-back would never be used.
    """
    if not anonymizer.may_refuse and name not in (DEFAULT_FALLBACK, NO_FALLBACK):
        raise UnknownSystemError(
            f"--fallback {name}: {anonymizer.card.name} with these settings refuses no recording; "
            "leave it out"
        )


def joined_settings(written: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a system from both places that state them.

    Args:
        written: after its name, as in ``recast:length=0.05``.
        named: with ``--set``.

    Raises:
        UnknownSystemError: one that both state, or the device, which has an option of its own.
    """
    for name in named:
        if name == "device":
            raise UnknownSystemError("--set device: give --device")
        if name in written:
            raise UnknownSystemError(f"--set {name}: --system names it too; give one")
    return {**written, **named}


def workers_of_run(items: list[Item], anonymizer: Anonymizer, engine: Engine) -> int:
    """Number of processes that pay; one on an accelerator; all of a cluster, named 0."""
    from voicenym.corpus.batches.engines import RayEngine
    from voicenym.corpus.plans.worker_count import workers_that_pay
    from voicenym.corpus.workers.cpu_count import cores

    if isinstance(engine, RayEngine):
        return 0 if engine.address else min(cores(), len(items))
    if anonymizer.device != "cpu":
        return 1
    return workers_that_pay(items, measured.speed(anonymizer.card) or USUAL_SPEED, cores())


def key_of_run(path: Path | None, say: Messages) -> tuple[Key, bool]:
    """Key of the run, and whether it is stored: of the option, the environment, or a fresh one.

    Raises:
        KeyFileError: the file is no key, or cannot be read.
    """
    from voicenym.pseudonym import Key, readable_by_others

    if path is None and os.environ.get(KEY_VARIABLE):
        path = Path(os.environ[KEY_VARIABLE])
    if path is None:
        return Key.generate(), False
    key = Key.load(path)
    try:
        if readable_by_others(path):
            say.warn(f"{path}: others can read this key; close it with: chmod 600 {path}")
    except OSError as error:
        raise KeyFileError(f"{path}: cannot read the key file ({error.strerror})") from None
    return key, True
