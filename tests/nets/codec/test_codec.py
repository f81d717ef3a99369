"""MUSA codec as a whole."""

import dataclasses
import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.codec import codec as module
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import CodecConfig, sizes
from voicenym.nets.codec.codec_stream import CodecStream

TINY = CodecConfig(channels=2, size=8, layers=1, codebooks=3, entries=8, speaker=8)


@pytest.fixture
def codec():
    torch.manual_seed(0)
    return Codec(TINY).eval()


@pytest.fixture
def causal():
    torch.manual_seed(0)
    return Codec(dataclasses.replace(TINY, causal=True)).eval()


def test_the_speaker_is_taken_away_before_and_a_voice_added_after(codec):
    speech = torch.randn(2, 3200)
    own, voice = codec.speaker(speech), torch.randn(2, 8)
    x = codec.encoder(speech)
    quantized = codec.quantizer(x - own[:, :, None])
    expected = codec.decoder(quantized.total + voice[:, :, None])
    torch.testing.assert_close(codec.convert(speech, own, voice), expected)
    coded = codec(speech)
    torch.testing.assert_close(coded.own, own)
    torch.testing.assert_close(coded.waveform, codec.convert(speech, own, own))


def test_any_length_comes_out_as_it_went_in(codec):
    own = torch.randn(1, 8)
    for samples in (0, 1, 319, 320, 321, 5000):
        assert codec.convert(torch.randn(1, samples), own, own).shape == (1, samples)


def test_a_long_recording_is_processed_in_windows(causal, monkeypatch):
    speech, own = torch.randn(1, 20_001), torch.randn(1, 8)
    whole = causal.convert(speech, own, -own)
    monkeypatch.setattr(module, "MOST_SAMPLES", 9600)
    monkeypatch.setattr(module, "CONTEXT", 3200)
    parts = causal.convert(speech, own, -own)
    assert parts.shape == whole.shape
    # until the second window begins they are one
    torch.testing.assert_close(parts[:, :3200], whole[:, :3200])
    torch.testing.assert_close(parts, whole, atol=0.1 * float(whole.std()), rtol=0)
    assert causal.speaker(speech).shape == (1, 8)


def test_a_causal_codec_streams_in_blocks_of_any_length(causal):
    speech, own, voice = torch.randn(2, 4001), torch.randn(2, 8), torch.randn(2, 8)
    whole = causal.convert(speech, own, voice)
    for lengths in ([4001], [1, 318, 700, 0, 2982], [320] * 12 + [161]):
        stream, parts, given = CodecStream(causal, own, voice), [], 0
        for block in speech.split(lengths, dim=1):
            parts.append(stream.push(block))
            given += block.shape[1]
            assert given - sum(p.shape[1] for p in parts) <= stream.latency
        parts.append(stream.flush())
        torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=1e-4)


def test_a_codec_that_looks_ahead_does_not_stream(codec):
    with pytest.raises(VoicenymError, match="causal: true"):
        CodecStream(codec, torch.zeros(1, 8), torch.zeros(1, 8))


def test_clips_and_vectors_that_do_not_fit_are_refused(codec):
    with pytest.raises(VoicenymError, match="give 64 ms"):
        codec.speaker(torch.zeros(1, 800))
    with pytest.raises(VoicenymError, match="own speaker encoder"):
        codec.convert(torch.zeros(1, 800), torch.zeros(1, 8), torch.zeros(1, 192))


def test_it_is_kept_and_comes_back(codec, tmp_path):
    codec.voices.learn_statistics(torch.randn(20, 8))
    codec.save(tmp_path, card={"data": "made"})
    again, config = Codec.load(tmp_path)
    assert config["card"] == {"data": "made"}
    assert again.sizes == TINY
    for name, value in codec.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    assert not again.training
    codec.save(tmp_path / "integers", bits=8)
    again, _ = Codec.load(tmp_path / "integers")
    for name, value in codec.state_dict().items():
        if value.ndim > 1 and value.numel():
            error = (value - again.state_dict()[name]).flatten(1).abs().amax(1)
            assert (error <= value.flatten(1).abs().amax(1) / 127 + 1e-6).all(), name
    speech, own = torch.randn(1, 3200), codec.speaker(torch.randn(1, 3200))
    assert torch.isfinite(again.convert(speech, own, own)).all()


def test_with_fewer_codebooks_it_decodes_what_these_say(causal):
    speech = torch.randn(1, 3200)
    own, voice = causal.speaker(speech), torch.randn(1, 8)
    for count in (1, 2, 3):
        few = causal.shortened(count)
        frames = causal.quantizer.looked_up(causal.encode(speech, own).codes[:, :count])
        source = few.convert(speech, own, voice)
        torch.testing.assert_close(source, causal.decode(frames, voice))
        stream = CodecStream(few, own, voice)
        parts = [*(stream.push(part) for part in speech.split(700, dim=1)), stream.flush()]
        torch.testing.assert_close(torch.cat(parts, dim=1), source, atol=1e-5, rtol=1e-4)
    assert len(causal.quantizer.books) == causal.sizes.codebooks == 3
    assert few.encoder is causal.encoder
    for count in (0, 4):
        with pytest.raises(VoicenymError, match=f"1 to 3 with these weights, not {count}"):
            causal.shortened(count)


def test_weights_of_another_configuration_are_refused(codec, tmp_path):
    codec.save(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    for change, recorded in (
        ({"entries": 9}, "of another architecture"),
        ({"codebooks": 2}, "no such part"),
        ({"wings": 2}, "no size 'wings'"),
        ({"kernel": 4}, "odd"),
    ):
        path.write_text(json.dumps({**config, "options": {**config["options"], **change}}))
        with pytest.raises(VoicenymError, match=recorded):
            Codec.load(tmp_path)
    path.write_text(json.dumps({**config, "kind": "vcloak"}))
    with pytest.raises(VoicenymError, match="voicenym train musa"):
        Codec.load(tmp_path)


@pytest.mark.parametrize("wrong", [{"strides": [0]}, {"speaker": 7}, {"strides": 5}])
def test_sizes_of_no_codec_are_refused(wrong):
    with pytest.raises(VoicenymError, match="no sizes of a codec"):
        sizes(wrong, "net")
