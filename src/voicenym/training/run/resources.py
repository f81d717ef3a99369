"""Resources of a run: its time limit and its machine, from options; imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypedDict

from voicenym.errors import DependencyError, VoicenymError

if TYPE_CHECKING:
    from voicenym.training.run.machine import Machine


class Resources(TypedDict):
    """Arguments that every ``train`` function takes, by their names."""

    seconds: float | None
    machine: Machine
    say: Callable[[str], None]


def require_training() -> None:
    """Checks that the libraries of training are installed.

    Raises:
        DependencyError: a library is missing.
    """
    for name in ("lightning", "yaml", "safetensors"):
        if find_spec(name) is None:
            raise DependencyError("training: pip install 'voicenym[train]'")


def seconds(budget: str | None, option: str = "--budget") -> float | None:
    """Seconds of ``25m`` and the like; None for no limit.

    Args:
        budget: the text.
        option: of the command line that it comes from, for the error.

    Raises:
        VoicenymError: invalid text.
    """
    try:
        return None if budget is None else duration(budget)
    except ValueError:
        raise VoicenymError(f"{option} {budget}: give a time such as 90s, 25m or 2h") from None


def duration(text: str) -> float:
    """Seconds of ``25m``, ``1.5h``, ``90s`` or ``90``.

    Raises:
        ValueError: anything else.
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
    number = text.strip().lower()
    unit = units.get(number[-1:], 1.0)
    seconds = float(number.rstrip("smhd")) * unit
    if not 0.0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


def machine(accelerator: str, devices: int, precision: str | None, workers: int | None) -> Machine:
    """The machine of these options.

    Raises:
        VoicenymError: the computer has no such accelerator.
    """
    import torch

    from voicenym.training.run.machine import Machine

    if accelerator not in ("auto", "cpu", "gpu"):
        raise VoicenymError(f"--accelerator is auto, cpu or gpu, not {accelerator!r}")
    if accelerator == "gpu" and not torch.cuda.is_available():
        raise VoicenymError("no GPU that torch can use; take --accelerator cpu")
    return Machine(accelerator, devices, precision, workers)


def resources(
    budget: str | None,
    say: Callable[[str], None],
    accelerator: str = "cpu",
    devices: int = 1,
    precision: str | None = None,
    workers: int | None = 0,
) -> Resources:
    """Time limit, machine and reporting of a run.

    Args:
        budget: time limit, such as ``25m``; None for none.
        say: receives lines of progress.
        accelerator, devices, precision, workers: as of
            :class:`~voicenym.training.run.machine.Machine`.

    Raises:
        VoicenymError: as of :func:`seconds` and :func:`machine`.
    """
    return {
        "seconds": seconds(budget),
        "machine": machine(accelerator, devices, precision, workers),
        "say": say,
    }
