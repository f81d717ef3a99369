"""Anonymization of a single file: films, and formats that cannot be kept."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest
import soundfile
import torch

from voicenym.anonymizer import load
from voicenym.audio import read
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.errors import AudioError
from voicenym.pseudonym import Key

PSEUDONYM = Key(bytes(32)).pseudonym("ann")
RATE = 16000


@pytest.fixture
def film(tmp_path, buzz):
    """Two seconds of grey pictures with a buzz."""
    samples, _ = soundfile.read(buzz("sound.wav", 2.0), dtype="float32")
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("aac", rate=RATE, layout="mono")
        for i in range(50):
            image = np.full((48, 64, 3), i * 5, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        for start in range(0, len(samples), 1024):
            part = samples[None, start : start + 1024]
            frame = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
            frame.sample_rate, frame.pts = RATE, start
            container.mux(sound.encode(frame))
        container.mux([*video.encode(None), *sound.encode(None)])
    return path


def pictures(source) -> list[bytes]:
    with av.open(source) as container:
        return [bytes(p) for p in container.demux(container.streams.video[0]) if p.size]


def test_sound_that_would_part_from_its_picture_is_refused(film, tmp_path):
    output = tmp_path / "out.mp4"
    with pytest.raises(AudioError, match=r"film\.mp4: has a picture.*leave out --set rate=true"):
        anonymize_file(load("formant", rate=True), PSEUDONYM, film, output)
    assert not output.exists()
    anonymize_file(load("formant"), PSEUDONYM, film, output)
    assert read(output).samples.shape == read(film).samples.shape
    assert pictures(str(output)) == pictures(str(film))


def test_sound_alone_may_change_its_length(tmp_path, buzz):
    source, output = buzz("sound.wav", 2.0), tmp_path / "out.wav"
    anonymize_file(load("formant", rate=True), PSEUDONYM, source, output)
    assert soundfile.info(output).frames != 2 * RATE


@pytest.mark.parametrize("wrapped", [io.BytesIO, lambda data: io.BufferedReader(io.BytesIO(data))])
def test_a_film_from_a_pipe_keeps_its_picture(film, wrapped):
    output = io.BytesIO()
    anonymize_file(load("mcadams"), PSEUDONYM, wrapped(film.read_bytes()), output)
    output.seek(0)
    assert pictures(output) == pictures(str(film))
    output.seek(0)
    assert read(output).samples.shape == read(film).samples.shape


def test_a_film_is_not_written_where_its_picture_would_be_lost(film, tmp_path):
    with pytest.raises(AudioError, match=r"out\.wav: holds no picture.*\.mp4"):
        anonymize_file(load("mcadams"), PSEUDONYM, film, tmp_path / "out.wav")
    assert not (tmp_path / "out.wav").exists()


def test_adts_keeps_the_length_of_adts_and_says_what_it_adds_to_others(tmp_path, buzz):
    source = buzz("sound.wav", 1.0)
    first = anonymize_file(load("mcadams"), PSEUDONYM, source, tmp_path / "one.aac")
    assert "24 ms of silence follow" in first.warnings[0]
    assert ".m4a can" in first.warnings[0]
    assert read(tmp_path / "one.aac").samples.shape == (RATE + 384,)
    second = anonymize_file(load("mcadams"), PSEUDONYM, tmp_path / "one.aac", tmp_path / "two.aac")
    assert second.warnings == ()
    assert read(tmp_path / "two.aac").samples.shape == (RATE + 384,)


def test_sound_of_a_film_keeps_its_timing(film, tmp_path):
    """Lips and words stay together where a system draws the tempo."""
    loose = load("word-codes", language="en")  # a stated language: a buzz is no speech
    kept = load("word-codes", language="en", timing="kept")
    assert (loose.in_sync(), kept.in_sync()) == (kept, kept)
    found = anonymize_file(loose, PSEUDONYM, film, tmp_path / "loose.mp4")
    assert [text for text in found.warnings if "the speaker's timing is kept" in text]
    found = anonymize_file(kept, PSEUDONYM, film, tmp_path / "kept.mp4")
    assert not [text for text in found.warnings if "timing" in text]
    both = [read(tmp_path / name).samples for name in ("loose.mp4", "kept.mp4")]
    assert torch.equal(*both)
    assert pictures(str(tmp_path / "loose.mp4")) == pictures(str(film))
