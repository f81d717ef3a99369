"""What a stream takes, and what it says of anything else."""

import numpy as np
import pytest
import torch

import voicenym
from voicenym.errors import AudioError

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
    ],
    ids=["numpy", "list", "integers", "shape", "no channel", "nan"],
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


@pytest.mark.parametrize("name", ["vtln", "formant", "ssl-loh"])  # the latter two profile first
def test_a_name_is_no_pseudonym(name):
    with pytest.raises(TypeError, match="is no str"):
        voicenym.load(name)(voicenym.Audio(torch.zeros(160), 16_000), "anna")


def test_a_name_is_no_pseudonym_of_a_stream():
    with pytest.raises(TypeError, match=r"Key\.pseudonym\(speaker\), and is no str"):
        SYSTEM.stream("anna", rate=16_000)
    with pytest.raises(TypeError, match="is no NoneType"):
        SYSTEM(voicenym.Audio(torch.zeros(160), 16_000), None)
