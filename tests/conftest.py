"""What tests share: speech from a synthesiser, voices for attacks, and the repository's folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from voicenym.attack.interface import Verifier

# Two test workers on two cores: more threads than that only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A key or speech of the person who runs the tests must not leak into them.
os.environ.pop("VOICENYM_KEY_FILE", None)
# How long an example takes says how busy the machine is, and nothing of the code.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def sample() -> Path:
    """A few seconds of synthetic speech, 16 kHz mono wav; never to be written to."""
    return ROOT / "samples" / "sample.wav"


@pytest.fixture(scope="session")
def speech_folder() -> Path:
    """Real speech, where the environment variable VOICENYM_SPEECH says that there is some."""
    folder = os.environ.get("VOICENYM_SPEECH")
    if not folder or not Path(folder).is_dir():
        pytest.skip("VOICENYM_SPEECH names no folder of real speech")
    return Path(folder)


@pytest.fixture(scope="session")
def say(tmp_path_factory: pytest.TempPathFactory):
    """``say(text, voice)``: the path of a wav file in which flite says the text."""
    if not shutil.which("flite"):
        pytest.skip("flite is not installed: make system")
    folder = tmp_path_factory.mktemp("speech")

    def speak(text: str, voice: str = "slt") -> Path:
        path = folder / f"{len(list(folder.iterdir()))}-{voice}.wav"
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True)
        return path

    return speak


RATE = 16_000


class Spectrum(Verifier):
    """A verifier without weights: the level of 40 bands. Counts what it is given."""

    name = "spectrum"
    version = "1"

    def __init__(self) -> None:
        self.heard = 0

    def embed(self, recordings):
        self.heard += len(recordings)
        return np.stack([self._bands(x) for x in recordings]).astype(np.float32)

    @staticmethod
    def _bands(samples):
        power = np.abs(np.fft.rfft(samples)) ** 2
        bands = [band.mean() for band in np.array_split(power, 40)]
        level = np.log(np.array(bands) + 1e-9)
        return level - level.mean()


@pytest.fixture
def spectrum():
    return Spectrum()


def utterance(speaker: int, number: int) -> np.ndarray:
    """A second of buzz: pitch and two resonances are the speaker's, the rest is the utterance's."""
    rng = np.random.default_rng([speaker, number])
    time = np.arange(RATE) / RATE
    pitch = 100 + 12 * speaker
    signal = np.zeros(RATE)
    for harmonic in range(1, 8000 // pitch):
        hertz = harmonic * pitch
        gain = sum(
            1 / (1 + ((hertz - f) / 200) ** 2) for f in (400 + 60 * speaker, 2600 - 90 * speaker)
        )
        signal += gain * np.sin(2 * np.pi * (hertz * time + rng.random()))
    signal *= 0.6 + 0.4 * np.sin(2 * np.pi * (3 * time + rng.random()))
    signal += 0.01 * rng.standard_normal(RATE)
    return (0.1 * signal / np.abs(signal).max()).astype(np.float32)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Recordings: six speakers, half of each sex, with four utterances each."""
    import soundfile

    from voicenym.corpus.recording import Recording

    root: Path = tmp_path_factory.mktemp("corpus")
    recordings = []
    for speaker in range(6):
        (root / f"s{speaker}").mkdir()
        for number in range(4):
            path = root / f"s{speaker}" / f"u{number}.wav"
            soundfile.write(path, utterance(speaker, number), RATE)
            sex = "fm"[speaker % 2]
            recordings.append(Recording(f"s{speaker}-u{number}", f"s{speaker}", path, sex))
    return recordings
