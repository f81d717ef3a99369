"""What the core of a system gives, checked before anything is made of it.

Cores of other packages may break the rules of :class:`voicenym.anonymizer.Core`. One that gives too
little would end in silence, one that gives too much would lose its end, and NaN is no sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from voicenym.anonymizer.torch_state import check_torch_state
from voicenym.ending_signals import raised_by_handler
from voicenym.errors import AudioError

if TYPE_CHECKING:
    import torch

ROUNDING_SECONDS = 0.05
"""Difference of lengths that counts as rounding to whole frames, which is cut or filled."""


class CoreOutput:
    """Counts and checks what a core gets and gives.

    Args:
        core: whose length is checked unless it changes the tempo.
        system: its name, for messages.
        rows: of its signals.
        rate: of its signals, in Hz.

    Raises:
        AudioError: the core lacks a part of its interface.
    """

    def __init__(self, core: object, system: str, rows: int, rate: int) -> None:
        self._system, self._rows = system, rows
        self._keeps_length = not hasattr(core, "lengths")
        self._rounding = round(ROUNDING_SECONDS * rate)
        self._got = self._given = 0
        missing = [name for name in ("latency", "push", "flush") if not hasattr(core, name)]
        if missing:
            raise self._defect(f"has a core without {missing[0]}")

    def got(self, block: torch.Tensor) -> torch.Tensor:
        """The block ``[row, time]`` for the core, counted."""
        self._got += block.shape[1]
        return block

    def checked(self, out: torch.Tensor, last: bool = False) -> torch.Tensor:
        """``[row, time]`` float32 on the processor, outside of autograd.

        Args:
            out: of the core.
            last: whether the core has ended.

        Raises:
            AudioError: it is no such tensor, or not as long as what the core got.
            VoicenymError: as :func:`check_torch_state`.
        """
        import torch

        check_torch_state()  # the core may have changed it
        if not isinstance(out, torch.Tensor):
            raise self._defect(f"gave no tensor of torch but {type(out).__name__}")
        if out.ndim != 2 or out.shape[0] != self._rows or not out.is_floating_point():
            raise self._defect(
                f"gave {out.dtype} {list(out.shape)} in place of floats [{self._rows}, time]"
            )
        self._given += out.shape[1]
        surplus = self._given - self._got
        wrong = surplus > self._rounding or (last and surplus < -self._rounding)
        if wrong and self._keeps_length:
            raise self._defect(f"gave {self._given} samples for {self._got}")
        return out.detach().to("cpu", torch.float32)

    def check_finite(self, largest: float) -> None:
        """Refuses samples that are no numbers.

        Args:
            largest: magnitude of some samples; NaN if one of them is NaN.

        Raises:
            AudioError: it is NaN or infinite.
        """
        if not largest < float("inf"):
            raise self._defect("gave NaN or infinity")

    def _defect(self, what: str) -> AudioError:
        return _defect(self._system, what)


@contextmanager
def without_exit(system: str) -> Iterator[None]:
    """Runs code of a system, whose ``sys.exit()`` is an error and does not end the program.

    A command that it ended would have written nothing, with exit status 0.

    Args:
        system: its name, for messages.

    Raises:
        AudioError: the system's code raised SystemExit; that of a signal's handler passes.
    """
    try:
        yield
    except SystemExit as error:
        if raised_by_handler(error):
            raise
        raise _defect(system, f"tried to end the program (SystemExit: {error})") from error


def _defect(system: str, what: str) -> AudioError:
    return AudioError(
        f"the system {system} is defective: it {what}; update the package that it comes from, or "
        "choose another system"
    )
