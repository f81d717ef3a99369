import math
import os

import pytest
import torch

import voicenym
from voicenym.anonymizer import load
from voicenym.audio import Audio
from voicenym.dsp.voice_measurement import Reader
from voicenym.errors import AudioError, UnknownSystemError
from voicenym.pseudonym import Key

RATE = 16_000
KEY = voicenym.Key(bytes(range(32)))
FORMANTS = (550.0, 1600.0, 2600.0, 3600.0, 4600.0)


def db(one, other):
    return 10 * math.log10(float(one.square().mean() / other.square().mean()))


def vowels(seconds=4.0, low=105.0, high=145.0, formants=FORMANTS, rate=RATE):
    """Syllables of one vowel: harmonics under resonances, with a moving pitch."""
    n = torch.arange(round(seconds * rate), dtype=torch.float64) / rate
    f0 = low + (high - low) * 0.5 * (1 - torch.cos(2 * math.pi * n / 1.3))
    phase = 2 * math.pi * f0.cumsum(0) / rate
    signal = torch.zeros_like(phase)
    for k in range(1, int(0.47 * rate / low)):
        hertz = k * f0
        s = 1j * hertz
        gain = torch.ones_like(hertz, dtype=torch.complex128)
        for formant in formants:
            pole = complex(-40.0, formant)
            gain = gain * abs(pole) ** 2 / ((s - pole) * (s - pole.conjugate()))
        signal += (
            (gain.abs() / k**0.5) * torch.cos(k * phase + gain.angle()) * (hertz < 0.47 * rate)
        )
    envelope = (0.55 - 0.45 * torch.cos(2 * math.pi * 4.0 * n)) * ((n % 2.0) < 1.7)
    noise = torch.randn(len(n), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    signal = signal / signal.abs().max() * envelope
    return (0.4 * signal + 0.0005 * noise).float()


def read(signal, rate=RATE):
    reader = Reader(1, rate)
    reader.push(signal[None])
    return reader.result()[0]


def anonymize(signal, name="a", rate=RATE, **parameters):
    system = voicenym.load("formant", **parameters)
    return system(voicenym.Audio(signal, rate), KEY.pseudonym(name)).samples


@pytest.mark.parametrize("rate", [8_000, 16_000])
def test_reading_finds_what_was_synthesized(rate):
    reading = read(vowels(rate=rate), rate)
    assert reading.pitch == pytest.approx(125.0, rel=0.05)
    assert len(reading.formants) == (5 if rate == 16_000 else 4)
    for found, made in zip(reading.formants[:3], FORMANTS, strict=False):
        assert found == pytest.approx(made, rel=0.08)
    assert reading.syllables == pytest.approx(4.0, rel=0.35)


def test_reading_does_not_depend_on_blocks():
    signal = vowels()[None]
    whole, parts = Reader(1, RATE), Reader(1, RATE)
    whole.push(signal)
    for block in signal.split(3777, dim=1):
        parts.push(block)
    one, other = whole.result()[0], parts.result()[0]
    assert one.pitch == pytest.approx(other.pitch)
    assert one.formants == pytest.approx(other.formants, rel=1e-3)


@pytest.mark.parametrize("target", [95.0, 150.0, 180.0])
def test_median_pitch_moves_to_the_target(target):
    out = anonymize(vowels(), pitch_low=target, pitch_high=target)
    assert read(out).pitch == pytest.approx(target, rel=0.05)


def test_praat_hears_the_target_pitch():
    parselmouth = pytest.importorskip("parselmouth")
    out = anonymize(vowels(), pitch_low=170.0, pitch_high=170.0)
    pitch = parselmouth.Sound(out.double().numpy(), RATE).to_pitch(0.01, 60, 450)
    found = torch.tensor(pitch.selected_array["frequency"])
    assert float(found[found > 0].median()) == pytest.approx(170.0, rel=0.05)


def test_change_of_pitch_is_capped():
    out = anonymize(vowels(), pitch_low=250.0, pitch_high=250.0)
    assert read(out).pitch == pytest.approx(1.5 * read(vowels()).pitch, rel=0.05)


@pytest.mark.parametrize("phi", [480.0, 620.0])
def test_formants_move_with_phi(phi):
    signal = vowels()
    before = read(signal)
    after = read(anonymize(signal, phi_low=phi, phi_high=phi, level_cap=0.0))
    wanted = phi / before.neutral
    assert after.formants[1] / before.formants[1] == pytest.approx(wanted, rel=0.08)


def test_level_length_and_silence():
    for name in "abc":
        signal = vowels()
        out = anonymize(signal, name)
        assert out.shape == signal.shape
        assert torch.isfinite(out).all()
        assert abs(db(out, signal)) < 1.0
    assert (anonymize(torch.zeros(RATE)) == 0).all()
    for length in (0, 1, 50, 700):
        assert anonymize(torch.full((length,), 0.01)).shape == (length,)


@pytest.mark.parametrize("size", [777, 16_000])
def test_chunks_equal_whole(size):
    system = voicenym.load("formant")
    signal = vowels()
    profiling = system.profiling(RATE)
    profiling.push(signal)
    profile = profiling.result()
    streams = [system.stream(KEY.pseudonym("a"), RATE, profile=profile) for _ in range(2)]
    whole = torch.cat([streams[0].push(signal), streams[0].flush()])
    parts, given = [], 0
    for n, block in enumerate(signal.split(size), start=1):
        parts.append(streams[1].push(block))
        given += len(parts[-1])
        assert given >= min(n * size, len(signal)) - streams[1].latency
    parts.append(streams[1].flush())
    torch.testing.assert_close(torch.cat(parts), whole, rtol=0, atol=1e-4)


def test_batch_equals_alone():
    system = voicenym.load("formant")
    audios = [
        voicenym.Audio(vowels(), RATE),
        voicenym.Audio(vowels(2.5, 190.0, 240.0), RATE),
        voicenym.Audio(torch.zeros(500), RATE),
    ]
    pseudonyms = [KEY.pseudonym(name) for name in "abc"]
    together = system.batch(audios, pseudonyms)
    for audio, pseudonym, one in zip(audios, pseudonyms, together, strict=True):
        alone = system(audio, pseudonym).samples
        torch.testing.assert_close(one.samples, alone, rtol=0, atol=1e-3)


def test_without_a_profile_it_says_what_to_pass():
    with pytest.raises(AudioError, match="profile="):
        voicenym.load("formant").stream(KEY.pseudonym("a"), RATE)


def test_tempo_changes_the_length_of_the_core():
    system = voicenym.load("formant", rate=True)
    signal = vowels()
    core = system.core([KEY.pseudonym("a")], RATE, [read(signal)])
    out = torch.cat([core.push(signal[None]), core.flush()], dim=1)
    assert out.shape[1] == core.lengths(len(signal))[0]
    assert out.shape[1] != len(signal)


def test_parameters_are_checked():
    for bad in ({"phi_low": 700.0}, {"cap": 3.0}, {"level_cap": -1.0}, {"pitch_low": 0.0}):
        with pytest.raises(UnknownSystemError, match="such as"):
            voicenym.load("formant", **bad)


@pytest.mark.skipif("VOICENYM_SPEECH" not in os.environ, reason="needs real speech")
def test_real_speech_takes_the_drawn_pitch():
    from pathlib import Path

    soundfile = pytest.importorskip("soundfile")
    system = voicenym.load("formant")
    for file in sorted(Path(os.environ["VOICENYM_SPEECH"]).glob("librispeech/*/*.opus"))[:200:40]:
        samples, rate = soundfile.read(file, dtype="float32")
        signal = torch.from_numpy(samples)
        pseudonym = KEY.pseudonym(file.parent.name)
        before = read(signal, rate).pitch
        wanted = min(max(system.voice(pseudonym).pitch, before / 1.5), before * 1.5)
        out = system(voicenym.Audio(signal, rate), pseudonym).samples
        assert read(out, rate).pitch == pytest.approx(wanted, rel=0.15)
        assert abs(db(out, signal)) < 1.0


@pytest.mark.parametrize("rate", [16000, 44100])
@pytest.mark.parametrize("syllables", [2.2, 4.5])
def test_a_changed_speaking_rate_changes_the_length_and_loses_no_end(rate, syllables):
    """Trimmed to the input's length, a slowed recording would lose its last words."""
    time = torch.arange(3 * rate) / rate
    bursts = (torch.sin(2 * math.pi * syllables * time) > 0).float()
    bursts[-rate // 5 :] = 1.0
    noise = torch.randn(len(time), generator=torch.Generator().manual_seed(0))
    buzz = torch.sign(torch.sin(2 * math.pi * 130 * time)) + 0.1 * noise
    audio = Audio(0.1 * bursts * buzz, rate)
    ratios = []
    for speaker in "abcdef":
        pseudonym = Key(bytes(32)).pseudonym(speaker)
        out = load("formant", rate=True)(audio, pseudonym).samples
        assert len(load("formant")(audio, pseudonym).samples) == len(time)
        ratios.append(len(out) / len(time))
        assert out[-rate // 20 :].abs().max() > 0.02, "the last 50 ms still sound"
    slow, fast = min(ratios), max(ratios)
    assert 1 / 1.501 <= slow < fast <= 1.501
    assert fast > 1.2 if syllables > 4 else slow < 0.9
