"""The machine that a training runs on: devices, precision, and processes that prepare speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from voicenym import processes
from voicenym.training.run.cpu_count import cores


@dataclass(frozen=True)
class Machine:
    """The machine to train on.

    Args:
        accelerator: ``auto``, ``cpu``, ``gpu``.
        devices: how many; more than one train together (DDP).
        precision: as Lightning names it; None for bf16 on CUDA and single elsewhere.
        workers: processes that make crops; None for what the machine has to spare.
    """

    accelerator: str = "auto"
    devices: int = 1
    precision: str | None = None
    workers: int | None = None

    @property
    def cuda(self) -> bool:
        return self.accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available()

    def crops(self, every: int, batch: int) -> int:
        """In ``every`` steps of ``batch``: of as many devices, each takes its share."""
        return every * batch * self.devices

    @property
    def loaders(self) -> int:
        """Processes that make crops; a machine of two cores has none to spare."""
        if self.workers is not None:
            return self.workers
        return max(0, min(12, cores() // max(1, self.devices) - 2))

    @property
    def loading(self) -> dict[str, Any]:
        """Options of a data loader that makes crops for this machine."""
        return {**processes.loading(self.loaders), "pin_memory": self.cuda}


def fastest_precision() -> str:
    """The precision of the fastest steps: bf16 where the device, or the processor, computes in it.

    On a processor with AVX-512 BF16 a step of a small ECAPA-TDNN takes half the time.
    """
    able: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # older ones have none
    native = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))
    return "bf16-mixed" if native or torch.cuda.is_available() else "32-true"
