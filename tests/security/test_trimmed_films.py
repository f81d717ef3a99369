"""What an edit list cuts off a film is not shown by the output."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from voicenym.audio import open_reader, open_writer
from voicenym.errors import AudioError

RATE = 48_000
FPS = 24
FRAMES = 48
KEYS = 12
"""Frames from one key frame to the next."""


def film(path: Path, b_frames: int) -> None:
    """Two seconds of frames that all differ, and a tone."""
    with av.open(str(path), "w") as out:
        options = {"preset": "veryfast", "g": str(KEYS), "bf": str(b_frames), "sc_threshold": "0"}
        video = out.add_stream("libx264", rate=FPS, options=options)
        video.width, video.height, video.pix_fmt = 96, 64, "yuv420p"
        audio = out.add_stream("aac", rate=RATE, layout="mono")
        for i in range(FRAMES):
            image = np.zeros((64, 96, 3), np.uint8)
            image[:, i : i + 30] = 5 * i
            frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = i, Fraction(1, FPS)
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        tone = 0.2 * np.sin(np.arange(RATE * FRAMES // FPS) / 20).astype(np.float32)
        for start in range(0, len(tone), 1024):
            part = tone[None, start : start + 1024].copy()
            sound = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
            sound.sample_rate, sound.pts = RATE, start
            out.mux(audio.encode(sound))
        out.mux(audio.encode(None))


def trim(path: Path, first: int, count: int) -> None:
    """Trims a film to ``count`` frames from ``first`` on by its edit lists, as telephones do."""
    data = bytearray(path.read_bytes())
    at = data.find(b"elst")
    while at >= 0:
        scale = struct.unpack_from(">I", data, data.find(b"mdhd", at) + 16)[0]
        start = struct.unpack_from(">i", data, at + 16)[0]
        struct.pack_into(">Ii", data, at + 12, 1000 * count // FPS, start + scale * first // FPS)
        at = data.find(b"elst", at + 4)
    path.write_bytes(data)


def cut_out(path: Path, first: int, count: int) -> None:
    """Leaves out ``count`` frames of a film by edit lists of two parts."""
    scales: list[int] = []

    def edited(kind: bytes, body: bytes) -> bytes:
        if kind in (b"moov", b"trak", b"edts"):
            at, parts = 0, []
            while at < len(body):
                size, inner = struct.unpack_from(">I4s", body, at)
                if inner == b"edts":
                    scales.append(struct.unpack_from(">I", body, body.find(b"mdhd") + 16)[0])
                parts.append(edited(inner, body[at + 8 : at + size]))
                at += size
            body = b"".join(parts)
        elif kind == b"elst":
            start = struct.unpack_from(">i", body, 12)[0]
            rest = FRAMES - first - count
            body = struct.pack(">II", 0, 2)
            for frame, frames in ((0, first), (first + count, rest)):
                place = start + scales[-1] * frame // FPS
                body += struct.pack(">IiI", 1000 * frames // FPS, place, 1 << 16)
        return struct.pack(">I4s", 8 + len(body), kind) + body

    data = path.read_bytes()
    at = data.find(b"moov") - 4  # behind the samples, whose places do not change
    path.write_bytes(data[:at] + edited(b"moov", data[at + 8 :]))


def copy(source: Path, target: Path) -> None:
    with (
        open_reader(source) as reader,
        open_writer(target, reader.format, reader.rate, reader.channels, picture=source) as writer,
    ):
        for block in reader.blocks(5000):
            writer.write(block)


def shown(path: Path) -> list[tuple[float, bytes]]:
    with av.open(str(path)) as container:
        return [
            (round(float(frame.time or 0.0), 2), frame.to_ndarray().tobytes())
            for frame in container.decode(video=0)
        ]


def stored(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(1 for packet in container.demux(video=0) if packet.size)


@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize("extension", [".mp4", ".mov"])
def test_what_is_cut_off_at_both_ends_is_not_shown(tmp_path, b_frames, extension):
    source, target = tmp_path / "in.mp4", tmp_path / f"out{extension}"
    film(source, b_frames)
    trim(source, KEYS + 6, KEYS)
    copy(source, target)
    before, after = shown(source), shown(target)
    assert len(before) == KEYS
    assert after[: len(before)] == before
    assert len(after) - len(before) <= b_frames, "frames that shown ones are decoded from"
    assert stored(target) <= KEYS + 6 + b_frames, "the last key frame before the start, and on"


def test_a_format_without_edit_lists_is_refused_where_it_would_show_what_was_cut_off(tmp_path):
    source, target = tmp_path / "in.mp4", tmp_path / "out.mkv"
    film(source, 0)
    trim(source, 6, KEYS)
    with pytest.raises(AudioError, match=r"trimmed.*\.mp4 or \.mov"):
        copy(source, target)
    assert not target.exists()


def test_what_is_cut_off_at_the_end_alone_is_in_no_format(tmp_path):
    source, target = tmp_path / "in.mp4", tmp_path / "out.mkv"
    film(source, 0)
    trim(source, 0, 6)
    copy(source, target)
    assert shown(target) == shown(source)
    assert stored(target) == 6


def test_a_film_with_parts_cut_out_is_refused_with_the_cure(tmp_path):
    source, target = tmp_path / "in.mp4", tmp_path / "out.mp4"
    film(source, 0)
    cut_out(source, 10, 10)
    with pytest.raises(AudioError, match=r"cut out of the film.*re-encode it"):
        copy(source, target)
    assert not target.exists()
