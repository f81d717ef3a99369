"""Memory of a training step: detects lack of memory, and finds a batch size that fits."""

from __future__ import annotations

from typing import Any

import lightning.pytorch as pl
import torch


def fitting(module: pl.LightningModule, batch: Any) -> int:
    """Largest of half, a quarter, ... of a batch for which memory suffices; 0 if none."""
    trainer, module._trainer = module._trainer, None
    try:
        size = len(batch[0])
        while size := size // 2:
            try:
                part = tuple(x[:size].to(module.device) for x in batch)
                module.zero_grad(set_to_none=True)
                module.training_step(part, 0).backward()  # type: ignore[union-attr]
                return size
            except Exception as error:
                if not out_of_memory(error):
                    raise
    finally:
        module._trainer = trainer
        module.zero_grad(set_to_none=True)
    return 0


def out_of_memory(error: BaseException) -> bool:
    """Whether an error reports a lack of memory, of a device or of the computer."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )
