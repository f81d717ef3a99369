"""What ``read`` and ``write`` take, and what they say of anything else."""

import io

import numpy as np
import pytest
import torch

import voicenym
from voicenym import Audio
from voicenym.audio import open_writer
from voicenym.errors import AudioError

RATE = 16_000
SOUND = 0.1 * torch.sin(torch.arange(800) / 7.0)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ((SOUND * 32767).to(torch.int16), "need floats .* divide by full scale"),
        (SOUND.to(torch.complex64), "need floats"),
        (SOUND.numpy(), r"not ndarray; .*torch\.from_numpy"),
        (SOUND.tolist(), "not list"),
        (torch.tensor(0.1), r"the shape \[time\]"),
        (SOUND.reshape(2, 2, -1), r"the shape \[time\]"),
        (torch.stack([SOUND, SOUND], 1), r"800 channels of 2, .* by \.T"),
        (torch.zeros(0, 800), "no channel"),
        (SOUND.to_sparse(), r"\.to_dense\(\)"),
        (SOUND.to("meta"), "has values"),
        (SOUND / 0.0 * 0.0, "NaN or infinity"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_sound_is_not_written(samples, message, tmp_path):
    with pytest.raises(AudioError, match=message):
        voicenym.write(tmp_path / "out.wav", Audio(samples, RATE))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_floats_of_any_size_are_written(kind, tmp_path):
    voicenym.write(tmp_path / "out.wav", Audio(SOUND.to(kind).requires_grad_(), RATE))
    found = voicenym.read(tmp_path / "out.wav").samples
    assert torch.allclose(found, SOUND.to(kind).float(), atol=1e-4)


@pytest.mark.parametrize("rate", [0, -1, 500, 10**10, 16_000.5, float("nan"), "16000", None, True])
def test_a_rate_that_no_recording_has_is_not_written(rate, tmp_path):
    with pytest.raises(AudioError, match="sample rate"):
        voicenym.write(tmp_path / "out.wav", Audio(SOUND, rate))
    with pytest.raises(AudioError, match="sample rate"):
        open_writer(tmp_path / "out.wav", None, rate, 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rate", [16_000.0, np.int64(16_000), np.float32(16_000)])
def test_a_whole_number_of_another_type_is_a_rate(rate, tmp_path):
    voicenym.write(tmp_path / "out.wav", Audio(SOUND, rate))
    assert voicenym.read(tmp_path / "out.wav").rate == RATE


def test_what_is_no_recording_is_not_written(tmp_path):
    with pytest.raises(AudioError, match=r"a voicenym\.Audio, not Tensor"):
        voicenym.write(tmp_path / "out.wav", SOUND)
    with pytest.raises(AudioError, match=r"a voicenym\.Audio, not PosixPath|WindowsPath"):
        voicenym.write(Audio(SOUND, RATE), tmp_path / "out.wav")


@pytest.mark.parametrize("place", [None, 3, b"out.wav", ["out.wav"]])
def test_a_place_is_a_path_or_a_binary_file(place):
    with pytest.raises(AudioError, match="a path or a binary file object"):
        voicenym.write(place, Audio(SOUND, RATE))
    with pytest.raises(AudioError, match="a path or a binary file object"):
        voicenym.read(place)


def test_files_of_text_and_closed_files_are_named(sample):
    with open(sample, encoding="latin-1") as text, pytest.raises(AudioError, match="binary mode"):
        voicenym.read(text)
    with pytest.raises(AudioError, match="binary mode"):
        voicenym.write(io.StringIO(), Audio(SOUND, RATE))
    closed = io.BytesIO(sample.read_bytes())
    closed.close()
    with pytest.raises(AudioError, match="is closed"):
        voicenym.read(closed)


def test_recordings_are_equal_by_what_they_hold():
    one = Audio(SOUND, RATE)
    assert one == Audio(SOUND.clone(), RATE)
    assert len({one, Audio(SOUND.clone(), RATE)}) == 1
    others = (Audio(SOUND + 1e-3, RATE), Audio(SOUND, 8_000), Audio(SOUND[None], RATE))
    assert all(one != other for other in (*others, Audio(SOUND.double(), RATE), SOUND, None))


def test_samples_are_not_changed(tmp_path):
    loud = 20.0 * SOUND  # is cut off in the file
    samples = loud.clone()
    voicenym.write(tmp_path / "out.wav", Audio(samples, RATE))
    assert torch.equal(samples, loud)
    assert voicenym.read(tmp_path / "out.wav").samples.abs().max() <= 1.0
