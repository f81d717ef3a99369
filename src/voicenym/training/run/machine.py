"""Machine of a training: devices, precision, and processes that prepare speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from voicenym import processes
from voicenym.corpus.workers.cpu_count import cores
from voicenym.nets.matrix_precision import has_bfloat16


@dataclass(frozen=True)
class Machine:
    """Machine to train on.

    Args:
        accelerator: ``auto``, ``cpu``, ``gpu``.
        devices: number; several train together (DDP).
        precision: in Lightning's notation; None for bf16 on CUDA and single elsewhere.
        workers: processes that make crops; None for a default by the number of cores.
    """

    accelerator: str = "auto"
    devices: int = 1
    precision: str | None = None
    workers: int | None = None

    @property
    def cuda(self) -> bool:
        return self.accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available()

    def crops(self, every: int, batch: int) -> int:
        """Number of crops of a device in ``every`` steps of ``batch``."""
        return every * batch * self.devices

    @property
    def loaders(self) -> int:
        """Number of processes that make crops; none on a machine of two cores."""
        if self.workers is not None:
            return self.workers
        return max(0, min(12, cores() // max(1, self.devices) - 2))

    @property
    def loading(self) -> dict[str, Any]:
        """Options of a data loader that makes crops for this machine."""
        return {**processes.loading(self.loaders), "pin_memory": self.cuda}


def fastest_precision() -> str:
    """Fastest precision: bf16 if the device, or the processor, supports it.

    On a processor with AVX-512 BF16 a step of a small ECAPA-TDNN takes half the time.
    """
    return "bf16-mixed" if torch.cuda.is_available() or has_bfloat16() else "32-true"
