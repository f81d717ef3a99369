"""Metadata removal: names and dates in every metadata field are absent from the output."""

import struct
from fractions import Fraction

import av
import numpy as np
import pytest
import torch

from voicenym.audio import Audio, Format, open_reader, open_writer, read, write

NAME = "Zebulon Quaxworthy"
NEEDLES = [NAME.encode(), NAME.encode("utf-16-le"), NAME.encode("utf-16-be"), b"Quaxworthy"]
MS = Fraction(1, 1000)
TAGS = {
    "title": NAME, "artist": NAME, "comment": NAME, "album": NAME, "description": NAME,
    "creation_time": "2001-02-03T04:05:06", "location": NAME, "encoded_by": NAME,
}  # fmt: skip


def plant_with_ffmpeg(path, codec, rate=48000):
    with av.open(str(path), "w") as container:
        container.metadata.update(TAGS)
        stream = container.add_stream(codec, rate=rate, layout="mono")
        stream.metadata.update({"title": NAME, "handler_name": NAME})
        container.set_chapters(
            [{"id": 1, "start": 0, "end": 500, "time_base": MS,
              "metadata": {"title": NAME}}]
        )  # fmt: skip
        context = stream.codec_context
        kind = context.codec.audio_formats[0].name
        context.format = kind
        resampler = av.AudioResampler(kind, "mono", rate)
        samples = (0.1 * np.random.default_rng(0).standard_normal((1, rate))).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.sample_rate = rate
        fifo = av.AudioFifo()
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            fifo.write(part)
        context.open(strict=False)
        while (part := fifo.read(context.frame_size or 1024, True)) is not None:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))


def chunk(kind, body):
    return kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def plant_in_wav(path):
    name = NAME.encode() + b"\0"
    bext = NAME.encode().ljust(256, b"\0") + NAME.encode().ljust(346, b"\0")
    info = b"INFO" + chunk(b"IART", name) + chunk(b"INAM", name)
    labels = b"adtl" + chunk(b"labl", struct.pack("<I", 1) + name)
    fmt = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    body = b"WAVE" + chunk(b"bext", bext) + chunk(b"fmt ", fmt) + chunk(b"LIST", info)
    body += chunk(b"data", np.arange(4000, dtype="<i2").tobytes())
    body += chunk(b"iXML", b"<BWFXML><NOTE>" + name) + chunk(b"LIST", labels)
    body += (
        chunk(b"cue ", struct.pack("<I", 0) + name) + chunk(b"smpl", name) + chunk(b"id3 ", name)
    )
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def assert_clean(path):
    data = path.read_bytes()
    for needle in NEEDLES:
        assert needle not in data
    assert b"2001-02-03" not in data
    with av.open(str(path)) as container:
        found = dict(container.metadata)
        for stream in container.streams:
            found |= stream.metadata
        assert not container.chapters()
    assert "creation_time" not in found
    assert all(key.lower() not in TAGS for key in found)
    for kind in (b"mvhd", b"tkhd", b"mdhd"):
        at = data.find(kind)
        while at >= 0:
            times = 16 if data[at + 4] else 8
            assert not any(data[at + 8 : at + 8 + times])
            at = data.find(kind, at + 4)


def copy(source, target):
    with (
        open_reader(source) as reader,
        open_writer(target, reader.format, reader.rate, reader.channels) as writer,
    ):
        for block in reader.blocks(4096):
            writer.write(block)


@pytest.mark.parametrize(
    ("extension", "codec"),
    [("flac", "flac"), ("ogg", "libopus"), ("oga", "flac"), ("mp3", "libmp3lame"), ("m4a", "aac"),
     ("mov", "aac"), ("mkv", "aac"), ("webm", "libopus"), ("wav", "pcm_s16le")],
)  # fmt: skip
def test_tags_of_ffmpeg_do_not_travel(tmp_path, extension, codec):
    source = tmp_path / f"in.{extension}"
    plant_with_ffmpeg(source, codec)
    assert any(needle in source.read_bytes() for needle in NEEDLES)
    copy(source, tmp_path / f"out.{extension}")
    assert_clean(tmp_path / f"out.{extension}")


def test_chunks_of_broadcast_wave(tmp_path):
    plant_in_wav(tmp_path / "in.wav")
    copy(tmp_path / "in.wav", tmp_path / "out.wav")
    assert_clean(tmp_path / "out.wav")
    assert np.array_equal(read(tmp_path / "out.wav").samples * 32768, np.arange(4000))


def test_vorbis_comments_do_not_travel(tmp_path):
    import soundfile

    with soundfile.SoundFile(tmp_path / "in.ogg", "w", 16000, 1, "VORBIS", format="OGG") as file:
        file.artist = file.title = file.comment = NAME
        file.write(np.zeros(8000))
    copy(tmp_path / "in.ogg", tmp_path / "out.ogg")
    assert_clean(tmp_path / "out.ogg")
    copy(tmp_path / "in.ogg", tmp_path / "out.webm")
    assert read(tmp_path / "out.webm").format.codec == "vorbis"
    assert_clean(tmp_path / "out.webm")


def test_flac_does_not_date_its_encoder(tmp_path):
    write(tmp_path / "a.flac", Audio(torch.zeros(8000), 8000))
    assert b"libFLAC" not in (tmp_path / "a.flac").read_bytes()


def test_id3_and_cover_art(tmp_path):
    write(tmp_path / "plain.mp3", Audio(torch.zeros(48000), 48000))
    picture = b"image/png\0\x03" + NAME.encode() + b"\0" + b"\x89PNG" + NAME.encode()
    frame = b"APIC" + struct.pack(">IH", len(picture) + 1, 0) + b"\0" + picture
    size = bytes((len(frame) >> shift) & 0x7F for shift in (21, 14, 7, 0))
    tail = b"TAG" + NAME.encode().ljust(125, b"\0")
    data = b"ID3\x03\0\0" + size + frame + (tmp_path / "plain.mp3").read_bytes() + tail
    (tmp_path / "in.mp3").write_bytes(data)
    with open_reader(tmp_path / "in.mp3") as reader:
        assert not reader.has_picture
    copy(tmp_path / "in.mp3", tmp_path / "out.mp3")
    assert_clean(tmp_path / "out.mp3")
    assert read(tmp_path / "out.mp3").samples.shape == (48000,)


def make_film(path):
    with av.open(str(path), "w") as container:
        container.metadata.update(TAGS)
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        video.metadata["title"] = NAME
        audio = container.add_stream("aac", rate=48000, layout="mono")
        for i in range(50):
            image = np.full((48, 64, 3), i * 5, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            frame = av.AudioFrame.from_ndarray(
                np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
            )
            frame.sample_rate, frame.pts = 48000, i * 1024
            container.mux(audio.encode(frame))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))


def picture_of(path):
    with av.open(str(path)) as container:
        return [
            (float(p.pts * p.time_base), p.is_keyframe, bytes(p))
            for p in container.demux(container.streams.video[0])
            if p.size
        ]


@pytest.mark.parametrize(
    ("extension", "codec"), [("mp4", "aac"), ("mov", "aac"), ("mkv", "aac"), ("mkv", "vorbis")]
)
def test_picture_is_copied_untouched(tmp_path, extension, codec):
    film, out = tmp_path / f"in.{extension}", tmp_path / f"out.{extension}"
    make_film(film)
    form = Format("x", codec)
    with (
        open_reader(film) as reader,
        open_writer(out, form, reader.rate, 1, picture=film) as writer,
    ):
        assert reader.has_picture
        for block in reader.blocks(5000):
            writer.write(block)
    before, after = picture_of(film), picture_of(out)
    assert len(before) == 50
    assert [row[1:] for row in after] == [row[1:] for row in before]
    assert np.allclose([row[0] for row in after], [row[0] for row in before], atol=1e-3)
    assert_clean(out)
    assert read(out).samples.shape == read(film).samples.shape


def test_film_is_not_its_own_output(tmp_path):
    from voicenym.errors import AudioError

    make_film(tmp_path / "in.mp4")
    with pytest.raises(AudioError, match="film itself"):
        open_writer(
            tmp_path / "in.mp4", Format("mp4", "aac"), 48000, 1,
            picture=tmp_path / "in.mp4", overwrite=True,
        )  # fmt: skip
