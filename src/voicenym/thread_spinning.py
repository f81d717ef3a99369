"""How long idle threads of torch spin before they sleep.

Torch's parallel loops end at a barrier. GCC's OpenMP library lets a thread that waits there spin
300,000 times, for milliseconds, before it sleeps. Beside another program, the spinning thread holds
the core that the thread it waits for needs, and a training of two threads on two cores takes twice
as long as one of a single thread (benchmarks/busy_training.py).
"""

from __future__ import annotations

import os

COUNT = "GOMP_SPINCOUNT"
POLICY = "OMP_WAIT_POLICY"
SPINS = 1_000
"""Fewer than 10,000 help more beside other programs; alone, a step takes a sixth longer or more."""


def limit_spinning() -> None:
    """Lets idle threads sleep after :data:`SPINS` spins, unless the environment decides it.

    The OpenMP library reads the environment when it is loaded: it has an effect before torch is
    imported, and on the processes that this one starts.
    """
    if POLICY not in os.environ:
        os.environ.setdefault(COUNT, str(SPINS))
