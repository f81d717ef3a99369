"""Examples of the training of language scores: joined speech of a speaker, noise and tones.

Noise, tones and music count as speech of the encoder's own language: they are no other language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.dsp.speech_activity import loud_frames
from voicenym.nets.content.content_encoder import Content
from voicenym.training.speech.augmentation import Surroundings

NO_SPEECH = "no speech"
"""Group of noise and tones."""
MUSIC = "music"
"""Group of recordings of music."""


class Example(NamedTuple):
    """Joined speech of a speaker.

    Args:
        states: ``[frame, element]``, float16, and the following of
            :meth:`voicenym.nets.content.content_encoder.Content.states_and_misfits`.
        misfit: ``[frame]``.
        speech: ``[frame]`` bool.
        other: whether it is of another language.
        speaker: the speaker.
        group: corpus or language.
    """

    states: torch.Tensor
    misfit: torch.Tensor
    speech: torch.Tensor
    other: bool
    speaker: str
    group: str


def joined(recordings: Iterable[np.ndarray], seconds: float, most: int) -> Iterator[np.ndarray]:
    """Recordings ``[time]`` of a speaker, joined to at most that many signals of so many seconds.

    The last one may be shorter, to a quarter.
    """
    whole, parts, held = round(seconds * RATE), [np.zeros(0, np.float32)], 0
    for samples in recordings:
        parts.append(samples[: whole - held])
        held += len(parts[-1])
        if held >= whole:
            yield np.concatenate(parts)
            most, parts, held = most - 1, [], 0
            if not most:
                return
    if held >= whole // 4:
        yield np.concatenate(parts)


def no_speech(count: int, seconds: float, seed: int) -> Iterator[np.ndarray]:
    """Coloured noise, and chords of tones with an attack, ``[time]`` float32 at 16 kHz."""
    time = np.arange(round(seconds * RATE)) / RATE
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        if number % 2:
            power = np.fft.rfft(rng.standard_normal(len(time)))
            power /= np.maximum(np.fft.rfftfreq(len(time), 1 / RATE), 50.0) ** rng.uniform(0.0, 1.0)
            signal = np.fft.irfft(power, len(time))
            rhythm = rng.uniform(0.5, 6.0)
            signal *= 1.0 + rng.uniform(0.0, 1.0) * np.sin(2 * np.pi * rhythm * time)
        else:
            beat = rng.uniform(0.15, 0.8)
            signal = np.zeros(len(time))
            for start in np.arange(0.0, seconds, beat):
                past = np.clip(time - start, 0.0, None)
                shape = np.exp(-past * rng.uniform(2.0, 8.0)) * (time >= start)
                for note in rng.choice(48, rng.integers(1, 4), replace=False):
                    hertz = 110.0 * 2.0 ** (note / 12.0)
                    for harmonic in range(1, 5):
                        signal += shape * np.sin(2 * np.pi * harmonic * hertz * past) / harmonic**2
        yield (rng.uniform(0.05, 0.5) * signal / np.abs(signal).max()).astype(np.float32)


@torch.inference_mode()
def analysed(
    content: Content, samples: np.ndarray, other: bool, speaker: str, group: str
) -> Example | None:
    """Example of a signal ``[time]``; None without misfits or speech."""
    hop = content.hop
    signal = torch.from_numpy(samples[: len(samples) // hop * hop])[None]
    if not signal.any():
        return None
    states, misfit = content.states_and_misfits(signal)
    speech = loud_frames(signal, hop)[0]
    if not speech.any():
        return None
    return Example(states[0].half(), misfit[0], speech, other, speaker, group)


def changed(samples: np.ndarray, generator: torch.Generator) -> np.ndarray:
    """The signal ``[time]`` with noise, a room or a narrow band."""
    surroundings = Surroundings(noise=0.5, babble=0.0, room=0.4, band=0.4, snr=(8.0, 25.0))
    return surroundings(torch.from_numpy(samples)[None], generator)[0].numpy()
