"""Sound that begins later than the picture keeps its place and its length."""

import io
import struct
from fractions import Fraction

import av
import numpy as np
import pytest

from voicenym.audio import open_reader, open_writer
from voicenym.audio.container_files.edit_lists import late_length, place_sound

RATE = 48_000
CLICKS = (0.3, 0.8, 1.3, 1.8)


def late_film(path, codec, start):
    """A film of 2 s whose sound, with a click at each of ``CLICKS``, begins ``start`` s late."""
    samples = np.zeros((1, 2 * RATE), np.float32)
    for click in CLICKS:
        at = round(click * RATE)
        samples[:, at : at + 240] = 0.5 * np.sin(np.arange(240) * 2 * np.pi * 1000 / RATE)
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = container.add_stream(codec, rate=RATE, layout="mono")
        kind = audio.codec_context.format.name
        for i in range(50):
            image = np.full((48, 64, 3), i * 5, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        step = audio.codec_context.frame_size or 1024
        for at in range(0, samples.shape[1], step):
            block = np.ascontiguousarray(samples[:, at : at + step])
            if kind.startswith("s16"):
                block = (32767 * block).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(block, format=kind, layout="mono")
            frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
            frame.pts = at + round(start * RATE)
            container.mux(audio.encode(frame))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))


def copied(film, out):
    with open_reader(film) as reader:
        form, rate, count = reader.format, reader.rate, 0
        with open_writer(out, form, rate, reader.channels, picture=film) as writer:
            for block in reader.blocks(5000):
                writer.write(block)
                count += block.shape[1]
    return count


def length(path):
    with open_reader(path) as reader:
        return sum(block.shape[1] for block in reader.blocks(5000))


def clicks_of(path):
    """Seconds of the film at which clicks begin, by the decoded frames' own times."""
    found = []
    with av.open(str(path)) as container:
        for frame in container.decode(container.streams.audio[0]):
            samples = frame.to_ndarray().reshape(-1)
            loud = np.flatnonzero(np.abs(samples / (32768 if samples.dtype == "i2" else 1)) > 0.2)
            found += list(float(frame.pts * frame.time_base) + loud / RATE)
    return np.array([t for i, t in enumerate(found) if not i or t - found[i - 1] > 0.1])


@pytest.mark.parametrize("start", [0.007, 0.7])
@pytest.mark.parametrize(
    ("extension", "codec"),
    [("mp4", "aac"), ("mov", "aac"), ("3gp", "aac"), ("mp4", "ac3"), ("mp4", "libopus"),
     ("mov", "pcm_s16le"), ("mkv", "aac"), ("mkv", "libopus")],
)  # fmt: skip
def test_late_sound_keeps_its_place_and_its_length(tmp_path, extension, codec, start):
    film, out = tmp_path / f"in.{extension}", tmp_path / f"out.{extension}"
    late_film(film, codec, start)
    count = copied(film, out)
    assert length(out) == count
    before, after = clicks_of(film), clicks_of(out)
    assert len(before) == len(after) == len(CLICKS)
    assert np.abs(before - np.array(CLICKS) - start).max() < 0.002
    assert np.abs(after - before).max() < 0.002


@pytest.mark.parametrize("extension", ["mp4", "mov"])
@pytest.mark.parametrize("codec", ["aac", "pcm_s16le", "libopus"])
def test_late_sound_of_matroska_goes_into_an_edit_list(tmp_path, extension, codec):
    film, out = tmp_path / "in.mkv", tmp_path / f"out.{extension}"
    late_film(film, codec, 0.01)
    assert copied(film, out) == length(out)
    assert np.abs(clicks_of(out) - clicks_of(film)).max() < 0.002


def box(kind, content):
    return struct.pack(">I4s", 8 + len(content), kind) + content


def tracks(elst):
    handler = box(b"hdlr", bytes(8) + b"soun" + bytes(13))
    track = box(b"trak", box(b"edts", elst) + box(b"mdia", handler))
    picture = box(b"trak", box(b"mdia", box(b"hdlr", bytes(8) + b"vide" + bytes(13))))
    header = box(b"mvhd", bytes(12) + struct.pack(">I", 48_000) + bytes(84))
    return box(b"mdat", b"sound") + box(b"moov", header + picture + track)


def test_an_edit_list_grows_with_the_boxes_around_it():
    one = box(b"elst", struct.pack(">IIiiI", 0, 1, 96_000, 1024, 1 << 16))
    file = io.BytesIO(tracks(one))
    assert late_length(file) is None
    place_sound(file, 480, 1024, 95_000)
    two = struct.pack(">IIiiIiiI", 0, 2, 480, -1, 1 << 16, 95_000, 1024, 1 << 16)
    assert file.getvalue() == tracks(box(b"elst", two))
    assert late_length(file) == Fraction(95_000, 48_000)
    place_sound(file, 1 << 31, 1024, 95_000)
    long = struct.pack(">IIqqIqqI", 1 << 24, 2, 1 << 31, -1, 1 << 16, 95_000, 1024, 1 << 16)
    assert file.getvalue() == tracks(box(b"elst", long))
    assert late_length(file) == Fraction(95_000, 48_000)


@pytest.mark.parametrize("elst", [b"", box(b"elst", b""), box(b"elst", bytes(4) + b"\0\0\0\2")])
def test_no_list_and_a_damaged_one_state_no_length(elst):
    assert late_length(io.BytesIO(tracks(elst))) is None


def test_a_track_without_a_list_is_not_rewritten():
    with pytest.raises(ValueError, match="no edit list"):
        place_sound(io.BytesIO(tracks(b"")), 1, 2, 3)
