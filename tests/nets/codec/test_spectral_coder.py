"""Spectral encoder and decoder of the codec."""

import dataclasses

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import CodecConfig, sizes
from voicenym.nets.codec.codec_stream import CodecStream
from voicenym.nets.codec.spectral_coder import (
    DECODER_AHEAD,
    ENCODER_AHEAD,
    SpectralDecoder,
    SpectralEncoder,
)

TINY = CodecConfig(size=8, codebooks=2, entries=8, speaker=8, causal=True, spectral=16, blocks=2)


@pytest.fixture
def codec():
    torch.manual_seed(0)
    return Codec(TINY).eval()


@pytest.mark.parametrize("causal", [False, True])
def test_frames_and_samples_are_in_exact_length(causal):
    encoder = SpectralEncoder(16, 2, 6, 320, causal)
    decoder = SpectralDecoder(16, 2, 6, 320, causal)
    for frames in (1, 2, 7):
        x = encoder(torch.randn(3, frames * 320))
        assert x.shape == (3, 6, frames)
        assert decoder(x).shape == (3, frames * 320)


def test_a_causal_end_looks_ahead_by_its_windows_and_its_first_convolution_alone():
    torch.manual_seed(0)
    encoder = SpectralEncoder(16, 2, 6, 320, True)
    decoder = SpectralDecoder(16, 2, 6, 320, True)
    speech = torch.randn(1, 10 * 320)
    later = speech.clone()
    # the last of a frame's windows ends 240 samples after it, and one more counts
    later[:, 5 * 320 + 240 + ENCODER_AHEAD * 160 :] = 0.0
    same, other = encoder(speech), encoder(later)
    torch.testing.assert_close(same[:, :, :5], other[:, :, :5])
    assert not torch.allclose(same[:, :, 5], other[:, :, 5])
    frames = torch.randn(1, 6, 20)
    changed = frames.clone()
    changed[:, :, 12:] = 0.0
    reached = (12 - DECODER_AHEAD) * 320 - 240
    one, two = decoder(frames), decoder(changed)
    torch.testing.assert_close(one[:, :reached], two[:, :reached], atol=1e-6, rtol=1e-5)
    assert not torch.allclose(one[:, reached : reached + 320], two[:, reached : reached + 320])


@pytest.mark.parametrize(
    "lengths", [[5001], [1, 318, 700, 0, 3982], [320] * 15 + [201], [100] * 50 + [1]]
)
def test_it_streams_in_blocks_of_any_length(codec, lengths):
    speech, own, voice = torch.randn(2, 5001), torch.randn(2, 8), torch.randn(2, 8)
    whole = codec.convert(speech, own, voice)
    stream, parts, given = CodecStream(codec, own, voice), [], 0
    for block in speech.split(lengths, dim=1):
        parts.append(stream.push(block))
        given += block.shape[1]
        assert given - sum(p.shape[1] for p in parts) <= stream.latency
    parts.append(stream.flush())
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-6, rtol=1e-4)
    assert stream.flush().shape[1] == 0


def test_what_is_held_back_is_known_beforehand(codec):
    assert codec.ahead == 1600
    assert CodecStream(codec, torch.zeros(1, 8), torch.zeros(1, 8)).latency == 1919
    assert Codec(CodecConfig(channels=2, size=8, entries=4, speaker=8, causal=True)).ahead == 0


def test_it_is_kept_and_comes_back(codec, tmp_path):
    codec.save(tmp_path)
    again, _ = Codec.load(tmp_path)
    speech, own = torch.randn(1, 3200), torch.randn(1, 8)
    torch.testing.assert_close(again.convert(speech, own, own), codec.convert(speech, own, own))


def test_frames_that_are_not_two_of_the_spectrum_are_refused():
    for end in (SpectralEncoder, SpectralDecoder):
        with pytest.raises(ValueError, match="not of 321 samples"):
            end(16, 2, 6, 321, True)
    with pytest.raises(VoicenymError, match="no sizes of a codec"):
        sizes({"spectral": -1}, "net")
    assert dataclasses.replace(TINY, spectral=0).blocks == 2
