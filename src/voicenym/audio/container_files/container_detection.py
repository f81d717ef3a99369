"""Detects the container of a recording by its first bytes, and its one permitted demuxer.

libav's own probing also accepts playlists, session descriptions and scripts, which name other files
and hosts. This module accepts only the kinds of :data:`DEMUXERS`.
"""

from __future__ import annotations

from typing import BinaryIO

_NAMES = (
    "aac ac3 aiff amr ape asf au avi caf dsf eac3 flac flv iff matroska mov mp3 mpc mpc8 mpeg "
    "mpegts nistsphere ogg tak tta voc w64 wav wv"
)
DEMUXERS = frozenset(_NAMES.split())
"""Names of the permitted demuxers of libav; each reads one file, and none reads text."""

_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot", b"uuid")
_BEGINNINGS = (
    (b"fLaC", "flac"),
    (b"OggS", "ogg"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
    (b"#!AMR", "amr"),
    (b"caff", "caf"),
    (bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"), "asf"),
    (b".snd", "au"),
    (b"wvpk", "wv"),
    (b"MAC ", "ape"),
    (b"TTA1", "tta"),
    (b"DSD ", "dsf"),
    (b"FRM8", "iff"),
    (b"MPCK", "mpc8"),
    (b"MP+", "mpc"),
    (b"tBaK", "tak"),
    (b"Creative Voice File\x1a", "voc"),
    (b"NIST_1A\n", "nistsphere"),
    (b"riff\x2e\x91\xcf\x11", "w64"),
    (b"FLV\x01", "flv"),
    (b"\x00\x00\x01\xba", "mpeg"),
)
_FORMS = {
    (b"RIFF", b"WAVE"): "wav",
    (b"RF64", b"WAVE"): "wav",
    (b"BW64", b"WAVE"): "wav",
    (b"RIFF", b"AVI "): "avi",
    (b"FORM", b"AIFF"): "aiff",
    (b"FORM", b"AIFC"): "aiff",
}
_SEARCHED = 1 << 16
"""Bytes after an ID3 in which a frame of MPEG audio is searched."""
_TRAILER = 128
"""Bytes of an ID3v1, which may follow the last frame."""
_HEAD = 64
_MPEG_RATES = (44_100, 48_000, 32_000)
_KBITS = {
    (1, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Kilobits per second by version and layer of MPEG audio (ISO/IEC 11172-3, 13818-3)."""


def demuxer(file: BinaryIO) -> str | None:
    """Demuxer of a recording, by its content; moves the file's read position.

    Returns:
        A name in :data:`DEMUXERS`; ``None`` for other kinds.
    """
    file.seek(0)
    head = file.read(_HEAD)
    found = marked(head)
    if found is not None:
        return found
    start = 0
    if head[:3] == b"ID3" and len(head) >= 10:
        start = 10 + sum((byte & 0x7F) << 7 * (3 - i) for i, byte in enumerate(head[6:10]))
        start += 10 * bool(head[5] & 0x10)
    file.seek(start)
    data = file.read(_SEARCHED)
    if start and (found := marked(data[:_HEAD])) in ("flac", "tta", "ape", "wv", "aiff"):
        return found
    return _frames(data, tagged=bool(start))


def marked(head: bytes) -> str | None:
    """Demuxer of a kind that starts with a signature; MPEG audio has none."""
    for beginning, name in _BEGINNINGS:
        if head.startswith(beginning):
            return name
    return "mov" if head[4:8] in _BOXES else _FORMS.get((head[:4], head[8:12]))


def _frames(data: bytes, tagged: bool) -> str | None:
    """Demuxer of a kind without a signature, by frame headers at the right distances."""
    for size, first in ((188, 0), (192, 4)):
        places = range(first, first + 4 * size, size)
        if len(data) >= places[-1] + 1 and all(data[at] == 0x47 for at in places):
            return "mpegts"
    if data[:2] == b"\x0b\x77" and len(data) > 5:
        return "ac3" if data[5] >> 3 <= 10 else "eac3"
    for at in range(max(0, len(data) - 4)):
        if data[at] != 0xFF:
            continue
        for length, name in ((_adts, "aac"), (_mpeg, "mp3")):
            count, place, end = 0, at, len(data)
            while count < 3 and (step := length(data[place : place + 7])) and place < end:
                count, place = count + 1, place + step
            # A short file holds fewer frames; they must then span the whole file.
            fits = 0 < place <= end and (tagged or place >= end - _TRAILER)
            if count == 3 or (count and not at and fits):
                return name
    return "mp3" if tagged and not data.strip(b"\0") else None


def _adts(head: bytes) -> int:
    """Length of an ADTS frame (ISO/IEC 13818-7); 0 without a frame."""
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xF6 != 0xF0 or head[2] >> 2 & 15 > 12:
        return 0
    length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    return length if length > 7 else 0


def _mpeg(head: bytes) -> int:
    """Length of a frame of MPEG audio; 0 without a frame."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return 0
    version, layer = head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3)
    step, rate = head[2] >> 4, head[2] >> 2 & 3
    if version == 1 or layer == 4 or not 0 < step < 15 or rate == 3:
        return 0
    hertz = _MPEG_RATES[rate] >> {3: 0, 2: 1, 0: 2}[version]
    bits = 1000 * _KBITS[1 if version == 3 else 2, layer][step - 1]
    padding = head[2] >> 1 & 1
    if layer == 1:
        return (12 * bits // hertz + padding) * 4
    return (72 if layer == 3 and version != 3 else 144) * bits // hertz + padding
