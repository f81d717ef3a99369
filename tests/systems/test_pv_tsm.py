import math
import os

import pytest
import torch

import voicenym
from voicenym.errors import UnknownSystemError

RATE = 16_000
KEY = voicenym.Key(bytes(range(32)))
FORMS = ({"revision": 1}, {"revision": 2}, {"delay": "short"})


def db(one, other):
    return 10 * math.log10(float(one.square().mean() / other.square().mean()))


def tone(f0, seconds=2.0, rate=RATE):
    return 0.3 * torch.sin(2 * math.pi * f0 * torch.arange(round(seconds * rate)) / rate)


def voice(seconds=3.0, low=100.0, high=180.0):
    n = torch.arange(round(seconds * RATE), dtype=torch.float64) / RATE
    f0 = low + (high - low) * 0.5 * (1 - torch.cos(2 * math.pi * n))
    phase = 2 * math.pi * f0.cumsum(0) / RATE
    signal = sum(torch.cos(k * phase) / k for k in range(1, 30))
    gate = (torch.sin(2 * math.pi * n / 0.9) > -0.7).double()
    return (0.05 * signal * gate).float()


def pseudonym_with_sign(system, positive):
    names = (KEY.pseudonym(str(i)) for i in range(50))
    return next(p for p in names if (system.semitones(p) > 0) == positive)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("semitones", [2.0, 3.7, 5.0, 12.0])
@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000])
def test_sine_moves_by_rho(rate, semitones, positive, form):
    system = voicenym.load("pv-tsm", low=semitones, high=semitones, **form)
    pseudonym = pseudonym_with_sign(system, positive)
    signal = tone(440.0, rate=rate)
    out = system(voicenym.Audio(signal, rate), pseudonym).samples
    inner = out[rate // 2 : -rate // 2]
    spectrum = torch.fft.rfft(inner * torch.hann_window(len(inner)), n=16 * rate).abs()
    found = float(spectrum.argmax()) / 16
    assert found / 440.0 == pytest.approx(2 ** (system.semitones(pseudonym) / 12), rel=3e-3)
    assert abs(db(out, signal)) < 0.5
    assert len(out) == len(signal)


def test_semitones_are_within_limits_and_go_both_ways():
    system = voicenym.load("pv-tsm")
    drawn = [system.semitones(KEY.pseudonym(str(i))) for i in range(200)]
    assert all(2.0 <= abs(n) <= 5.0 for n in drawn)
    assert 60 < sum(n > 0 for n in drawn) < 140


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_no_shift_is_the_identity(form):
    system = voicenym.load("pv-tsm", low=0.0, high=0.0, **form)
    signal = voice()
    out = system(voicenym.Audio(signal, RATE), KEY.pseudonym("a")).samples
    torch.testing.assert_close(out, signal, rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [61, 160, 5000])
@pytest.mark.parametrize("revision", [1, 2])
def test_chunks_equal_whole(size, revision):
    system = voicenym.load("pv-tsm", revision=revision)
    signal = voice()
    whole = system(voicenym.Audio(signal, RATE), KEY.pseudonym("a")).samples
    stream = system.stream(KEY.pseudonym("a"), RATE)
    given, parts = 0, []
    for n, block in enumerate(signal.split(size), start=1):
        parts.append(stream.push(block))
        given += len(parts[-1])
        assert given >= min(n * size, len(signal)) - stream.latency
    parts.append(stream.flush())
    torch.testing.assert_close(torch.cat(parts), whole, rtol=0, atol=1e-4)


@pytest.mark.parametrize("revision", [1, 2])
def test_batch_equals_alone(revision):
    system = voicenym.load("pv-tsm", revision=revision)
    signals = [voice(), voice(2.0, 150.0, 260.0), tone(300.0, 0.01)]
    audios = [voicenym.Audio(signal, RATE) for signal in signals]
    pseudonyms = [KEY.pseudonym(name) for name in "abc"]
    for audio, pseudonym, together in zip(
        audios, pseudonyms, system.batch(audios, pseudonyms), strict=True
    ):
        alone = system(audio, pseudonym).samples
        torch.testing.assert_close(together.samples, alone, rtol=0, atol=1e-4)


@pytest.mark.parametrize("revision", [1, 2])
def test_time_is_kept_over_a_minute(revision):
    system = voicenym.load("pv-tsm", revision=revision)
    signal = torch.zeros(60 * RATE)
    at = [RATE, 30 * RATE + 77, 59 * RATE + 501]
    for start in at:
        signal[start : start + 3200] = tone(500.0, 0.2)
    out = system(voicenym.Audio(signal, RATE), KEY.pseudonym("a")).samples
    for start in at:
        power = out[start - 3200 : start + 6400].square().double()
        middle = float((power * torch.arange(9600)).sum() / power.sum()) - 3200
        assert abs(middle - 1600) < 80


@pytest.mark.parametrize("revision", [1, 2])
def test_level_and_silence(revision):
    system = voicenym.load("pv-tsm", revision=revision)
    noise = 0.1 * torch.randn(2 * RATE, generator=torch.Generator().manual_seed(1))
    for signal in (voice(), noise):
        for name in "abcd":
            out = system(voicenym.Audio(signal, RATE), KEY.pseudonym(name)).samples
            assert torch.isfinite(out).all()
            assert abs(db(out, signal)) < 1.0
    silence = system(voicenym.Audio(torch.zeros(RATE), RATE), KEY.pseudonym("a")).samples
    assert (silence == 0).all()


def test_parameters_are_checked():
    for bad in ({"low": 5.0, "high": 2.0}, {"low": -1.0}, {"high": 20.0}, {"high": math.nan}):
        with pytest.raises(UnknownSystemError, match="such as low=2"):
            voicenym.load("pv-tsm", **bad)


@pytest.mark.skipif("VOICENYM_SPEECH" not in os.environ, reason="needs real speech")
@pytest.mark.parametrize("revision", [1, 2])
def test_level_of_real_speech(revision):
    from pathlib import Path

    soundfile = pytest.importorskip("soundfile")
    system = voicenym.load("pv-tsm", revision=revision)
    for file in sorted(Path(os.environ["VOICENYM_SPEECH"]).glob("librispeech/*/*.opus"))[:200:25]:
        samples, rate = soundfile.read(file, dtype="float32")
        signal = torch.from_numpy(samples)
        out = system(voicenym.Audio(signal, rate), KEY.pseudonym(file.parent.name)).samples
        assert abs(db(out, signal)) < 1.0


def test_a_short_delay_comes_67_ms_sooner_and_its_stream_equals_the_file():
    pseudonym, signal = KEY.pseudonym("a"), voice()
    usual, short = (
        voicenym.load("pv-tsm", delay=delay, revision=1) for delay in ("usual", "short")
    )
    delays = [system.stream(pseudonym, RATE).latency for system in (usual, short)]
    assert delays[0] - delays[1] == 0.067 * RATE
    file = short(voicenym.Audio(signal, RATE), pseudonym).samples
    stream = short.stream(pseudonym, RATE)
    parts = [stream.push(part) for part in signal.split([7, 20_000, 113, len(signal) - 20_120])]
    torch.testing.assert_close(torch.cat([*parts, stream.flush()]), file, atol=1e-5, rtol=0)
    assert abs(db(file, signal)) < 1.0
    assert "delay" not in usual.parameters()
    assert short.parameters()["delay"] == "short"
    later = voicenym.load("pv-tsm", delay="short", revision=2)(
        voicenym.Audio(signal, RATE), pseudonym
    )
    assert torch.equal(later.samples, file), "revision 2 is of the usual delay"
    assert voicenym.load("pv-tsm", revision=2).stream(pseudonym, RATE).latency < delays[0]
    with pytest.raises(UnknownSystemError, match="usual or short"):
        voicenym.load("pv-tsm", delay="long")


def test_rows_of_both_revisions_in_one_batch_equal_each_alone():
    system, signals = voicenym.load("pv-tsm"), [voice(), voice(2.0), voice(1.5, 90.0)]
    pseudonyms = [KEY.with_revisions(r).pseudonym("a") for r in ({}, None, {})]
    audios = [voicenym.Audio(signal, RATE) for signal in signals]
    together = system.batch(audios, pseudonyms)
    for audio, made, revision in zip(audios, together, (1, 2, 1), strict=True):
        alone = voicenym.load("pv-tsm", revision=revision)(audio, KEY.pseudonym("a"))
        torch.testing.assert_close(made.samples, alone.samples, rtol=0, atol=1e-4)


def test_revisions_have_the_same_pitch_and_levels():
    signal = voice()
    pseudonym = KEY.pseudonym("a")
    one, two = (
        voicenym.load("pv-tsm", revision=r)(voicenym.Audio(signal, RATE), pseudonym).samples
        for r in (1, 2)
    )
    window = torch.hann_window(4096)
    levels = [
        torch.stft(made, 4096, 1024, window=window, return_complex=True).abs().square().mean(1)
        for made in (one, two)
    ]
    bands = [level[:2048].view(64, 32).mean(1).log10() for level in levels]
    strong = bands[0] > bands[0].max() - 4
    assert float(10 * (bands[0] - bands[1])[strong].abs().max()) < 1.5
