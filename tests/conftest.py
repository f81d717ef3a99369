"""Shared fixtures: synthetic speech, voices for attacks, and the repository's folder."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import forked_workers
import hypothesis
import numpy as np
import pytest
from in_process import Finished
from in_process import run as run_in_process
from scipy.signal import lfilter

from voicenym import processes
from voicenym.thread_spinning import limit_spinning
from voicenym.verification.verifier import Verifier

# A test worker or more for each core: more threads than that only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Trainings take all cores nevertheless, beside the other workers.
limit_spinning()
# A key or speech of the person who runs the tests must not leak into them.
os.environ.pop("VOICENYM_KEY_FILE", None)
# Nor may weights that lie in their home; fixtures make small ones.
os.environ["VOICENYM_WEIGHTS"] = str(Path(__file__).parent / "no-weights")
# Libraries leave a million objects, which a collector need not walk through again and again.
gc.set_threshold(50_000, 20, 50)
# How long an example takes says how busy the machine is, and nothing of the code.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]
_CONTEXT = processes.context


@pytest.fixture(scope="session", autouse=True)
def _collected() -> Iterator[None]:
    """Objects that commands exempted from collection are collected at the end, with the tests."""
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def sample() -> Path:
    """A few seconds of synthetic speech, 16 kHz mono wav; never to be written to."""
    return ROOT / "samples" / "sample.wav"


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Finished]:
    """``command("anonymize", ...)`` in a folder of its own, in this process; what is left of it."""

    def run(*arguments: object, input: bytes | None = None, **environment: str) -> Finished:
        variables = {"VOICENYM_KEY_FILE": "", **environment}
        return run_in_process([str(argument) for argument in arguments], tmp_path, variables, input)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """As ``command``, in a process of its own: for what concerns processes."""

    def run(*arguments: object, input: bytes | None = None, **environment: str):
        return subprocess.run(
            [sys.executable, "-m", "voicenym", *map(str, arguments)],
            cwd=tmp_path,
            input=input,
            capture_output=True,
            env={**os.environ, "VOICENYM_KEY_FILE": "", **environment},
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture(scope="session", autouse=True)
def _quick_workers() -> Iterator[None]:
    """Worker processes that tests start are copies of one that has imported torch."""
    with forked_workers.server() as context, pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "context", lambda: context)
        yield


@pytest.fixture
def real_workers(monkeypatch) -> None:
    """Worker processes start as they do for users: for what concerns their start."""
    monkeypatch.setattr(processes, "context", _CONTEXT)


@pytest.fixture
def one_processor(monkeypatch) -> None:
    """The system grants one processor, so that caches are filled without worker processes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)


@pytest.fixture(scope="session")
def example_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``tests/example_plugin`` is installed in, as pip does, without a network."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(folder)]
    example = str(ROOT / "tests" / "example_plugin")
    done = subprocess.run([*pip, example], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def plugged(example_package: Path, monkeypatch) -> Iterator[Path]:
    """The example package on the search path; the folder that it lies in."""
    monkeypatch.syspath_prepend(str(example_package))
    yield example_package
    for name in [name for name in sys.modules if name.split(".")[0] == "whispered_voice"]:
        del sys.modules[name]


@pytest.fixture
def brief(monkeypatch) -> None:
    """Reports have no figures, and the loudest sample rates naturalness: for tests of the rest."""
    from voicenym.evaluation.reports import report
    from voicenym.metrics.utility import opinion

    monkeypatch.setattr(report, "gallery", lambda evaluation, evidence: [])
    monkeypatch.setattr(opinion, "rating", lambda samples: (1.0 + float(samples.max()),) * 4)


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
        self.embedded = 0

    def embed(self, recordings):
        self.embedded += len(recordings)
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
    """0.6 s of buzz: pitch and two resonances are the speaker's, the rest is the utterance's."""
    rng = np.random.default_rng([speaker, number])
    time = np.arange(6 * RATE // 10) / RATE
    pitch = 100 + 12 * speaker
    signal = np.zeros(len(time))
    for harmonic in range(1, 8000 // pitch):
        hertz = harmonic * pitch
        gain = sum(
            1 / (1 + ((hertz - f) / 200) ** 2) for f in (400 + 60 * speaker, 2600 - 90 * speaker)
        )
        signal += gain * np.sin(2 * np.pi * (hertz * time + rng.random()))
    signal *= 0.6 + 0.4 * np.sin(2 * np.pi * (3 * time + rng.random()))
    signal += 0.01 * rng.standard_normal(len(time))
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


def _lively(network):
    """Random weights of a size that lets signals through: a checkpoint that has learnt nothing."""
    import torch

    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim > 1 and parameter.numel() and "norm" not in name:
                torch.nn.init.kaiming_uniform_(parameter, a=1.0)
    return network.eval()


def _choices(folder: Path, size: int, encoder: str, version: str) -> dict[str, Path]:
    """What identity methods need, of invented speakers: 220 of each sex."""
    import torch

    from voicenym.identity.pools import speaker_pool, vector_mixture
    from voicenym.identity.pools.plda_affinity import Affinity
    from voicenym.nets.identity import householder_checkpoint
    from voicenym.nets.identity.householder_network import Householder
    from voicenym.resynthesis.pipeline.f0_regression import Register

    vectors = torch.randn(440, size)
    vectors[:220, 0] += 1.0
    vectors[220:, 0] -= 1.0
    sexes, speakers = ("f",) * 220 + ("m",) * 220, tuple(f"s{i}" for i in range(440))
    zero, eye = torch.zeros(size).double(), torch.eye(size).double()
    affinity = Affinity(zero, eye, zero.clone(), eye.clone(), torch.ones(size).double())
    people = speaker_pool.Pool(vectors, sexes, speakers, encoder, version, None, affinity)
    speaker_pool.save(people, folder / "pool")
    groups = {
        sex: vector_mixture.Gaussians(
            vectors[rows].mean(0),
            eye[:4].float(),
            torch.ones(1),
            torch.zeros(1, 4),
            torch.ones(1, 4),
        )
        for sex, rows in (("f", slice(0, 220)), ("m", slice(220, 440)))
    }
    vector_mixture.save(vector_mixture.Mixtures(groups, encoder, version), folder / "mixture")
    for form in ("roh", "loh"):
        turning = Householder(form, size, 2, 4)
        turning.learn_statistics(vectors)
        householder_checkpoint.save(
            householder_checkpoint.Rotation(turning.eval(), encoder, version), folder / form
        )
    register = Register(size, encoder, version)
    register.learn(vectors, torch.stack([5.0 + 0.2 * vectors[:, 0], torch.full((440,), 0.2)], 1))
    register.save(folder / "register")
    return {name: folder / name for name in ("pool", "mixture", "roh", "loh", "register")}


@pytest.fixture(scope="session")
def choices():
    """``choices(folder, size, encoder, version)``: what identity methods need, of vectors of a
    size; where each lies.
    """
    return _choices


@pytest.fixture(scope="session")
def small_parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """Parts of pipelines, ``ssl``, ``b1a`` and ``b1b``: the published architectures, very small,
    with random weights.
    """
    import torch

    from voicenym.nets.checkpoint import configuration
    from voicenym.nets.content import content_encoders as contents
    from voicenym.nets.speakers import speaker_encoders as speakers
    from voicenym.nets.synthesis import synthesizers

    root: Path = tmp_path_factory.mktemp("parts")
    generator = {"rates": [8, 5, 4], "channels": 32, "block_kernels": [3], "block_dilations": [[1]]}
    hubert = {"size": 10, "units": 8, "layers": 1, "width": 16, "heads": 2, "inner": 16}
    ecapa = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}
    tdnnf = {"size": 8, "width": 16, "narrow": 8, "strides": [1, 0, 1]}
    xvector = {"channels": 16, "pooled": 20, "size": 14}
    b1 = {"content": 8, "speaker": 14}
    filters = {"mels": 8, "width": 16, "channels": 8, "blocks": 1, "convolutions": 2}
    made = {
        "ssl": (
            ("hubert-soft", {**hubert, "channels": 16, "kernel": 8, "groups": 2}),
            ("ecapa", ecapa),
            ("hifigan", {"content": 10, "speaker": 12, "size": generator, "pitch": "log"}),
        ),
        "b1a": (("tdnnf", tdnnf), ("xvector", xvector), ("acoustic-nsf", {**b1, **filters})),
        "b1b": (
            ("tdnnf", tdnnf),
            ("xvector", xvector),
            ("hifigan-nsf", {**b1, "size": generator, "pitch": "log"}),
        ),
    }
    found = {}
    with torch.random.fork_rng():
        torch.manual_seed(7)
        for name, kinds in made.items():
            places = {part: root / name / part for part in ("content", "speaker", "synthesizer")}
            for room, place, (kind, options) in zip(
                (contents, speakers, synthesizers), places.values(), kinds, strict=True
            ):
                room.save(_lively(room.make(kind, options)), place)
            version = configuration(places["speaker"])["sha256"][:16]
            size = kinds[1][1]["size"]
            found[name] = {**places, **_choices(root / name, size, kinds[1][0], version)}
    return found


@pytest.fixture(scope="session")
def pipelines(small_parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ``VOICENYM_WEIGHTS``: the pipelines' parts, assembled, and a causal codec."""
    import torch

    from voicenym.nets.codec.codec import Codec
    from voicenym.nets.codec.codec_config import CodecConfig
    from voicenym.nets.synthesis import f0_predictor
    from voicenym.resynthesis.pipeline.assembly import assemble

    home: Path = tmp_path_factory.mktemp("weights")
    for name, parts in small_parts.items():
        assemble(home / name, parts)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        predictor = f0_predictor.F0Predictor(10, 2, width=16, inner=16, blocks=1)
        f0_predictor.save(_lively(predictor), home / "predictor")
        assemble(home / "ssl", {"f0": home / "predictor"})
        sizes = CodecConfig(channels=4, size=16, layers=1, entries=16, speaker=8, causal=True)
        codec = _lively(Codec(sizes))
        codec.voices.learn_statistics(torch.randn(200, 16))
        codec.save(home / "musa")
    return home


VOWELS = np.array([(300, 2300, 3000), (700, 1200, 2500), (350, 800, 2400), (500, 1700, 2600)])
"""Resonances in Hz."""


class Voice:
    """Two seconds of vowels in random order; a speaker's vocal tract scales their resonances."""

    def __init__(self, speaker: int, take: int) -> None:
        self.speaker = f"s{speaker}"
        self._at = speaker, take

    def samples(self) -> np.ndarray:
        speaker, take = self._at
        rng = np.random.default_rng([speaker, take])
        own = np.random.default_rng(speaker).uniform(0.85, 1.2, 3)
        parts = []
        for vowel in rng.integers(0, 4, 20):
            sound = rng.normal(size=1_600)
            for hertz in VOWELS[vowel] * own * rng.uniform(0.97, 1.03, 3):
                pole = 0.96 * np.exp(2j * np.pi * hertz / 16_000)
                sound = lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], sound)
            parts.append(sound / np.abs(sound).max())
        return (0.3 * np.concatenate(parts)).astype(np.float32)


@pytest.fixture(scope="session")
def voice():
    """``voice(speaker, take)``: a recording."""
    return Voice


@pytest.fixture(scope="session")
def tiny_whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a Whisper with random weights: two layers of 16 numbers, windows of 0.8 s."""
    import torch

    from voicenym.nets.words.whisper.whisper import KINDS, Whisper

    folder = tmp_path_factory.mktemp("tiny-whisper")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Whisper(width=16, heads=2, layers=2, states=40, tokens=8, positions=8)
        with torch.no_grad():
            for name, value in network.named_parameters():
                if "norm" not in name:
                    value.copy_(0.3 * torch.randn(value.shape))
    KINDS.save(network.eval(), folder, {})
    return folder


@pytest.fixture(autouse=True)
def _same_random_numbers(request: pytest.FixtureRequest) -> None:
    """A module's ``RNG`` begins anew in each test, whichever tests ran before it."""
    generator = getattr(getattr(request.node, "module", None), "RNG", None)
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = np.random.default_rng(0).bit_generator.state
