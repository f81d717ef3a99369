"""Everything that a file holds beside its sound is found."""

from __future__ import annotations

import struct
import subprocess

import numpy as np
import pytest
import soundfile

import voicenym
from voicenym.publication.embedded_metadata import embedded


@pytest.fixture
def wave(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, 0.1 * np.sin(np.arange(16000) / 9), 16000, "PCM_16")
    return path


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".mp3", ".m4a", ".ogg", ".opus", ".mka"])
def test_what_voicenym_writes_holds_sound_alone(wave, suffix):
    path = wave.with_name(f"out{suffix}")
    voicenym.write(path, voicenym.read(wave))
    assert embedded(path) == ()


@pytest.mark.parametrize("name", [b"bext", b"iXML", b"id3 ", b"_PMX", b"cart", b"junk"])
def test_a_chunk_of_a_studio_is_named(wave, name):
    data = bytearray(wave.read_bytes()) + name + struct.pack("<I", 10) + b"Anna Smith"
    data[4:8] = struct.pack("<I", len(data) - 8)
    wave.write_bytes(data)
    assert any(repr(name.decode()) in one for one in embedded(wave))


def test_bytes_after_the_sound_are_named(wave):
    wave.write_bytes(wave.read_bytes() + b"anna")
    assert embedded(wave) == ("4 bytes after its last chunk",)


def test_padding_that_holds_something_is_named(wave):
    data = bytearray(wave.read_bytes()) + b"JUNK" + struct.pack("<I", 4) + b"anna"
    wave.write_bytes(data)
    assert embedded(wave) == ("a chunk 'JUNK' of 4 bytes that is not empty",)
    wave.write_bytes(data[:-4] + bytes(4))
    assert embedded(wave) == ()


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *map(str, arguments)], check=True)


@pytest.mark.parametrize("suffix", [".flac", ".mp3", ".m4a", ".ogg", ".mka"])
def test_tags_are_named(wave, suffix):
    path = wave.with_name(f"tagged{suffix}")
    ffmpeg("-i", wave, "-metadata", "title=Anna Smith", path)
    assert any("Anna Smith" in one for one in embedded(path))


def test_a_picture_is_named(wave):
    picture, path = wave.with_name("a.png"), wave.with_name("a.mp3")
    ffmpeg("-f", "lavfi", "-i", "color=red:s=16x16", "-frames:v", "1", picture)
    ffmpeg("-i", wave, "-i", picture, "-map", "0", "-map", "1", "-c:v", "copy", path)
    assert "a picture or a film" in embedded(path)


def test_chapters_are_named(wave):
    text, path = wave.with_name("a.txt"), wave.with_name("a.mka")
    chapter = "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=Anna\n"
    text.write_text(f";FFMETADATA1\n{chapter}")
    ffmpeg("-i", wave, "-i", text, "-map_metadata", "1", path)
    assert any("1 chapter" in one for one in embedded(path))
