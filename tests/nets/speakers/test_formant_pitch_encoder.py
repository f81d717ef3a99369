"""A voice's pitch and formants in Hz: vowels of known ones are found again."""

import math

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.formant_pitch_encoder import Formants, octaves, typical

RATE = 16_000
VOWELS = {
    "a": (730.0, 1090.0, 2440.0),
    "i": (270.0, 2290.0, 3010.0),
    "u": (300.0, 870.0, 2240.0),
    "e": (530.0, 1840.0, 2480.0),
}


@pytest.fixture(scope="module")
def encoder():
    return speaker_encoders.make("formant-pitch", {}).eval()


HIGHER = (3500.0, 4500.0, 5500.0, 6500.0, 7500.0)


def vowel(f0: float, name: str, seconds: float = 1.0, factor: float = 1.0) -> torch.Tensor:
    """Harmonics through a vowel's resonances, scaled, falling by 6 dB an octave as of a voice."""
    formants = [factor * formant for formant in (*VOWELS[name], *HIGHER)]
    time = torch.arange(round(seconds * RATE), dtype=torch.float64) / RATE
    harmonics = torch.arange(1, int(7800 / f0))[:, None]
    pulses = torch.cos(2 * math.pi * f0 * harmonics * time).sum(0)
    size = 1 << 16
    z = torch.exp(-1j * math.pi * torch.linspace(0, 1, size // 2 + 1, dtype=torch.float64))
    response = 1 / (1 - 0.97 * z)
    for formant in filter(lambda formant: formant < RATE / 2, formants):
        pole = math.exp(-math.pi * (60 + 0.04 * formant) / RATE)
        turn = math.cos(2 * math.pi * formant / RATE)
        response = response / (1 - 2 * pole * turn * z + pole**2 * z * z)
    spoken = torch.fft.irfft(torch.fft.rfft(pulses, size) * response, size)[: len(time)]
    return (0.3 * spoken / spoken.abs().max()).float()


@pytest.mark.parametrize("name", VOWELS)
@pytest.mark.parametrize("f0", [90.0, 120.0, 150.0, 200.0])
def test_vowels_are_found_again(encoder, name, f0):
    """F0 within a third of a per cent; F1 within a fifth of F0, for a formant is seen through
    harmonics only; the others within 4 %.
    """
    (found,) = encoder.embed([vowel(f0, name)])
    assert float(found[0]) == pytest.approx(f0, rel=0.003)
    assert float(found[1]) == pytest.approx(VOWELS[name][0], abs=0.2 * f0)
    for measured, wanted in zip(found[2:].tolist(), (*VOWELS[name][1:], HIGHER[0]), strict=True):
        assert measured == pytest.approx(wanted, rel=0.04)


@pytest.mark.parametrize("name", VOWELS)
@pytest.mark.parametrize("factor", [0.88, 1.12])
def test_a_scaled_tract_is_found_scaled(encoder, name, factor):
    """F1 within a fifth of F0 again, the others within 4 %."""
    usual, scaled = encoder.embed([vowel(110.0, name), vowel(110.0, name, factor=factor)])
    assert float(scaled[1] - factor * usual[1]) == pytest.approx(0.0, abs=22.0)
    expected = torch.full((3,), factor)
    torch.testing.assert_close(scaled[2:] / usual[2:], expected, rtol=0.04, atol=0)


def test_levels_lengths_and_neighbours_do_not_matter(encoder):
    one, two = vowel(120.0, "a", 1.3), vowel(180.0, "i", 0.71)
    alone = torch.stack([encoder.embed([x])[0] for x in (one, two)])
    torch.testing.assert_close(encoder.embed([0.01 * one, two]), alone, rtol=1e-3, atol=0)
    padded = torch.nn.utils.rnn.pad_sequence([one, two], batch_first=True)
    lengths = torch.tensor([len(one), len(two)])
    torch.testing.assert_close(encoder(padded, lengths), alone, rtol=1e-3, atol=0)
    pauses = torch.cat([one, torch.zeros(RATE), 0.001 * torch.randn(RATE), one])
    torch.testing.assert_close(encoder.embed([pauses])[0], alone[0], rtol=0.02, atol=0)


@pytest.mark.parametrize(
    "samples",
    [torch.zeros(RATE), torch.zeros(0), 0.1 * torch.randn(RATE), torch.full((900,), 0.2)],
    ids=["silence", "nothing", "hiss", "a constant"],
)
def test_nobody_is_a_typical_voice(encoder, samples):
    assert torch.equal(encoder.embed([samples])[0], typical(5))


def test_a_synthesizer_hears_octaves_from_a_typical_voice(encoder):
    assert torch.equal(octaves(typical(5)), torch.zeros(5))
    assert torch.equal(octaves(torch.zeros(2, 5)), torch.zeros(2, 5))
    two = octaves(2.0 * typical(4)) - octaves(typical(4))
    torch.testing.assert_close(two, 1.0 / torch.tensor([0.45, 0.25, 0.2, 0.13]))
    with pytest.raises(ValueError, match="five formants"):
        octaves(torch.ones(7))


def test_it_is_kept_and_found_again(tmp_path):
    encoder = Formants(3)
    speaker_encoders.save(encoder, tmp_path)
    again = speaker_encoders.load(tmp_path)
    assert (again.kind, again.size, again.hertz) == ("formant-pitch", 4, True)
    voice = vowel(100.0, "u")
    assert torch.equal(again.embed([voice]), encoder.embed([voice]))
    with pytest.raises(VoicenymError, match="1 to 5"):
        speaker_encoders.make("formant-pitch", {"formants": 6})


def test_it_cannot_be_trained():
    from voicenym.training.speakers.train_verifier import VerifierConfig, encoder

    with pytest.raises(VoicenymError, match="learns nothing"):
        encoder(VerifierConfig(encoder="formant-pitch"))
