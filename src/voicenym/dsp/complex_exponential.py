"""Exponentials of complex arrays, at less cost than torch's and with their values.

torch computes them one number at a time, by the C library. Here an exponential is a real one in
double precision, rounded to single precision as the C library rounds it, times cosine and sine.
"""

from __future__ import annotations

import torch

FEW = 4096
"""Numbers below which the calls cost more than they save."""
AT_ONCE = 1 << 15
"""Numbers computed at once: what is between stays in the second-level cache."""
CLOSE = 1e-9
"""Relative distance from the middle between two numbers of single precision within which the C
library may round the other way: ten times what was found."""
LARGEST = 80.0
"""Exponents of this size are left to the C library, so that nothing overflows or loses digits."""


def exponential(values: torch.Tensor) -> torch.Tensor:
    """``values.exp()`` of complex numbers; with the GNU C library and x86-64 the same bits."""
    if not _worth_while(values):
        return values.exp()
    least, most = torch.stack(torch.aminmax(values.real)).tolist()
    if not -LARGEST < least <= most < LARGEST:
        return values.exp()
    found = torch.empty_like(values, memory_format=torch.contiguous_format)
    parts = zip(values.reshape(-1).split(AT_ONCE), found.view(-1).split(AT_ONCE), strict=True)
    for part, out in parts:
        exact = part.real.double().exp_()
        radius = exact.float()
        unsure = exact.mul(1.0 - CLOSE).float() != exact.mul_(1.0 + CLOSE).float()
        torch.polar(radius, part.imag, out=out)
        places = unsure.nonzero()[:, 0]
        out[places] = part[places].exp()
    return found


def _worth_while(values: torch.Tensor) -> bool:
    """Whether the forms here suit an array: many numbers of single precision on the processor."""
    single = values.dtype == torch.complex64 and values.device.type == "cpu"
    return single and values.numel() >= FEW and not values.requires_grad
