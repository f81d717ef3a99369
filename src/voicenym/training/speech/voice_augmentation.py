"""Voice augmentation: another voice by signal processing, a room, noise, a narrow band.

Words and timing stay, so that the training target is that of the original.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import numpy as np
import torch

from voicenym.anonymizer import load
from voicenym.audio import Audio
from voicenym.corpus.recording import RATE
from voicenym.pseudonym import Key
from voicenym.training.speech.augmentation import Surroundings


@dataclass(frozen=True)
class VoiceAugmentation:
    """Changes voice and surroundings of a recording at random.

    Args:
        systems: of this package that keep the length; one of them anonymizes the recording under a
            random key.
        voice: probability of another voice.
        around: rooms, noise and bands, without babble, which would need other recordings.
    """

    systems: tuple[str, ...] = ("recast", "vtln", "formant")
    voice: float = 0.75
    around: Surroundings = field(
        default_factory=lambda: Surroundings(noise=0.3, babble=0.0, room=0.2, band=0.15)
    )

    def identity(self) -> str:
        """Equal names mean equal changes."""
        return json.dumps(asdict(self), sort_keys=True)

    def __call__(self, samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """``[time]`` float32 at 16 kHz to the same."""
        signal = torch.from_numpy(samples)
        changed = rng.random() < self.voice
        system = self.systems[int(rng.integers(len(self.systems)))]
        pseudonym = Key(rng.bytes(32)).pseudonym("anybody")
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        if changed:
            signal = load(system)(Audio(signal, RATE), pseudonym).samples.reshape(-1)
        found = self.around(signal[None], generator)[0]
        return found.clamp(-1.0, 1.0).numpy()
