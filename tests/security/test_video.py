"""Copied pictures contain no metadata: text planted in every place is absent from the output.

Films are made with the encoders that PyAV brings; the program ffmpeg adds tracks of captions and
attachments.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import av
import numpy as np
import pytest

from voicenym.audio import Format, open_reader, open_writer
from voicenym.errors import AudioError

MARK = b"Zebulon-Quaxworthy"
TEXT = MARK.decode()
NEEDLES = [
    MARK,
    TEXT.encode("utf-16-le"),
    TEXT.encode("utf-16-be"),
    b"Quaxworthy",
    b"x264 - core",
    b"x265 (build",
    b"ZEBU",
    b"+12.3456-098.7654",
    b"2001-02-03",
]
RATE = 48_000
SIZE = (96, 64)
FRAMES = 12


def sei(codec: str) -> bytes:
    """User data as a unit in a byte stream."""
    body = bytes([5, 16 + len(MARK)]) + bytes(range(1, 17)) + MARK + b"\x80"
    return b"\0\0\0\1" + (b"\x06" if codec == "libx264" else b"\x4e\x01") + body


def obu(kind: int, payload: bytes) -> bytes:
    return bytes([kind << 3 | 2, len(payload)]) + payload


def segment(mark: int, payload: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, mark, len(payload) + 2) + payload


def plant(codec: str, data: bytes) -> bytes:
    """A packet with text beside the picture, where the codec has room for it."""
    if codec in ("libx264", "libx265"):
        # some decoders take a delimiter first, none minds user data before it
        return sei(codec) + data
    if codec == "libsvtav1":
        metadata = obu(5, b"\x04\xb5" + MARK + b"\x80")
        at = 2 if data[:2] == b"\x12\0" else 0
        return data[:at] + metadata + data[at:]
    if codec == "mpeg4":
        at = data.find(b"\0\0\1\xb6")
        return data[:at] + b"\0\0\1\xb2" + MARK + data[at:]
    if codec in ("mpeg2video", "mpeg1video"):
        at = data.find(b"\0\0\1\1")
        return data[:at] + b"\0\0\1\xb2" + MARK + data[at:]
    if codec == "mjpeg":
        extra = segment(0xE1, b"Exif\0\0" + MARK) + segment(0xFE, MARK) + segment(0xED, MARK)
        return data[:2] + extra + data[2:]
    if codec == "prores_ks":
        at = data.find(b"icpf")
        return data[: at + 8] + b"ZEBU" + data[at + 12 :]
    return data


PIXELS = {"mjpeg": "yuvj420p", "prores_ks": "yuv422p10le"}
OPTIONS = {
    "libx264": {"preset": "veryfast", "bf": "2", "g": "6"},
    "libx265": {"preset": "ultrafast", "x265-params": "log-level=none:keyint=6:info=1"},
    "libsvtav1": {"preset": "12", "svtav1-params": "keyint=6"},
    "libvpx": {"deadline": "realtime", "cpu-used": "8"},
    "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8"},
}


@contextmanager
def same_priority() -> Iterator[None]:
    """Restores the scheduling of this thread: SVT-AV1 gives whoever may have it, such as root, the
    highest real-time priority, and all tests and programs after it would keep it.
    """
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def film(path, codec: str, sound: str = "aac") -> None:
    """Half a second of moving picture with sound, text in tags, chapters and the picture."""
    with same_priority(), av.open(str(path), "w") as out:
        out.metadata.update(
            {
                "title": TEXT,
                "artist": TEXT,
                "comment": TEXT,
                "creation_time": "2001-02-03T04:05:06",
                "location": "+12.3456-098.7654/",
                "encoder": TEXT,
                "timecode": "01:02:03:04",
            }
        )
        video = out.add_stream(codec, rate=24, options=OPTIONS.get(codec, {}))
        video.width, video.height = SIZE
        video.pix_fmt = PIXELS.get(codec, "yuv420p")
        video.metadata.update({"title": TEXT, "handler_name": TEXT, "language": "zul"})
        audio = out.add_stream(sound, rate=44_100 if path.suffix == ".flv" else RATE, layout="mono")
        audio.metadata.update({"title": TEXT, "handler_name": TEXT, "language": "zul"})
        out.set_chapters(
            [{"id": 1, "start": 0, "end": 200, "time_base": Fraction(1, 1000),
              "metadata": {"title": TEXT}}]
        )  # fmt: skip
        rng = np.random.default_rng(3)
        packets = []
        for i in range(FRAMES):
            image = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
            image[:, 4 * i : 4 * i + 20] = rng.integers(0, 255, (1, 20, 3))
            frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format=video.pix_fmt)
            frame.pts, frame.time_base = i, Fraction(1, 24)
            packets += video.encode(frame)
        packets += video.encode(None)
        for packet in packets:
            dirty = av.Packet(plant(codec, bytes(packet)))
            dirty.pts, dirty.dts, dirty.duration = packet.pts, packet.dts, packet.duration
            dirty.time_base, dirty.is_keyframe = packet.time_base, packet.is_keyframe
            dirty.stream = video
            out.mux(dirty)
        tone = 0.2 * np.sin(np.arange(RATE // 2) / 20).astype(np.float32)
        changer = av.AudioResampler(
            audio.codec_context.format, "mono", RATE, frame_size=audio.frame_size or 960
        )
        frame = av.AudioFrame.from_ndarray(tone[None], format="fltp", layout="mono")
        frame.sample_rate = RATE
        for part in [*changer.resample(frame), *changer.resample(None)]:
            out.mux(audio.encode(part))
        out.mux(audio.encode(None))


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="priorities of Linux")
def test_an_encoder_that_takes_real_time_priority_does_not_leave_it(tmp_path):
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    film(tmp_path / "film.mp4", "libsvtav1")
    assert (os.sched_getscheduler(0), os.sched_getparam(0)) == before


def copy(source, target) -> None:
    with (
        open_reader(source) as reader,
        open_writer(target, reader.format, reader.rate, reader.channels, picture=source) as writer,
    ):
        assert reader.has_picture
        for block in reader.blocks(5000):
            writer.write(block)


def pictures(path) -> list[tuple[float, str]]:
    with av.open(str(path)) as container:
        return [
            (round(float(f.pts * f.time_base), 3), hashlib.sha256(f.to_ndarray()).hexdigest())
            for f in container.decode(video=0)
        ]


def assert_only_picture(path) -> None:
    data = path.read_bytes()
    assert [needle for needle in NEEDLES if needle in data] == []
    with av.open(str(path)) as container:
        assert sorted(s.type for s in container.streams) == ["audio", "video"]
        assert container.chapters() == []
        for stream in container.streams:
            assert stream.metadata.get("language", "und") == "und"
            assert "timecode" not in stream.metadata
            assert "creation_time" not in stream.metadata
        assert "creation_time" not in container.metadata


EVERY = [
    "libx264", "libx265", "libsvtav1", "mpeg4", "mpeg2video", "mjpeg", "libvpx-vp9",
]  # fmt: skip
FILMS = [
    *[("mp4", codec) for codec in EVERY],
    *[("mov", codec) for codec in ("libx264", "libx265", "mpeg4", "mjpeg", "prores_ks")],
    *[("mkv", codec) for codec in [*EVERY, "libvpx", "prores_ks", "ffv1", "mpeg1video"]],
    *[("webm", codec) for codec in ("libvpx", "libvpx-vp9", "libsvtav1")],
    *[("3gp", codec) for codec in ("libx264", "mpeg4")],
]


@pytest.mark.parametrize(("extension", "codec"), FILMS)
def test_a_copied_picture_is_the_same_and_carries_no_text(tmp_path, extension, codec):
    source, target = tmp_path / f"in.{extension}", tmp_path / f"out.{extension}"
    film(source, codec, "libopus" if extension == "webm" else "aac")
    assert MARK in source.read_bytes()
    copy(source, target)
    assert_only_picture(target)
    before, after = pictures(source), pictures(target)
    assert len(before) == FRAMES
    assert [h for _, h in after] == [h for _, h in before]
    assert np.allclose([t for t, _ in after], [t for t, _ in before], atol=2e-3)


@pytest.mark.parametrize("extension", ["mp4", "mov", "mkv"])
def test_other_tracks_attachments_and_places_are_left_behind(tmp_path, extension):
    if not shutil.which("ffmpeg"):
        pytest.skip("ffmpeg is not installed: make system")
    plain, source, target = (tmp_path / f"{n}.{extension}" for n in ("plain", "in", "out"))
    film(plain, "libx264")
    (tmp_path / "s.srt").write_text(f"1\n00:00:00,000 --> 00:00:00,400\n{TEXT}\n")
    (tmp_path / "note.txt").write_text(TEXT)
    more = ["-c:s", "srt", "-attach", tmp_path / "note.txt", "-metadata:s:t", "mimetype=text/plain"]
    if extension != "mkv":
        more = ["-c:s", "mov_text", "-movflags", "use_metadata_tags"]
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", plain, "-i", tmp_path / "s.srt", "-map", "0:v",
         "-map", "0:a", "-map", "0:a", "-map", "1", "-c", "copy", *more,
         "-metadata", "location=+12.3456-098.7654/", "-metadata", f"com.maker.owner={TEXT}",
         "-metadata:s:v", f"title={TEXT}", "-metadata:s:v", "rotate=90", source],
        check=True,
    )  # fmt: skip
    if extension != "mkv":  # boxes that ffmpeg does not make
        uuid = struct.pack(">I4s16s", 24 + len(MARK), b"uuid", b"GPS-of-a-camera!") + MARK
        free = struct.pack(">I4s", 8 + len(MARK), b"free") + MARK
        source.write_bytes(source.read_bytes() + uuid + free)
    with av.open(str(source)) as container:
        assert len(container.streams) >= 4
    with open_reader(source) as reader:
        tracks, subtitles = reader.warnings
    assert "has 2 sound tracks; the first" in tracks
    assert "has subtitles, which are left out" in subtitles
    copy(source, target)
    assert_only_picture(target)
    assert [h for _, h in pictures(target)] == [h for _, h in pictures(source)]


def insert(data: bytes, path: list[bytes], box: bytes, skip: int = 0) -> bytes:
    """An mp4 with one more box at the end of the one that ``path`` leads to."""
    if not path:
        return data + box
    at = skip
    while data[at + 4 : at + 8] != path[0]:
        at += struct.unpack_from(">I", data, at)[0]
    size = struct.unpack_from(">I", data, at)[0]
    head = {b"stsd": 8}.get(path[0], 0)
    body = insert(data[at + 8 : at + size], path[1:], box, head)
    whole = struct.pack(">I", 8 + len(body)) + path[0] + body
    return data[:at] + whole + data[at + size :]


def test_boxes_of_a_camera_are_left_behind(tmp_path):
    source, target = tmp_path / "in.mov", tmp_path / "out.mov"
    film(source, "libx264")
    data = source.read_bytes()
    mark = struct.pack(">I4s", 8 + len(MARK), b"\xa9xyz") + MARK
    entry = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"]
    profile = struct.pack(">I4s4s", 12 + 128 + len(MARK), b"colr", b"prof") + bytes(128) + MARK
    data = insert(data, [b"moov"], struct.pack(">I4s", 8 + len(mark), b"udta") + mark)
    data = insert(data, [b"moov", b"trak"], struct.pack(">I4s", 8 + len(mark), b"udta") + mark)
    data = insert(data, entry, profile)
    data = insert(
        data, [b"moov"], struct.pack(">I4s16s", 24 + len(MARK), b"uuid", bytes(16)) + MARK
    )
    source.write_bytes(data)
    assert data.count(MARK) >= 4
    copy(source, target)
    assert_only_picture(target)
    assert pictures(target) == pictures(source)


def test_a_track_of_timed_metadata_is_left_behind(tmp_path):
    """As action cameras write it: where and when every second."""
    source, target = tmp_path / "in.mov", tmp_path / "out.mov"
    if not shutil.which("ffmpeg"):
        pytest.skip("ffmpeg is not installed: make system")
    film(tmp_path / "plain.mov", "libx264")
    (tmp_path / "s.srt").write_text(f"1\n00:00:00,000 --> 00:00:00,400\n{TEXT}\n")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", tmp_path / "plain.mov", "-i", tmp_path / "s.srt",
         "-map", "0:v", "-map", "0:a", "-map", "1", "-c", "copy", "-c:s", "mov_text",
         "-f", "mp4", source],
        check=True,
    )  # fmt: skip
    data = source.read_bytes()
    source.write_bytes(data.replace(b"tx3g", b"gpmd").replace(b"sbtl", b"meta"))
    with av.open(str(source)) as container:
        assert [s.type for s in container.streams][:3] == ["video", "audio", "data"]
    assert MARK in source.read_bytes()
    copy(source, target)
    assert_only_picture(target)


def test_recovery_points_stay_and_other_messages_of_their_unit_go():
    from voicenym.audio.video.video_metadata import _seldom

    user = bytes([5, 16 + len(MARK)]) + bytes(range(1, 17)) + MARK
    long = bytes([4, 255, 10]) + bytes(265)
    point = bytes([6, 1, 0xC4])
    unit = b"\0\0\1\x06" + user + long.replace(b"\0\0", b"\1\1") + point + b"\x80"
    slices = b"\0\0\1\x65\x88\x84" + bytes(range(4, 60))
    assert _seldom("h264")(unit + slices) == b"\0\0\1\x06" + point + b"\x80" + slices
    assert _seldom("h264")(b"\0\0\1\x06" + user + b"\x80" + slices) == slices


def test_decoders_hints_on_xvid_stay_without_what_follows_them():
    from voicenym.audio.video.video_metadata import _mpeg4

    head, vop = b"\0\0\1\xb0\x01", b"\0\0\1\xb6\x10\x20"
    kept = _mpeg4(head + b"\0\0\1\xb2XviD0050" + MARK + vop)
    assert kept == head + b"\0\0\1\xb2XviD0050" + vop
    assert _mpeg4(head + b"\0\0\1\xb2Lavc62.1" + vop) == head + vop


def test_jpeg_thumbnails_are_cut_off_and_two_fields_are_kept():
    from voicenym.audio.video.video_metadata import _mjpeg

    thumbnail = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\4\4" + MARK * 3)
    scan = segment(0xDA, b"\1\1\0\0\x3f\0") + b"\x12\xff\0\x34\xff\xd0\x56"
    field = b"\xff\xd8" + thumbnail + segment(0xDB, bytes(65)) + scan + b"\xff\xd9"
    clean = _mjpeg(field + MARK + field + MARK)
    assert MARK not in clean
    assert clean.count(scan) == 2
    assert clean.count(b"JFIF") == 2


@pytest.mark.parametrize("codec", ["h263p", "flv", "msmpeg4"])
def test_a_picture_that_cannot_be_cleaned_is_refused(tmp_path, codec):
    source = tmp_path / "in.avi"
    film(source, codec, "libmp3lame")
    with pytest.raises(AudioError, match=r"out\.mkv: .*cannot be taken out; re-encode it.*\.wav"):
        copy(source, tmp_path / "out.mkv")
    assert not (tmp_path / "out.mkv").exists()


def test_sound_of_such_a_film_is_written_alone(tmp_path):
    source, target = tmp_path / "in.mkv", tmp_path / "out.wav"
    film(source, "ffv1")
    with (
        open_reader(source) as reader,
        open_writer(target, Format("wav", "pcm_s16le"), reader.rate, reader.channels) as writer,
    ):
        for block in reader.blocks(5000):
            writer.write(block)
    assert MARK not in target.read_bytes()


@pytest.mark.parametrize(
    ("extension", "codec"),
    [("avi", "mpeg4"), ("avi", "mjpeg"), ("avi", "mpeg2video"), ("flv", "libx264"),
     ("ts", "libx264"), ("ts", "mpeg2video"), ("mpg", "mpeg2video"), ("ts", "libx265")],
)  # fmt: skip
def test_films_that_are_read_and_not_written_become_matroska(tmp_path, extension, codec):
    source, target = tmp_path / f"in.{extension}", tmp_path / "out.mkv"
    film(source, codec, "mp2" if extension in ("mpg", "ts") else "libmp3lame")
    copy(source, target)
    assert_only_picture(target)
    assert [h for _, h in pictures(target)] == [h for _, h in pictures(source)]
