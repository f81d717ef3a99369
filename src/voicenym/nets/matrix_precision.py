"""Precision of the matrix products of networks: single, or bfloat16 where the hardware has it.

bfloat16 keeps 8 bits of a number's mantissa. Processors with AMX multiply such matrices several
times as fast as single precision. Outputs differ in last bits from one kind of processor to
another, so that it is a choice and not the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SINGLE, BFLOAT16 = "single", "bfloat16"
PRECISIONS = (SINGLE, BFLOAT16)


def has_bfloat16(device: str | torch.device = "cpu") -> bool:
    """Whether a device multiplies matrices of bfloat16 itself: a GPU, or a processor with AVX-512
    BF16 or AMX.
    """
    if torch.device(device).type != "cpu":
        return True
    able: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # older ones have none
    return any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def unfit(precision: str, device: str | torch.device) -> str | None:
    """Why a precision cannot be had, and what to say instead; None if it can."""
    if precision not in PRECISIONS:
        return f"precision is {SINGLE} or {BFLOAT16}, not {precision!r}"
    if precision == BFLOAT16 and not has_bfloat16(device):
        return (
            f"precision={BFLOAT16} needs a processor with AVX-512 BF16 or AMX, or a GPU; leave it "
            f"out, or say precision={SINGLE}"
        )
    return None


@contextmanager
def products_in(precision: str, device: torch.device) -> Iterator[None]:
    """Context in which modules multiply matrices in a precision."""
    if precision == SINGLE:
        yield
        return
    with torch.autocast(device.type, torch.bfloat16):
        yield
