"""What a stream takes, and what it says of anything else."""

import numpy as np
import pytest
import torch

import voicenym
from voicenym.errors import AudioError, VoicenymError

SYSTEM = voicenym.load("vtln")
PSEUDONYM = voicenym.Key.generate().pseudonym("anna")


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros(160, np.float32), r"not ndarray; .*torch\.from_numpy"),
        ([0.0] * 160, "not list"),
        (torch.zeros(160, dtype=torch.int16), "divide by full scale"),
        (torch.zeros(2, 2, 160), "shape"),
        (torch.zeros(0, 160), "no channel"),
        (torch.full((160,), torch.nan), "NaN or infinity"),
        (torch.zeros(160, dtype=torch.complex64), "need floats"),
        (torch.zeros(160).to_sparse(), "dense"),
        (torch.zeros(160, device="meta"), "has values"),
        (torch.tensor(0.0), "shape"),
    ],
    ids=[
        "numpy",
        "list",
        "integers",
        "shape",
        "no channel",
        "nan",
        "complex",
        "sparse",
        "meta",
        "0",
    ],
)
def test_what_is_no_sound_is_named_with_its_cure(samples, message):
    with pytest.raises(AudioError, match=message):
        SYSTEM.stream(PSEUDONYM, rate=16_000).push(samples)
    with pytest.raises(AudioError, match=message):
        SYSTEM(voicenym.Audio(samples, 16_000), PSEUDONYM)


@pytest.mark.parametrize("rate", [0, -16_000, 16_000.5, float("nan"), "16000", None])
def test_a_sample_rate_is_a_whole_number_of_hertz(rate):
    with pytest.raises(AudioError, match="whole number of Hz"):
        SYSTEM.stream(PSEUDONYM, rate=rate)
    with pytest.raises(AudioError, match="whole number of Hz"):
        SYSTEM(voicenym.Audio(torch.zeros(160), rate), PSEUDONYM)


@pytest.mark.parametrize("rate", [1, 999, 10**9])
def test_a_sample_rate_is_one_of_recordings(rate):
    """Of a hundred samples at 1 Hz, a million at the working rate would be processed."""
    with pytest.raises(AudioError, match="1000 to 2822400 Hz"):
        SYSTEM.stream(PSEUDONYM, rate=rate)
    with pytest.raises(AudioError, match="1000 to 2822400 Hz"):
        voicenym.load("formant").profiling(rate)


@pytest.mark.parametrize("channels", [0, -1, 1.5, "2", None, True, 1_000])
def test_channels_are_a_whole_number(channels):
    with pytest.raises(AudioError, match="channel"):
        SYSTEM.stream(PSEUDONYM, rate=16_000, channels=channels)
    with pytest.raises(AudioError, match="channel"):
        voicenym.load("formant").profiling(16_000, channels)


@pytest.mark.parametrize("given", [torch.zeros(160), np.zeros(160), "talk.wav", None])
def test_what_is_no_recording_is_named(given):
    for use in (SYSTEM, voicenym.anonymize):
        with pytest.raises(AudioError, match=r"a voicenym\.Audio, not"):
            use(given, PSEUDONYM)


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.float8_e4m3fn])
def test_floats_of_any_size_are_samples(kind, recwarn):
    samples = torch.sin(torch.arange(1600) / 9.0).mul(0.5).to(kind)
    plain = SYSTEM(voicenym.Audio(samples.float(), 16_000), PSEUDONYM)
    if kind is torch.float64:
        samples.requires_grad_()
    assert torch.equal(SYSTEM(voicenym.Audio(samples, 16_000), PSEUDONYM).samples, plain.samples)
    assert not plain.samples.requires_grad
    assert not recwarn.list


def test_another_default_device_is_named_with_its_cure():
    """Systems would make some of their tensors there, and fail within."""
    audio = voicenym.Audio(torch.zeros(1600), 16_000)
    with torch.device("meta"), pytest.raises(VoicenymError, match=r"default device .* is meta"):
        SYSTEM(audio, PSEUDONYM)
    assert SYSTEM(audio, PSEUDONYM).samples.shape == (1600,)


@pytest.mark.parametrize("name", ["vtln", "formant", "ssl-loh"])  # the latter two profile first
def test_a_name_is_no_pseudonym(name):
    with pytest.raises(TypeError, match="is no str"):
        voicenym.load(name)(voicenym.Audio(torch.zeros(160), 16_000), "anna")


def test_a_name_is_no_pseudonym_of_a_stream():
    with pytest.raises(TypeError, match=r"Key\.pseudonym\(speaker\), and is no str"):
        SYSTEM.stream("anna", rate=16_000)
    with pytest.raises(TypeError, match="is no NoneType"):
        SYSTEM(voicenym.Audio(torch.zeros(160), 16_000), None)
