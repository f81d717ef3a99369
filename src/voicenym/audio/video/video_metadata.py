"""Removes metadata from coded video: encoder settings, captions, user data.

Coded video can contain arbitrary text and data: SEI messages in H.264 and HEVC (x264
writes its settings there, cameras their serial numbers and times, broadcasters captions),
metadata OBUs in AV1, user data in MPEG-1, -2 and -4, comments and EXIF in JPEG. Each codec
has a cleaner that passes what a decoder needs; a codec without one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import av
from av.bitstream import BitStreamFilterContext

from voicenym.errors import AudioError

Cleaner = Callable[[Any], list[Any]]
"""Function from a packet to packets of the same picture without side data."""

_UNITS = {
    # slices, parameter sets, access unit delimiters and ends; and SEI, which _seldom looks into
    "h264": "1-9|10|11",
    "hevc": "0-9|16-21|32-37|39",
    # sequence header, temporal delimiter, frame headers, tiles, frames
    "av1": "1-4|6|7",
}
"""Kinds of units to keep, in the numbering of libav's filter ``filter_units``."""
_RECOVERY_POINT = 6
"""The one SEI message that decoders need: the recovery point of a picture without key frames."""
_MOST_RECOVERY = 5
_SEI = {"h264": (1, 0x1F, 0, 6), "hevc": (2, 0x3F, 1, 39)}
"""Bytes of a unit's header; mask and shift of its kind in the first byte; the kind of SEI."""
_START = b"\x00\x00\x01"
_USER_DATA = 0xB2
_ENCODERS_WITH_QUIRKS = re.compile(rb"XviD\d{1,4}C?|DivX\d{1,4}(?:Build|[bB])?\d{1,5}p?")
"""MPEG-4 user data that decoders read to follow two encoders' deviations; it stays."""
_PLAIN = ("vp8", "vp9", "ffv1")
"""Codings that can contain only picture data."""


def check(track: Any) -> None:
    """Refuses a picture track that cannot be cleaned.

    Raises:
        AudioError: the message names the coding.
    """
    context = track.codec_context
    codec = "an unknown coding" if context is None else context.codec.canonical_name
    if codec not in (*_UNITS, *_BYTE_CLEANERS, *_PLAIN):
        raise AudioError(
            f"the film's picture is coded as {codec}, from which names, places and dates cannot "
            f"be taken out; re-encode it (as H.264, say), or name an output that ends in .wav "
            f"for the sound alone"
        )


def cleaner(track: Any, copy: Any) -> Cleaner:
    """Cleaner of a picture track; the parameters of ``copy`` are cleaned at once.

    Args:
        track: stream of the film, of a coding that :func:`check` accepts.
        copy: stream of the output, with the parameters of ``track``.
    """
    codec = track.codec_context.codec.canonical_name
    if codec in _UNITS:
        return _units(codec, track, copy)
    byte_cleaner = _BYTE_CLEANERS.get(codec)
    if byte_cleaner is None:
        return lambda packet: [_bare(packet, bytes(packet))]
    context = copy.codec_context
    if context.extradata:
        context.extradata = byte_cleaner(context.extradata) or None
    return lambda packet: [_bare(packet, byte_cleaner(bytes(packet)))]


def _bare(packet: Any, data: bytes) -> Any:
    """Packet with the same times, other bytes and no side data."""
    bare: Any = av.Packet(data)
    bare.pts, bare.dts, bare.duration = packet.pts, packet.dts, packet.duration
    bare.is_keyframe = packet.is_keyframe
    return bare


def _units(codec: str, track: Any, copy: Any) -> Cleaner:
    chain = BitStreamFilterContext(f"filter_units=pass_types={_UNITS[codec]}", track, copy)
    context = copy.codec_context
    context.codec_tag = "\0\0\0\0"  # the output's container has its own
    seldom = _seldom(codec) if codec in _SEI else bytes
    if context.extradata:
        context.extradata = seldom(context.extradata) or None

    def clean(packet: Any) -> list[Any]:
        return [_bare(part, seldom(bytes(part))) for part in chain.filter(packet)]

    return clean


def _seldom(codec: str) -> Callable[[bytes], bytes]:
    """Cleans the SEI units of Annex B byte streams (ITU-T H.264, H.265): recovery points pass."""
    header, mask, shift, kind = _SEI[codec]

    def clean(data: bytes) -> bytes:
        kept = []
        for unit in _split(data):
            body = unit[len(_START) :]
            if unit.startswith(_START) and body and (body[0] >> shift) & mask == kind:
                messages = _recovery_points(body[header:])
                if not messages:
                    continue
                unit = _START + body[:header] + messages
            kept.append(unit)
        return b"".join(kept)

    return clean


def _recovery_points(payload: bytes) -> bytes:
    """Payload with the recovery points of SEI messages only; empty without any."""
    data = payload.replace(b"\x00\x00\x03", b"\x00\x00")
    at, kept = 0, b""
    while at + 2 <= len(data) and data[at:] != b"\x80":
        numbers = []
        for _ in range(2):
            number = 0
            while at < len(data) and data[at] == 0xFF:
                number, at = number + 255, at + 1
            if at >= len(data):
                return b""
            number, at = number + data[at], at + 1
            numbers.append(number)
        kind, size = numbers
        message = data[at : at + size]
        at += size
        if kind == _RECOVERY_POINT and len(message) == size <= _MOST_RECOVERY:
            kept += bytes([kind, size]) + message
    return _escaped(kept + b"\x80") if kept else b""


def _escaped(data: bytes) -> bytes:
    """Inserts emulation prevention bytes into a unit."""
    out, zeros = bytearray(), 0
    for byte in data:
        if zeros >= 2 and byte <= 3:
            out.append(3)
            zeros = 0
        out.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(out)


def _split(data: bytes) -> list[bytes]:
    """Parts of a byte stream between its start codes, including the part before the first."""
    places, at = [], data.find(_START)
    while at >= 0:
        # the zero of a longer start code belongs to it
        places.append(at)
        at = data.find(_START, at + 3)
    edges = [0, *places, len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


def _mpeg(data: bytes) -> bytes:
    """MPEG-1 and -2 (ISO/IEC 13818-2) without user data, which also holds captions."""
    return b"".join(p for p in _split(data) if p[:4] != _START + bytes([_USER_DATA]))


def _mpeg4(data: bytes) -> bytes:
    """MPEG-4 part 2 without user data, but for what decoders need of two encoders."""
    kept = []
    for part in _split(data):
        if part[:4] == _START + bytes([_USER_DATA]):
            known = _ENCODERS_WITH_QUIRKS.match(part, 4)
            if known is None:
                continue
            part = part[:4] + known.group()
        kept.append(part)
    return b"".join(kept)


def _mjpeg(data: bytes) -> bytes:
    """JPEG images without comments and applications' segments, except those that colours need."""
    out, at = bytearray(), data.find(b"\xff\xd8")
    while 0 <= at < len(data) - 3:
        if data[at] != 0xFF:
            break
        mark = data[at + 1]
        if mark == 0xFF:  # fill
            at += 1
        elif mark in (0xD8, 0xD9, 0x01) or 0xD0 <= mark <= 0xD7:
            out += data[at : at + 2]
            at += 2
            if mark == 0xD9:  # interlaced pictures have a second image
                at = data.find(b"\xff\xd8", at)
        else:
            end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            segment = data[at:end]
            if mark == 0xDA:
                end = _scan_end(data, end)
                out += data[at:end]
            elif mark == 0xE0 and segment[4:9] == b"JFIF\0":
                # a thumbnail may follow, which is cut off
                out += b"\xff\xe0\x00\x10" + segment[4:16].ljust(12, b"\0") + b"\0\0"
            elif mark == 0xE0 and segment[4:8] == b"AVI1":
                out += b"\xff\xe0\x00\x10AVI1" + segment[8:9].ljust(1, b"\0") + bytes(9)
            elif mark == 0xEE and segment[4:9] == b"Adobe":
                out += b"\xff\xee\x00\x0e" + segment[4:16].ljust(12, b"\0")
            elif not (0xE0 <= mark <= 0xEF or mark in (0xFE, 0xC8) or mark >= 0xF0):
                out += segment
            at = end
    if data[-2:] == b"\xff\xd9" and out[-2:] != b"\xff\xd9":
        out += b"\xff\xd9"
    return bytes(out)


def _scan_end(data: bytes, at: int) -> int:
    """End of the entropy-coded data of a scan: the next marker other than a restart."""
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        if data[at + 1] and not 0xD0 <= data[at + 1] <= 0xD7:
            return at
        at += 2
    return len(data)


def _prores(data: bytes) -> bytes:
    """ProRes (SMPTE RDD 36) with one encoder's name for all."""
    at = 8 if data[4:8] == b"icpf" else 0
    if len(data) < at + 8:
        return data
    return data[: at + 4] + b"apl0" + data[at + 8 :]


_BYTE_CLEANERS: dict[str, Callable[[bytes], bytes]] = {
    "mpeg1video": _mpeg,
    "mpeg2video": _mpeg,
    "mpeg4": _mpeg4,
    "mjpeg": _mjpeg,
    "prores": _prores,
}
