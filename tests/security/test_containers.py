"""Nothing that a recording, or its name, refers to is opened: no file, host or port.

Each kind of description that libav would follow lies beside a decoy, whose opening the kernel
reports (inotify), and names a socket that listens.
"""

from __future__ import annotations

import ctypes
import io
import os
import socket
import struct
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from voicenym.audio import Audio, Format, open_reader, open_writer, read, write
from voicenym.errors import AudioError

IN_ACCESS, IN_OPEN = 0x1, 0x20


class Watch:
    """Tells whether a file was opened or read since."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(self._fd, os.fsencode(path), IN_ACCESS | IN_OPEN) >= 0

    def touched(self) -> bool:
        try:
            return bool(os.read(self._fd, 4096))
        except BlockingIOError:
            return False


@pytest.fixture
def listener():
    """A socket that hangs up on whoever comes; its port, and whether somebody came."""
    guests = []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    guest, _ = server.accept()
                except OSError:
                    return
                guests.append(guest.getpeername())
                guest.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], lambda: bool(guests)
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def decoy(tmp_path, monkeypatch):
    """A recording that is watched, in the current directory."""
    if not sys.platform.startswith("linux"):
        pytest.skip("inotify is Linux's")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "decoy.wav"
    soundfile.write(path, 0.1 * np.sin(np.arange(16_000) / 10), 16_000)
    return path, Watch(path)


def test_the_watch_sees_who_opens(decoy):
    path, watch = decoy
    assert not watch.touched()
    read(path)
    assert watch.touched()


DASH = """<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" mediaPresentationDuration="PT1S"><Period>
<AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>{place}</BaseURL>
<SegmentBase/></Representation></AdaptationSet></Period></MPD>"""
HLS = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{place}\n#EXT-X-ENDLIST\n"
IMF = """<?xml version="1.0"?>
<CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016">
<Id>urn:uuid:{place}</Id></CompositionPlaylist>"""
VOBSUB = (
    "# VobSub index file, v7 (do not modify this line!)\n"
    "id: en, index: 0\ntimestamp: 00:00:00:00, filepos: 0\n"
)
DESCRIPTIONS = {
    "a.ffconcat": "ffconcat version 1.0\nfile '{place}'\n",
    "a.m3u8": HLS,
    "a.mpd": DASH,
    "a.xml": IMF,
    "a.idx": VOBSUB,
    "a.sub.idx": VOBSUB,
    "a.asx": '<asx version="3.0"><entry><ref href="{place}"/></entry></asx>',
    "a.pls": "[playlist]\nFile1={place}\nNumberOfEntries=1\n",
    "a.rtsp": "RTSPtext\nrtsp://{place}",
    "a.txt": "{place}\n",
    "a.jpls": ";FFMETADATA1\ntitle={place}\n",
    "a.lvf": "#EXTM3U\n{place}\n",
}


@pytest.mark.parametrize("disguise", ["", ".wav", ".mp3", ".m4a"])
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_descriptions_are_not_followed(tmp_path, decoy, listener, name, disguise):
    path, watch = decoy
    port, came = listener
    for place in (
        path.name,
        str(path),
        f"http://127.0.0.1:{port}/x.wav",
        f"tcp://127.0.0.1:{port}",
    ):
        described = tmp_path / (name + disguise)
        described.write_text(DESCRIPTIONS[name].format(place=place))
        (tmp_path / "a.sub").unlink(missing_ok=True)
        os.link(path, tmp_path / "a.sub")  # beside an .idx
        with pytest.raises(AudioError, match=r"is not a recording that can be read"):
            open_reader(described)
        with pytest.raises(AudioError, match=r"is not a recording that can be read"):
            open_reader(io.BytesIO(described.read_bytes()))
    assert not watch.touched()
    assert not came()


SDP = "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio {port} RTP/AVP 0\n"
OPEN = """
import socket, sys
real = socket.socket
from voicenym.audio import open_reader
from voicenym.errors import AudioError
try:
    open_reader(sys.argv[1])
except AudioError as error:
    sys.exit(0 if "is not a recording" in str(error) else str(error))
sys.exit("was opened")
"""


def test_a_session_description_opens_no_port(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1] & ~1
    path = tmp_path / "call.wav"
    path.write_text(SDP.format(port=port))
    process = subprocess.Popen(
        [sys.executable, "-c", OPEN, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    table, seen = Path("/proc/net/udp"), False
    try:
        while process.poll() is None and not seen:
            rows = table.read_text().splitlines()[1:] if table.exists() else []
            seen = any(int(row.split()[1].split(":")[1], 16) == port for row in rows)
    finally:
        process.kill()
    errors = process.communicate()[1]
    assert not seen, "the port that the description names was bound"
    assert process.returncode == 0, errors


@pytest.mark.parametrize(
    "head",
    [b"nut/multimedia container\0", b"\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02\x04",
     b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\0\x10JFIF", b".RMF\0\0",
     b"8BPS\0\1", b"P6\n1 1\n255\n", b"YUV4MPEG2 W2 H2 F25:1\n", b"WEBVTT\n\n", b"BM",
     b"{1}{2}text", b"[Script Info]\n", b"DKIF\0\0 \0VP80"],
    ids=lambda head: head[:6].hex(),
)  # fmt: skip
def test_kinds_beyond_the_list_are_not_tried(tmp_path, head):
    (tmp_path / "a.wav").write_bytes(head + bytes(4096))
    with pytest.raises(AudioError, match=r"is not a recording that can be read"):
        open_reader(tmp_path / "a.wav")


def alias(path: Path) -> bytes:
    """A QuickTime reference to another file, as libav reads it."""
    name = path.name.encode()
    body = bytes(10) + b"\4disk".ljust(28, b"\0") + bytes(12)
    body += bytes([len(name)]) + name.ljust(63, b"\0") + bytes(16)
    body += struct.pack(">HH", 1, 1) + bytes(16)
    for kind, text in (
        (2, b"disk" + os.fsencode(path).replace(b"/", b":")),
        (18, os.fsencode(path)),
    ):
        body += struct.pack(">HH", kind, len(text)) + text + bytes(len(text) % 2)
    body += struct.pack(">HH", 0xFFFF, 0)
    return struct.pack(">I4sI", 12 + len(body), b"alis", 0) + body


def test_a_film_that_keeps_its_sound_elsewhere_is_not_followed(tmp_path, decoy):
    path, watch = decoy
    film = tmp_path / "a.mov"
    write(film, Audio(torch.zeros(16_000), 16_000, Format("mov", "pcm_s16le")))
    data = film.read_bytes()
    at = data.index(b"dref") - 4
    size = struct.unpack_from(">I", data, at)[0]
    reference = alias(path)
    longer = struct.pack(">I4sII", 16 + len(reference), b"dref", 0, 1) + reference
    data = data[:at] + longer + data[at + size :]
    for parent in (b"moov", b"trak", b"mdia", b"minf", b"dinf"):
        place = data.index(parent) - 4
        old = struct.unpack_from(">I", data, place)[0]
        data = data[:place] + struct.pack(">I", old + len(longer) - size) + data[place + 4 :]
    film.write_bytes(data)
    watch.touched()
    try:
        found = read(film).samples
    except AudioError:
        pass
    else:
        assert not found.any()
    assert not watch.touched()


NAMES = [
    "http:clip", "concat:decoy.wav|decoy", "file:decoy.wav", "pipe:0", "-", "-y", "fd:0",
    "subfile,,start,0,end,0,,:decoy", "data:audio;base64,AAAA", "tcp:127.0.0.1:9?listen",
    "new\nline", "image%03d", "a*", "crypto:decoy", "cache:decoy",
]  # fmt: skip


@pytest.mark.parametrize(
    "extension", ["m4a", "flac", "mp3", "ogg", "opus", "webm", "mka", "aac", "aif", "wav"]
)
def test_a_name_is_a_files_name_and_no_address(decoy, extension):
    watch = decoy[1]
    sound = Audio(0.1 * torch.sin(torch.arange(24_000) / 10), 48_000)
    for name in NAMES:
        place = Path(f"{name}.{extension}")
        write(place, sound)
        assert place.is_file()
        assert read(place).samples.shape[-1] >= 24_000
    assert not watch.touched()
    assert len(list(Path.cwd().iterdir())) == len(NAMES) + 1


def test_a_name_that_promises_raw_samples_is_not_believed(tmp_path):
    write(tmp_path / "a.flac", Audio(torch.full((800,), 0.1), 8000))
    (tmp_path / "a.flac").rename(tmp_path / "a.raw")
    assert read(tmp_path / "a.raw").format.container == "flac"


@pytest.mark.parametrize("folder", ["", "http:", "file:", "concat:x"])
@pytest.mark.parametrize("name", ["http:clip.mkv", "concat:decoy.wav|x.mkv", "-film.mkv"])
def test_films_of_names_like_addresses_are_read_and_written(tmp_path, monkeypatch, folder, name):
    import av

    monkeypatch.chdir(tmp_path)
    place = Path(folder) / name
    place.parent.mkdir(exist_ok=True)
    with place.open("wb") as file, av.open(file, "w", format="matroska") as out:
        video = out.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 32, 32, "yuv420p"
        audio = out.add_stream("mp3", rate=48_000, layout="mono")
        for _ in range(5):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            out.mux(video.encode(frame))
        for i in range(10):
            sound = av.AudioFrame.from_ndarray(np.zeros((1, 1152), "f4"), "fltp", "mono")
            sound.sample_rate, sound.pts = 48_000, 1152 * i
            out.mux(audio.encode(sound))
        out.mux([*video.encode(None), *audio.encode(None)])
    target = place.with_name("anon-" + place.name)
    with (
        open_reader(place) as reader,
        open_writer(target, reader.format, 48_000, 1, picture=place) as writer,
    ):
        for block in reader.blocks(4096):
            writer.write(block)
    with open_reader(target) as reader:
        assert reader.has_picture


def riff(channels: int, rate: int, data: bytes) -> bytes:
    fmt = struct.pack(
        "<HHIIHH", 1, channels, rate, (rate * 2) & 0xFFFFFFFF, (2 * channels) & 0xFFFF, 16
    )
    body = b"WAVEfmt " + struct.pack("<I", 16) + fmt + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("channels", "rate"), [(30_000, 48_000), (1, 1), (1, 4_000_000_000), (257, 8000)]
)
def test_forms_that_no_recorder_makes_are_refused(tmp_path, channels, rate):
    (tmp_path / "a.wav").write_bytes(riff(channels, rate, bytes(2 * channels * 100)))
    with pytest.raises(
        AudioError, match=rf"a\.wav: says that it has {channels:,} channels? at {rate}"
    ):
        open_reader(tmp_path / "a.wav")


def test_flac_of_an_hours_silence_takes_little_memory(tmp_path):
    path = tmp_path / "a.flac"
    with open_writer(path, None, 8000, 1) as writer:
        for _ in range(360):
            writer.write(np.zeros((1, 80_000), np.float32))
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    with open_reader(path) as reader:
        assert sum(block.shape[1] for block in reader.blocks(80_000)) == 360 * 80_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


@pytest.mark.parametrize("table", ["stsz", "stsz of nothing", "stsc", "edits", "trun"])
def test_an_mp4_that_promises_more_than_it_can_hold_is_refused(tmp_path, table):
    """libav would make an index of it: of 178 million samples, in 4 GiB."""
    path = tmp_path / "a.m4a"
    write(path, Audio(torch.zeros(48_000), 48_000, Format("mp4", "aac")))
    data = bytearray(path.read_bytes())
    if table.startswith("stsz"):
        at = data.index(b"stsz") + 8
        struct.pack_into(">II", data, at, int(table == "stsz"), 178_000_000)
    elif table == "stsc":
        struct.pack_into(">I", data, data.index(b"stsc") + 16, 1 << 31)
    elif table == "edits":
        # the track's boxes up to its table of samples grow by as many edits
        many = 400_000
        at = data.index(b"elst") - 4
        old = struct.unpack_from(">I", data, at)[0]
        more = struct.pack(">III", 40_000, 0, 0x10000) * many
        box = struct.pack(">I4sII", 16 + len(more), b"elst", 0, many) + more
        data[at : at + old] = box
        for parent in (b"moov", b"trak", b"edts"):
            place = data.index(parent) - 4
            size = struct.unpack_from(">I", data, place)[0]
            struct.pack_into(">I", data, place, size + len(box) - old)
    else:
        run = struct.pack(">I4sII", 16, b"trun", 0, 1 << 31)
        part = struct.pack(">I4s", 8 + len(run), b"traf") + run
        data += struct.pack(">I4s", 8 + len(part), b"moof") + part
    path.write_bytes(data)
    with pytest.raises(AudioError, match=r"a\.m4a: promises more sound or picture than its"):
        open_reader(path)


def test_tags_that_claim_what_is_not_there_take_no_memory(tmp_path):
    path = tmp_path / "a.mp3"
    write(path, Audio(torch.zeros(48_000), 48_000))
    size = bytes([0x7F, 0x7F, 0x7F, 0x7F])
    frame = b"APIC" + struct.pack(">IH", 0x0FFFFFF0, 0) + b"\0image/png\0\3\0"
    path.write_bytes(b"ID3\x03\0\0" + size + frame + path.read_bytes())
    with pytest.raises(AudioError, match=r"a\.mp3"):
        open_reader(path)
