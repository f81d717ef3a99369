"""Formant scaling through synthesis: measured, scaled, synthesized, and measured again."""

import math

import pytest
import torch

from voicenym import Audio, Key, load
from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.formant_pitch import FormantPitch
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.formant_pitch_encoder import SPREAD, typical
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.synthesis_settings import Settings

RATE, HOP = 16_000, 160
HIGHER = (4500.0, 5500.0, 6500.0, 7500.0)
PSEUDONYMS = [Key(bytes(range(32))).pseudonym(name) for name in "abc"]


def resonant(pulses: torch.Tensor, formants: list[float]) -> torch.Tensor:
    """Rows of pulses through a tract."""
    size = 2 * pulses.shape[1]
    z = torch.exp(-1j * math.pi * torch.linspace(0, 1, size // 2 + 1, dtype=torch.float64))
    response = 1 / (1 - 0.97 * z)
    for formant in filter(lambda hertz: hertz < RATE / 2, formants):
        pole = math.exp(-math.pi * (60 + 0.04 * formant) / RATE)
        turn = math.cos(2 * math.pi * formant / RATE)
        response = response / (1 - 2 * pole * turn * z + pole**2 * z * z)
    synthesis_stream = torch.fft.irfft(torch.fft.rfft(pulses.double(), size) * response, size)
    return (synthesis_stream[:, : pulses.shape[1]] / 30.0).float()


def pulses(f0: torch.Tensor) -> torch.Tensor:
    """Harmonics of F0 ``[row, time]`` in Hz, nothing where it is 0."""
    phase = 2 * math.pi * torch.cumsum(f0.double() / RATE, 1)
    harmonics = torch.arange(1, 60)[:, None, None]
    below = harmonics * f0 < 7800
    return ((harmonics * phase).cos() * below).sum(0) * (f0 > 0)


class Obedient(Synthesizer):
    """Speaks one vowel with the F0 and the formants that it is told; content is nothing to it."""

    kind = "obedient"
    rate, hop, streams = RATE, HOP, False

    def __init__(self, content, speaker=5):
        super().__init__()
        self.sizes = {"content": content, "speaker": speaker}
        self.one = torch.nn.Parameter(torch.ones(1))

    def config(self):
        return dict(self.sizes)

    def synthesize(self, content, f0, speaker, seed, memory):
        hertz = typical(5) * 2.0 ** (speaker * torch.tensor(SPREAD[:5]))
        contour = f0.repeat_interleave(HOP, 1)
        tract = hertz[0, 1:].tolist()
        return resonant(pulses(contour), [*tract, *(tract[3] / 3500 * f for f in HIGHER)])


def talk(f0: float, formants: tuple[float, ...], seconds: float = 2.0) -> torch.Tensor:
    time = torch.arange(round(seconds * RATE)) / RATE
    contour = f0 * torch.exp(0.08 * torch.sin(5 * time))
    return 0.3 * resonant(pulses(contour[None]), [*formants, *HIGHER])[0]


@pytest.fixture
def folder(small_parts, tmp_path, monkeypatch):
    """A pipeline of the measuring encoder, in the place of ``b1b``'s."""
    speaker_encoders.save(speaker_encoders.make("formant-pitch", {}), tmp_path / "speaker")
    options = {"content": 8, "speaker": 5, "width": 16, "channels": 8, "mels": 8}
    parts = synthesizers.make("acoustic-nsf", {**options, "blocks": 1, "convolutions": 2})
    synthesizers.save(parts, tmp_path / "synthesizer")
    places = {name: tmp_path / name for name in ("speaker", "synthesizer")}
    places["content"] = small_parts["b1a"]["content"]
    assembly.assemble(tmp_path / "b1a", places, Settings(scale="octaves"))
    return tmp_path / "b1a"


@pytest.fixture
def obedient(folder, monkeypatch):
    """The folder, spoken by the synthesizer that does as it is told."""
    there = assembly.opened(folder)
    parts = Assembly(there.content, there.speaker, Obedient(there.content.size), there.settings)
    monkeypatch.setattr(assembly, "opened", lambda folder, device="cpu": parts)
    return str(folder)


@pytest.mark.parametrize("who", range(3))
def test_scaled_input_gives_scaled_output(obedient, who):
    """F0 within 1.5 %, F1 within a fifth of F0, other formants within 5 %."""
    source = talk(115.0, (500.0, 1500.0, 2500.0, 3500.0))
    encoder = assembly.opened(obedient).speaker
    (own,) = encoder.embed([source])
    system = load("b1a", weights=obedient, identity="formant-pitch", f0="moved")
    made = system(Audio(source, RATE), PSEUDONYMS[who]).samples
    (received,) = encoder.embed([made])
    wanted = FormantPitch()(own, PSEUDONYMS[who])
    assert float((wanted / own).log().abs().min()) > math.log(1.05)
    assert float(received[0] / wanted[0]) == pytest.approx(1.0, rel=0.015)
    assert float(received[1] - wanted[1]) == pytest.approx(0.0, abs=0.2 * float(received[0]))
    torch.testing.assert_close(received[2:], wanted[2:], rtol=0.05, atol=0)


def test_copying_and_kept_pitch_say_what_is_spoken(obedient):
    source = talk(140.0, (500.0, 1500.0, 2500.0, 3500.0))
    encoder = assembly.opened(obedient).speaker
    (own,) = encoder.embed([source])
    copied = load("b1a", weights=obedient, identity="copy", f0="moved")
    (received,) = encoder.embed([copied(Audio(source, RATE), PSEUDONYMS[0]).samples])
    torch.testing.assert_close(received[[0, 2, 3, 4]], own[[0, 2, 3, 4]], rtol=0.04, atol=0)
    kept = load("b1a", weights=obedient, identity="formant-pitch")
    profiling = kept.profiling(RATE)
    profiling.push(source[None])
    profile = profiling.result()
    vector = kept.voice(PSEUDONYMS[:1], profile).vectors[0]
    scaled = FormantPitch()(profile.vectors[0], PSEUDONYMS[0])
    scaled[0] = profile.vectors[0, 0]  # the contour is the speaker's, and so is what is said of it
    torch.testing.assert_close(vector, Settings(scale="octaves").scaled(scaled))


def test_halves_of_frequencies(folder):
    system = load("b1a", weights=str(folder), identity="half:of=(formant-pitch)", f0="moved")
    system.check()
    source = Audio(talk(120.0, (500.0, 1500.0, 2500.0, 3500.0), 0.5), RATE)
    made = system(source, PSEUDONYMS[0]).samples
    assert made.shape == source.samples.shape
    assert torch.isfinite(made).all()


@pytest.mark.parametrize(
    "samples",
    [torch.zeros(RATE), torch.zeros(0), 0.02 * torch.randn(4000), talk(100.0, (500.0,), 0.03)],
    ids=["silence", "nothing", "hiss", "30 ms"],
)
def test_a_speaker_with_little_speech_gets_a_voice(folder, samples):
    system = load("b1a", weights=str(folder), identity="formant-pitch", f0="moved")
    made = system(Audio(samples, RATE), PSEUDONYMS[0]).samples
    assert made.shape == samples.shape
    assert torch.isfinite(made).all()


def test_the_scale_must_be_that_of_the_encoder(folder, small_parts, tmp_path):
    places = {name: folder / name for name in assembly.NEEDED}
    with pytest.raises(VoicenymError, match="set --scale octaves"):
        assembly.assemble(tmp_path / "x", places, Settings())
    ssl = {name: small_parts["ssl"][name] for name in assembly.NEEDED}
    with pytest.raises(VoicenymError, match="no frequencies: set --scale none, unit or root"):
        assembly.assemble(tmp_path / "x", ssl, Settings(scale="octaves"))


def test_methods_for_speaker_vectors_are_refused_at_construction(folder):
    with pytest.raises(UnknownSystemError, match="blank is for speaker vectors"):
        load("b1a", weights=str(folder), identity="blank").check()
    load("b1a", weights=str(folder), identity="formant-pitch", f0="moved").check()
