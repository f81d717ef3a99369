"""Container detection by content, for the permitted kinds only."""

import io

import numpy as np
import pytest
import torch

from voicenym.audio import Audio, Format, read, write
from voicenym.audio.container_files.container_detection import DEMUXERS, demuxer, marked


def coded(extension: str, codec: str, rate: int, seconds: float, tmp_path, **more) -> bytes:
    generator = torch.Generator().manual_seed(2)
    sound = Audio(0.1 * torch.randn(round(rate * seconds), generator=generator), rate)
    write(tmp_path / f"a.{extension}", Audio(sound.samples, rate, Format("x", codec, **more)))
    return (tmp_path / f"a.{extension}").read_bytes()


@pytest.mark.parametrize(
    "rate", [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
)
@pytest.mark.parametrize("kbits", [16, 40, 128, None])
def test_mp3_of_every_rate(tmp_path, rate, kbits):
    data = coded("mp3", "mp3", rate, 1.0, tmp_path, bit_rate=kbits and 1000 * kbits)
    tag = b"ID3\x04\0\0\0\0\x02\0" + bytes(256)
    for whole in (data, tag + data, bytes(300) + data, b"junk\xff\xfb" + data, data[200:]):
        assert demuxer(io.BytesIO(whole)) == "mp3"


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100])
def test_adts_of_every_rate(tmp_path, rate):
    data = coded("aac", "aac", rate, 1.0, tmp_path)
    assert demuxer(io.BytesIO(data)) == "aac"
    assert demuxer(io.BytesIO(b"ID3\x04\0\0\0\0\0\x0a" + bytes(10) + data)) == "aac"


@pytest.mark.parametrize(("extension", "codec"), [("mp3", "mp3"), ("aac", "aac")])
@pytest.mark.parametrize("samples", [1, 100, 1500, 4000])
def test_very_short_ones(tmp_path, extension, codec, samples):
    coded(extension, codec, 48_000, samples / 48_000, tmp_path)
    assert read(tmp_path / f"a.{extension}").samples.shape[-1] >= samples


def test_flac_after_id3(tmp_path):
    data = coded("flac", "flac", 16_000, 0.5, tmp_path)
    tagged = tmp_path / "tagged.flac"
    tagged.write_bytes(b"ID3\x04\0\0\0\0\0\x0a" + bytes(10) + data)
    assert demuxer(io.BytesIO(tagged.read_bytes())) == "flac"
    assert read(tagged).samples.shape == (8000,)


@pytest.mark.parametrize(
    "text",
    ["plain", "\ufeffwith a mark of its order " * 50, "ÿþÿûÿ" * 1000, "#EXTM3U\nfile\n" * 100],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "latin-1"])
def test_text_is_no_recording(text, encoding):
    assert demuxer(io.BytesIO(text.encode(encoding, "replace"))) is None


def test_noise_is_no_recording():
    rng = np.random.default_rng(0)
    found = [demuxer(io.BytesIO(rng.bytes(100_000))) for _ in range(20)]
    assert found == [None] * 20
    assert marked(b"") is None
    assert demuxer(io.BytesIO(b"")) is None


def test_all_of_the_list_read_a_file_of_their_own():
    """A demuxer without one opens what its name or its options say."""
    from av.format import ContainerFormat

    for name in DEMUXERS:
        assert not ContainerFormat(name, "r").no_file
