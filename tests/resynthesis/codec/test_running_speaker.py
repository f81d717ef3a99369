"""Speaker vectors of the latest speech: each of samples, or of mels that were computed once."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.codec.codec_config import CodecConfig
from voicenym.nets.codec.style_encoder import LEAST_SAMPLES
from voicenym.resynthesis.codec.codec_core import BUNDLED
from voicenym.resynthesis.codec.running_speaker import RunningSpeaker, WholeSpeaker

KINDS = pytest.mark.parametrize("kind", [WholeSpeaker, RunningSpeaker])
SIZES = {"channels": 2, "size": 8, "layers": 1, "codebooks": 2, "entries": 8, "speaker": 8}


@pytest.fixture(scope="module")
def codec() -> Codec:
    torch.manual_seed(0)
    return Codec(CodecConfig(**SIZES)).eval().requires_grad_(False)


def given(speaker, samples: torch.Tensor, size: int):
    for block in samples.split(size, 1):
        speaker.push(block)
    return speaker


@KINDS
def test_blocks_of_any_size_give_the_same_vector(codec, kind):
    torch.manual_seed(1)
    samples, former = torch.randn(2, 3 * RATE + 77), torch.randn(2, 8)
    whole = given(kind(codec, 2), samples, 10**6).vectors(former)
    for size in (100, 1024, 5000):
        found = given(kind(codec, 2), samples, size).vectors(former)
        torch.testing.assert_close(found, whole, atol=1e-5, rtol=0)


@KINDS
def test_too_little_speech_and_silence_leave_the_former_vector(codec, kind):
    former = torch.randn(2, 8)
    short = given(kind(codec, 2), torch.randn(2, LEAST_SAMPLES - 1), 160)
    assert torch.equal(short.vectors(former), former)
    samples = torch.randn(2, RATE)
    samples[0] = 0.0
    found = given(kind(codec, 2), samples, 160).vectors(former)
    assert torch.equal(found[0], former[0])
    assert not torch.allclose(found[1], former[1])


@KINDS
def test_only_the_latest_seconds_count(codec, kind):
    torch.manual_seed(2)
    latest, former = torch.randn(1, 11 * RATE), torch.zeros(1, 8)
    first = torch.cat([torch.randn(1, 5 * RATE), latest], 1)
    other = torch.cat([torch.zeros(1, 5 * RATE), latest], 1)
    found = [given(kind(codec, 1), one, 16_000).vectors(former) for one in (first, other)]
    torch.testing.assert_close(*found)


def test_mels_that_were_computed_once_give_nearly_the_same_vector(sample):
    """Of real sizes and speech: the ends of 10 s weigh little."""
    import soundfile

    codec, _ = Codec.load(BUNDLED)
    codec.requires_grad_(False)
    speech = torch.from_numpy(soundfile.read(sample, dtype="float32")[0])[None, : 5 * RATE]
    former = codec.voices.mean[None]
    whole, running = (
        given(kind(codec, 1), speech, 160).vectors(former)
        for kind in (WholeSpeaker, RunningSpeaker)
    )
    assert float(torch.linalg.norm(whole - former)) > 20 * float(torch.linalg.norm(whole - running))
