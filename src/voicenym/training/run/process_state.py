"""State of the process that a training changes, restored at its end.

A recipe seeds the global generators, from which layers such as dropout draw, and Lightning seeds
those of Python and NumPy, too. A program that trains and goes on would draw the same numbers after
every training.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = ("PL_GLOBAL_SEED", "PL_SEED_WORKERS")
"""Variables of the environment that Lightning sets with a seed."""
LOGGER = "lightning.pytorch"


@contextmanager
def kept_process_state() -> Iterator[None]:
    """Context manager that restores generators, threads of torch, Lightning's variables and the
    level of its log.
    """
    import numpy as np
    import torch

    variables = {name: os.environ.get(name) for name in VARIABLES}
    logger = logging.getLogger(LOGGER)
    level, threads = logger.level, torch.get_num_threads()
    python, numpy = random.getstate(), np.random.get_state()
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices=gpus):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        logger.setLevel(level)
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
