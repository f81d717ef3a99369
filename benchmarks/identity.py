"""Speed of selection from a pool of 100,000 speakers, against reading the pool once.

    python benchmarks/identity.py

Selection compares a vector with every speaker of a sex: a product of a matrix and a vector, whose
multiply-adds need less time than the matrix needs to come from memory. Limits are measured in the
same run: that product alone; and what a product of two large matrices needs for as many
multiply-adds.
One thread, in processor time, which others on the machine lengthen less than time on the clock.
"""

from __future__ import annotations

import os
from functools import partial

import torch

from processor_time import fastest
from voicenym import Key
from voicenym.identity.pools.ranking import ranking
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.selection import Selection
from voicenym.identity.voice_indistinguishability import Indistinguishable

SPEAKERS, SIZE = 100_000, 192
REPEATS = 20
LIMIT = 0.020
"""Seconds that selection may take."""
seconds = partial(fastest, REPEATS)


def row(name: str, spent: float, product: float) -> None:
    print(f"{name:58s} {1000 * spent:8.2f} {spent / product:10.1f}")


def main() -> None:
    torch.set_num_threads(1)
    noise = torch.Generator().manual_seed(0)
    vectors = torch.randn(SPEAKERS, SIZE, generator=noise)
    sexes = tuple("fm"[i % 2] for i in range(SPEAKERS))
    pool = Pool(vectors, sexes, tuple(map(str, range(SPEAKERS))), "invented")
    speaker, who = torch.randn(SIZE, generator=noise), Key(bytes(32)).pseudonym("a")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':58s} {'ms':>8s} {'x product':>10s}")
    table = ranking(pool, "cosine", None).table
    product = seconds(lambda: table @ speaker)
    square = torch.randn(1024, 1024, generator=noise)
    rate = 1024**3 / seconds(lambda: square @ square)
    row(f"matrix [{SPEAKERS:,}, {SIZE}] and vector, alone", product, product)
    row("as many multiply-adds in a product of matrices", SPEAKERS * SIZE / rate, product)
    worst = 0.0
    for choice in ("far", "near", "random"):
        for sex in ("any", "same"):
            method = Selection(pool, choice, sex=sex)
            spent = seconds(lambda method=method: method(speaker, who, "f"))
            worst = max(worst, spent)
            row(f"selection, {choice}, sex={sex} (limit 20 ms)", spent, product)
    row("indistinguishable", seconds(lambda: Indistinguishable(pool)(speaker, who)), product)
    print(f"selection takes {1000 * worst:.1f} ms at most; limit {1000 * LIMIT:.0f} ms")


if __name__ == "__main__":
    main()
