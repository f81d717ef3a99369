"""Change of vocal-tract length and F0 of speech that may be made faster or slower beforehand."""

from __future__ import annotations

import numpy as np
import torch

from voicenym.dsp.pitch_changes.psola import Psola, Retuning

RATE = 16_000
LEAST = 0.01
"""Change of ln F0 below which F0 is left alone, because each change costs quality."""
CAP = 2.0


def shifted(samples: np.ndarray, rate: int, tract: float, pitch: float) -> np.ndarray:
    """Speech ``[time]`` at 16 kHz with all formants times ``tract`` and F0 times ``pitch``.

    Resampling changes formants, F0 and duration together; PSOLA then corrects F0. The duration is
    divided by ``tract``: have the speech made that much slower.

    Args:
        samples: ``[time]`` float32.
        rate: of them, in Hz.
        tract: factor of all formants; above 1 for a shorter vocal tract.
        pitch: factor of F0.
    """
    import soxr

    found = np.asarray(soxr.resample(samples, rate * tract, RATE), dtype=np.float32)
    if abs(np.log(pitch / tract)) < LEAST or not len(found):
        return found
    psola = Psola(RATE, [Retuning(1.0, pitch / tract, cap=CAP)])
    block = torch.from_numpy(found)[None]
    return torch.cat([psola.push(block), psola.flush()], dim=1)[0].numpy()
