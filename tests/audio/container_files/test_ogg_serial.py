"""Serial numbers of Ogg pages, and their checksums against a direct computation (RFC 3533)."""

import struct

import numpy as np
import pytest
import soundfile
import torch

from voicenym.audio import Audio, write
from voicenym.audio.container_files import ogg_serial


def pages(data: bytes):
    place = 0
    while place < len(data):
        assert data[place : place + 4] == b"OggS"
        count = data[place + 26]
        length = 27 + count + sum(data[place + 27 : place + 27 + count])
        yield data[place : place + length]
        place += length


def checksum(page: bytes) -> int:
    crc = 0
    for byte in page[:22] + bytes(4) + page[26:]:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7) & 0xFFFFFFFF if crc >> 31 else crc << 1
    return crc


@pytest.mark.parametrize("seconds", [0.05, 3.0])
def test_all_pages_are_of_stream_zero_and_whole(tmp_path, seconds):
    samples = 0.1 * np.random.default_rng(0).standard_normal(round(16_000 * seconds))
    path = tmp_path / "a.ogg"
    soundfile.write(path, samples, 16_000, format="OGG", subtype="VORBIS")
    before = list(pages(path.read_bytes()))
    assert before[0][14:18] != bytes(4)
    ogg_serial.reset(path)
    after = list(pages(path.read_bytes()))
    assert len(after) == len(before) > 2
    for old, new in zip(before, after, strict=True):
        assert new[14:18] == bytes(4)
        assert struct.unpack_from("<I", new, 22)[0] == checksum(new)
        assert (new[:14], new[18:22], new[26:]) == (old[:14], old[18:22], old[26:])


def test_two_writes_are_the_same_bytes(tmp_path):
    audio = Audio(torch.linspace(-0.5, 0.5, 40_000), 16_000)
    for name in ("a.ogg", "b.ogg"):
        write(tmp_path / name, audio)
    assert (tmp_path / "a.ogg").read_bytes() == (tmp_path / "b.ogg").read_bytes()
    assert soundfile.info(tmp_path / "a.ogg").frames == 40_000
