"""Pipelines with drawn timing: the length changes, blocks and batches do not count."""

from pathlib import Path

import pytest
import torch

from voicenym import Audio, Key, load, read, write
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.errors import AudioError, VoicenymError, WeightsError
from voicenym.nets.synthesis import duration_predictor, f0_predictor
from voicenym.nets.synthesis.duration_predictor import DurationPredictor
from voicenym.resynthesis.pipeline import assembly

RATE = 16_000
KEY = Key(bytes(range(32)))
PSEUDONYM = KEY.pseudonym("a")
DRAWN = {"f0": "predicted", "level": "drawn", "timing": "drawn"}


@pytest.fixture(scope="module")
def drawing(pipelines, small_parts, tmp_path_factory):
    """A pipeline with predictors of F0 and durations."""
    folder = tmp_path_factory.mktemp("drawing")
    torch.manual_seed(3)
    content = assembly.opened(pipelines / "ssl").content
    network = DurationPredictor(content.size, content.hop, width=16, inner=16, blocks=1)
    with torch.no_grad():
        for value in network.parameters():
            value.add_(0.2 * torch.randn(value.shape))
    duration_predictor.save(network, folder / "d")
    parts = {**small_parts["ssl"], "f0": pipelines / "ssl" / "f0", "durations": folder / "d"}
    assembly.assemble(folder / "ssl", parts)
    return str(folder / "ssl")


def talk(seconds, f0=130.0, seed=0):
    """Phrases of a second of a buzz, and pauses of half a second, with a hiss."""
    time = torch.arange(round(seconds * RATE)) / RATE
    buzz = sum(torch.cos(2 * torch.pi * k * f0 * time) / k for k in range(1, 20))
    hiss = torch.randn(len(time), generator=torch.Generator().manual_seed(seed))
    return 0.1 * buzz * ((time % 1.5) < 1.0).float() + 1e-4 * hiss


def profiled(system, signal, lengths=None):
    profiling = system.profiling(RATE, len(signal), lengths)
    for block in signal.split(30_000, dim=1):
        profiling.push(block)
    return profiling.result()


def through(system, signal, size, profile):
    stream = system.stream(PSEUDONYM, RATE, len(signal), profile)
    parts = [stream.push(block) for block in signal.split(size, dim=1)]
    return torch.cat([*parts, stream.flush()], dim=1)


@pytest.mark.parametrize("level", ["drawn", "fixed"])
def test_blocks_and_windows_do_not_count(drawing, monkeypatch, level):
    system = load("ssl-gmm", weights=drawing, **{**DRAWN, "level": level})
    parts = assembly.opened(Path(drawing))
    monkeypatch.setattr(parts.content, "most_samples", 24_000)
    monkeypatch.setattr(parts.content, "context", 8_000)
    signal = torch.stack([talk(6.01), talk(6.01, 180.0, 1)])
    profile = profiled(system, signal)
    whole, parted = (through(system, signal, size, profile) for size in (10**6, 777))
    assert whole.shape == parted.shape
    assert whole.shape[1] != signal.shape[1]
    torch.testing.assert_close(whole, parted, atol=2e-3, rtol=0)


def test_a_batch_gives_what_each_gives_alone(drawing):
    system = load("ssl-gmm", weights=drawing, **DRAWN)
    audios = [Audio(talk(seconds), RATE) for seconds in (4.0, 2.503, 3.2)]
    names = [KEY.pseudonym(name) for name in "abc"]
    together = system.batch(audios, names)
    for audio, name, made in zip(audios, names, together, strict=True):
        alone = system(audio, name)
        assert made.samples.shape == alone.samples.shape
        torch.testing.assert_close(made.samples, alone.samples, atol=1e-4, rtol=0)
        assert made.samples.isfinite().all()


def test_the_key_draws_the_length(drawing):
    system = load("ssl-gmm", weights=drawing, **DRAWN)
    audio = Audio(talk(6.0), RATE)
    lengths = {system(audio, KEY.pseudonym(str(number))).samples.shape[0] for number in range(8)}
    assert len(lengths) > 4
    assert system(audio, PSEUDONYM).samples.equal(system(audio, PSEUDONYM).samples)


def test_silence_keeps_its_length(drawing):
    system = load("ssl-gmm", weights=drawing, **DRAWN)
    made = system(Audio(torch.zeros(2 * RATE), RATE), PSEUDONYM)
    assert made.samples.shape == (2 * RATE,)
    assert not made.samples.any()


def test_a_file_becomes_longer_or_shorter_and_channels_are_not_parted(drawing, tmp_path):
    system = load("ssl-gmm", weights=drawing, language="en", **DRAWN)
    write(tmp_path / "a.wav", Audio(talk(6.0), RATE))
    result = anonymize_file(system, PSEUDONYM, tmp_path / "a.wav", tmp_path / "b.wav")
    made = read(tmp_path / "b.wav").samples
    assert result.duration == pytest.approx(6.0)
    expected = system(read(tmp_path / "a.wav"), PSEUDONYM).samples
    assert made.shape == expected.shape != (6 * RATE,)
    torch.testing.assert_close(made, expected, atol=2e-4, rtol=0)
    both = torch.stack([talk(6.0), talk(6.0).roll(9_000)])
    write(tmp_path / "two.wav", Audio(both, RATE))
    with pytest.raises(AudioError, match="2 channels"):
        anonymize_file(system, PSEUDONYM, tmp_path / "two.wav", tmp_path / "c.wav")
    assert not (tmp_path / "c.wav").exists()


def test_pictures_keep_their_timing_and_other_timings_their_version(drawing, pipelines):
    drawn = load("ssl-gmm", weights=drawing, **DRAWN)
    kept = load("ssl-gmm", weights=drawing, **{**DRAWN, "timing": "kept"})
    assert drawn.in_sync() == kept
    assert drawn.version != kept.version
    without = load("ssl-gmm", weights=str(pipelines / "ssl"), **{**DRAWN, "timing": "kept"})
    assert without.version == kept.version  # durations change nothing but drawn timing


def test_it_needs_a_predictor_of_this_content(pipelines, drawing, tmp_path):
    with pytest.raises(WeightsError, match="assemble --durations"):
        load("ssl-gmm", weights=str(pipelines / "ssl"), **DRAWN).check()
    duration_predictor.save(DurationPredictor(3, 640), tmp_path / "other")
    with pytest.raises(VoicenymError, match="predictor of durations is of content of 3"):
        assembly.assemble(Path(drawing), {"durations": tmp_path / "other"})
    f0_predictor.save(f0_predictor.F0Predictor(10, 2), tmp_path / "f0")
    with pytest.raises(VoicenymError, match="duration predictor"):
        assembly.assemble(Path(drawing), {"durations": tmp_path / "f0"})
