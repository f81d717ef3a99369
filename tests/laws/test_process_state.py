"""Law: a system changes nothing of the process that uses it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import logging, os, random, signal, sys
import numpy as np, torch
import voicenym

def state():
    return {
        "torch's generator": torch.get_rng_state().tolist(),
        "NumPy's generator": [np.asarray(part).tolist() for part in np.random.get_state()],
        "Python's generator": random.getstate(),
        "threads": torch.get_num_threads(),
        "type": torch.get_default_dtype(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "determinism": torch.are_deterministic_algorithms_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "log": (logging.root.level, list(logging.root.handlers)),
        "hooks": (sys.excepthook, sys.getrecursionlimit(), sys.getswitchinterval()),
        "errors of NumPy": np.geterr(),
    }

audio = voicenym.read(sys.argv[1])
audio = voicenym.Audio(audio.samples[:32000], audio.rate)
samples, pseudonym = audio.samples.clone(), voicenym.Key.generate().pseudonym("anna")
for name in sys.argv[2:]:
    before = state()
    system = voicenym.load(name)
    system(audio, pseudonym)
    if system.works_live:
        stream = system.stream(pseudonym, audio.rate)
        stream.push(audio.samples)
        stream.flush()
    after = state()
    changed = [what for what in before if before[what] != after[what]]
    assert not changed, (name, changed)
    assert torch.equal(samples, audio.samples), name
"""


def test_a_system_changes_nothing_of_the_process(sample):
    """In a process of its own, in which no network is loaded yet."""
    names = ("mcadams", "formant", "recast", "vcloak", "base", "musa", "ssl-loh", "ssl-roh", "b1a")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(sample), *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
