# ruff: noqa: PT012 - the body of the context is what is tested
"""Atomic writing: files get their name when complete; failures leave no file."""

import errno
import io
import os

import numpy as np
import pytest
import torch

from voicenym.audio import Audio, Format, open_reader, open_writer, read, write
from voicenym.errors import AudioError

try:
    import resource
except ImportError:  # Windows
    resource = None

EXTENSIONS = ["wav", "flac", "ogg", "opus", "mp3", "m4a", "mkv", "webm", "aac"]


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing(tmp_path, extension, error):
    with (
        pytest.raises(error),
        open_writer(tmp_path / f"a.{extension}", None, 48000, 1) as writer,
    ):
        writer.write(np.zeros((1, 50000), np.float32))
        assert [p.name.startswith(".voicenym-") for p in tmp_path.iterdir()] == [True]
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_success_leaves_one_file_with_the_usual_mode(tmp_path, extension):
    path = tmp_path / f"a.{extension}"
    write(path, Audio(torch.zeros(5000), 48000))
    (tmp_path / "usual").touch()
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, "usual"]
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"precious")
    audio = Audio(torch.zeros(100), 8000)
    with pytest.raises(AudioError, match="exists already"):
        write(path, audio)
    assert path.read_bytes() == b"precious"
    write(path, audio, overwrite=True)
    assert read(path).samples.shape == (100,)


def test_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "a.wav"
    with pytest.raises(AudioError, match="exists already"), open_writer(path, None, 8000, 1) as w:
        w.write(np.zeros((1, 10), np.float32))
        path.write_bytes(b"precious")
    assert [p.name for p in tmp_path.iterdir()] == ["a.wav"]
    assert path.read_bytes() == b"precious"


def test_a_full_disk_is_named_and_leaves_no_file(tmp_path, monkeypatch):
    from voicenym.audio.sinks import wav_sink

    def full(self, block):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(wav_sink.WavSink, "write", full)
    with pytest.raises(AudioError, match=r"a\.wav: the disk is full"):
        write(tmp_path / "a.wav", Audio(torch.zeros(10), 8000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(resource is None, reason="no limit of the size of files here")
@pytest.mark.parametrize("extension", [*EXTENSIONS, "w64", "mov"])
@pytest.mark.parametrize("most", [0, 900, 9_000])
def test_a_disk_that_fills_up_is_an_error_and_nothing_is_printed(most, extension, tmp_path, capfd):
    noise = Audio(0.5 * torch.randn(96_000, generator=torch.Generator().manual_seed(0)), 48000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        with pytest.raises(AudioError, match=rf"a\.{extension}: the disk is full"):
            write(tmp_path / f"a.{extension}", noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["a.txt", "a", "a.amr"])
def test_an_unknown_extension_is_refused_with_those_that_can_be_written(tmp_path, name):
    with pytest.raises(AudioError, match=r"\.wav"):
        write(tmp_path / name, Audio(torch.zeros(10), 8000))


def test_no_folder_and_bad_blocks(tmp_path):
    with pytest.raises(AudioError, match="create the folder"):
        write(tmp_path / "no" / "a.wav", Audio(torch.zeros(10), 8000))
    with pytest.raises(AudioError, match="NaN"):
        write(tmp_path / "a.wav", Audio(torch.tensor([float("nan")]), 8000))
    with pytest.raises(AudioError, match="3 channels"):
        write(tmp_path / "a.mp3", Audio(torch.zeros(3, 10), 8000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("container", ["wav", "flac", "mp3", "ogg"])
def test_file_objects_take_each_container_whole(container):
    stream = io.BytesIO()
    form = Format(container, {"wav": "pcm_s16le", "ogg": "vorbis"}.get(container, container))
    write(stream, Audio(torch.zeros(2, 7000), 16000, form))
    stream.seek(0)
    with open_reader(stream) as reader:
        assert sum(b.shape[1] for b in reader.blocks(512)) == 7000
        assert reader.format.container == container
