"""Unreadable recordings are refused with messages that name the file and the cure."""

import os
import struct

import av
import numpy as np
import pytest
import soundfile
import torch

from voicenym.audio import Audio, Format, open_reader, open_writer, read, write
from voicenym.errors import AudioError


def noise(seconds=2.0, rate=48000):
    generator = torch.Generator().manual_seed(1)
    return Audio(torch.randn(int(seconds * rate), generator=generator) * 0.1, rate)


@pytest.mark.parametrize("extension", ["wav", "flac", "ogg", "opus", "mp3", "m4a", "mkv", "webm"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.97])
def test_a_truncated_recording_is_refused(tmp_path, extension, share):
    path = tmp_path / f"cut.{extension}"
    write(path, noise())
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(AudioError, match=rf"cut\.{extension}.*(truncated|damaged)"):
        read(path)


@pytest.mark.parametrize("extension", ["wav", "mp3", "m4a"])
def test_content_and_not_the_name_says_what_it_is(tmp_path, extension):
    path = tmp_path / f"a.{extension}"
    write(path, noise(0.2))
    os.rename(path, tmp_path / "a.flac")
    assert read(tmp_path / "a.flac").format.container == {"m4a": "mp4"}.get(extension, extension)


def test_what_is_no_recording_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"this is a letter, not a recording. " * 100)
    with pytest.raises(AudioError, match=r"a\.wav: is not a recording"):
        open_reader(path)
    path.write_bytes(b"")
    with pytest.raises(AudioError, match="empty"):
        open_reader(path)
    with pytest.raises(AudioError, match="folder"):
        open_reader(tmp_path)
    with pytest.raises(AudioError, match="does not exist"):
        open_reader(tmp_path / "none.wav")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = tmp_path / "a.wav"
    write(path, noise(0.1))
    path.chmod(0)
    with pytest.raises(AudioError, match="permission"):
        open_reader(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_refused(tmp_path, value):
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.0, value], np.float32), 8000, subtype="FLOAT")
    with pytest.raises(AudioError, match=r"a\.wav.*NaN"):
        read(path)


@pytest.mark.parametrize(("channels", "rate"), [(0, 8000), (1, 0)])
def test_no_channels_or_no_rate_is_refused(tmp_path, channels, rate):
    fmt = struct.pack("<HHIIHH", 1, channels, rate, rate * 2, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + fmt + b"data" + struct.pack("<I", 4) + bytes(4)
    (tmp_path / "a.wav").write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    with pytest.raises(AudioError, match="channels"):
        open_reader(tmp_path / "a.wav")


def test_a_file_without_samples_is_refused(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(0), 8000)
    with pytest.raises(AudioError, match="no sound"):
        read(tmp_path / "a.wav")


def test_too_long_for_memory(tmp_path):
    write(tmp_path / "a.wav", noise(0.1))
    with pytest.raises(AudioError, match="too long"):
        read(tmp_path / "a.wav", max_bytes=100)


@pytest.mark.parametrize(
    ("name", "codec", "channels", "rate", "cure"),
    [
        ("a.m4a", "alac", 9, 48000, r"\.wav"),
        ("a.m4a", "aac", 9, 48000, r"\.wav"),
        ("a.mp3", "mp3", 3, 48000, r"\.flac or \.wav"),
        ("a.flac", "flac", 9, 48000, r"\.wav"),
        ("a.flac", "flac", 1, 1_000_000, r"\.wav"),
        ("a.ogg", "vorbis", 1, 250_000, r"\.flac or \.wav"),
        ("a.webm", "vorbis", 1, 250_000, r"\.flac or \.wav"),
    ],
)
def test_too_many_channels_or_too_high_a_rate(tmp_path, name, codec, channels, rate, cure):
    with pytest.raises(AudioError, match=f"{name}: {codec} cannot hold.*{cure}"):
        open_writer(tmp_path / name, Format("x", codec), rate, channels)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bits", [0, 48, 64, 65535])
def test_a_wav_of_integers_that_nothing_reads(bits, tmp_path):
    size = max(1, bits // 8) % 65536
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000 * size, size, bits)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", 8 * 960)
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body) + 8 * 960) + body + bytes(8 * 960))
    with pytest.raises(AudioError, match=r"a\.wav: its sound is .* convert it to WAV or FLAC"):
        read(path)


def ogg_pages(data):
    """Where the pages of an Ogg begin, and its end."""
    places, at = [], 0
    while at < len(data):
        places.append(at)
        count = data[at + 26]
        at += 27 + count + sum(data[at + 27 : at + 27 + count])
    return [*places, at]


@pytest.mark.parametrize("codec", ["vorbis", "opus", "flac"])
def test_an_ogg_cut_between_pages(tmp_path, codec):
    path = tmp_path / "cut.ogg"
    write(path, Audio(noise(6.0).samples, 48000, Format("ogg", codec)))
    data = path.read_bytes()
    path.write_bytes(data[: ogg_pages(data)[-2]])
    with pytest.raises(AudioError, match=r"cut\.ogg.*no mark of its end.*whole copy.*--lenient"):
        read(path)
    assert 0 < read(path, lenient=True).samples.shape[-1] < 6 * 48000
    with open_reader(path, lenient=True) as reader:
        assert "cut.ogg: has no mark of its end" in reader.warnings[0]
    path.write_bytes(data)
    with open_reader(path) as reader:
        assert reader.warnings == ()


@pytest.mark.parametrize("codec", ["vorbis", "opus", "flac"])
def test_an_ogg_with_a_damaged_or_missing_page(tmp_path, codec):
    path = tmp_path / "bad.ogg"
    write(path, Audio(noise(6.0).samples, 48000, Format("ogg", codec)))
    data = path.read_bytes()
    places = ogg_pages(data)
    middle, after = places[len(places) // 2], places[len(places) // 2 + 1]
    altered = bytearray(data)
    altered[after - 20] ^= 1
    lost = bytearray(data)
    lost[middle : middle + 4] = b"Lost"
    for damaged in (altered, lost, data[:middle] + data[after:]):
        path.write_bytes(damaged)
        for lenient in (False, True):
            with pytest.raises(AudioError, match=rf"bad\.ogg: is damaged.* at byte {middle}"):
                read(path, lenient=lenient)
    path.write_bytes(data + b"TAG" + bytes(125))  # what taggers append
    assert read(path).samples.shape[-1] == 6 * 48000


@pytest.mark.parametrize("codec", ["vorbis", "opus"])
def test_an_ogg_of_a_live_stream_that_was_joined_late(tmp_path, codec):
    path = tmp_path / "live.ogg"
    write(path, Audio(noise(8.0).samples, 48000, Format("ogg", codec)))
    data = path.read_bytes()
    places = ogg_pages(data)
    sound = next(at for at in places if struct.unpack_from("<q", data, at + 6)[0] > 0)
    later = places[places.index(sound) + 2]
    path.write_bytes(data[:sound] + data[later:])
    assert 3 * 48000 < read(path).samples.shape[-1] < 8 * 48000


def mp3_frames(path):
    """Where the frames of an mp3 begin, without its header, and its end."""
    with av.open(str(path)) as container:
        packets = [p for p in container.demux(container.streams.audio[0]) if p.size]
    return [p.pos for p in packets] + [packets[-1].pos + packets[-1].size]


@pytest.mark.parametrize("missing", [1, 2, 20])
def test_an_mp3_cut_between_frames(tmp_path, missing):
    path = tmp_path / "cut.mp3"
    write(path, noise())
    path.write_bytes(path.read_bytes()[: mp3_frames(path)[-1 - missing]])
    with pytest.raises(AudioError, match=r"cut\.mp3: is truncated"):
        read(path)


def test_an_mp3_that_counts_bytes_only(tmp_path):
    path = tmp_path / "cut.mp3"
    write(path, noise())
    data = bytearray(path.read_bytes())
    at = max(data.find(b"Xing"), data.find(b"Info"))
    data[at + 4 : at + 12] = struct.pack(">II", 2, len(data))
    path.write_bytes(data)
    assert read(path).samples.shape[-1] >= 2 * 48000
    path.write_bytes(data[: mp3_frames(path)[-2]])
    with pytest.raises(AudioError, match=r"cut\.mp3: is truncated"):
        open_reader(path)


def test_an_mp3_with_a_vbri_header(tmp_path):
    path = tmp_path / "cut.mp3"
    write(path, noise())
    data = bytearray(path.read_bytes())
    places = mp3_frames(path)
    header = struct.pack(">4sHHHII", b"VBRI", 1, 0, 0, len(data), len(places) - 1)
    data[36 : places[0]] = header.ljust(places[0] - 36, b"\0")
    path.write_bytes(data)
    read(path)
    path.write_bytes(data[: places[-2]])
    with pytest.raises(AudioError, match=r"cut\.mp3: is truncated"):
        read(path)
