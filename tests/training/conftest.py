"""Synthetic voices that a small network can learn: each speaker has its own pitch and formants."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from voicenym.corpus.recording import Recording


def voice(speaker: int, take: int, seconds: float = 1.0) -> np.ndarray:
    """``[time]`` float32 at 16 kHz: pulses of a speaker's pitch through two resonances."""
    from scipy.signal import lfilter

    rng = np.random.default_rng((speaker, take))
    pitch = 80.0 * 2 ** (speaker / 5.0) * (1 + 0.02 * rng.standard_normal())
    phase = np.cumsum(np.full(round(seconds * 16_000), pitch / 16_000))
    sound = np.diff(np.floor(phase), prepend=0.0) + 0.003 * rng.standard_normal(len(phase))
    for hertz in (400.0 + 70 * speaker, 1_500.0 + 130 * speaker):
        radius, angle = 0.97, 2 * np.pi * hertz / 16_000
        sound = lfilter([1.0], [1.0, -2 * radius * np.cos(angle), radius**2], sound)
    return (0.3 * sound / np.abs(sound).max()).astype(np.float32)


@pytest.fixture(scope="session")
def voices(tmp_path_factory):
    """Ten speakers of six recordings, half of each sex, as files."""
    folder = tmp_path_factory.mktemp("voices")
    found = []
    for speaker in range(10):
        for take in range(6):
            path = folder / f"s{speaker}" / f"{take}.wav"
            path.parent.mkdir(exist_ok=True)
            soundfile.write(path, voice(speaker, take), 16_000, subtype="PCM_16")
            found.append(
                Recording(f"s{speaker}/{take}", f"s{speaker}", path, "fm"[speaker % 2], "a b")
            )
    return found


class AsIs:
    """The rendering that changes nothing."""

    def identity(self, recording):
        return recording.digest()

    def __call__(self, recording):
        return recording.samples()


@pytest.fixture(scope="session")
def shelved(voices, tmp_path_factory):
    from voicenym.training.speech.speech_cache import SpeechCache

    return SpeechCache(tmp_path_factory.mktemp("cache")).fill(voices, AsIs())


@pytest.fixture
def small_word_codes():
    """A content encoder of twelve word codes, with random weights."""
    import torch

    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

    torch.manual_seed(0)
    small = {"width": 16, "heads": 2, "layers": 1, "bands": 8, "states": 100, "tokens": 10}
    sizes = {"states": 16, "window": 100, "width": 16, "inner": 16, "code": 6, "entries": 12}
    content = WordCodeContent(
        {**small, "positions": 8, "decoder_layers": 0}, {**sizes, "before": 1, "after": 1}
    ).eval()
    content.codes.quantizer.books[0].vectors.copy_(torch.randn(12, 6))
    return content


@pytest.fixture(scope="session")
def whisper():
    """A tiny recogniser of random weights, for losses."""
    import torch

    from voicenym.nets.words.whisper.whisper import Whisper

    torch.manual_seed(0)
    made = Whisper(width=16, heads=2, layers=3, states=100, tokens=20)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return made
