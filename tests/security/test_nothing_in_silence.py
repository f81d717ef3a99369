"""Every file of a folder is read, or named with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from voicenym.anonymizer import load
from voicenym.audio import Format, open_reader, open_writer, read
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.corpus.plans.file_plan import beside, plan
from voicenym.corpus.readers import folder_walk
from voicenym.errors import AudioError
from voicenym.pseudonym import Key

RATE = 16_000


def say(seconds: float = 2.0, rate: int = RATE) -> np.ndarray:
    """A buzz in syllables."""
    time = np.arange(round(seconds * rate)) / rate
    tone = sum(np.sin(2 * np.pi * 130 * k * time) / k for k in range(1, 20))
    return (0.1 * tone * np.clip(np.sin(2 * np.pi * 3 * time), 0, 1)).astype(np.float32)


def record(path: Path, codec: str, rate: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=rate, layout="mono")
        if codec.startswith("wma"):
            stream.bit_rate = 32_000
        changer = av.AudioResampler(
            stream.codec_context.format, "mono", rate, frame_size=stream.frame_size or 1024
        )
        frame = av.AudioFrame.from_ndarray(say(rate=rate)[None], format="fltp", layout="mono")
        frame.sample_rate = rate
        for part in [*changer.resample(frame), *changer.resample(None)]:
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))


KINDS = [
    ("a.amr", "libopencore_amrnb", 8000, "wav"),
    ("a.3gp", "libopencore_amrnb", 8000, "3gp"),
    ("a.wma", "wmav2", 44_100, "wav"),
    ("a.ac3", "ac3", 48_000, "wav"),
    ("a.tta", "tta", RATE, "wav"),
    ("a.wv", "wavpack", RATE, "wav"),
    ("a.voc", "pcm_u8", 8000, "wav"),
    ("a.mp2", "mp2", 48_000, "wav"),
    ("a.caf", "pcm_s16le", RATE, "caf"),
    ("a.aiff", "pcm_s16be", RATE, "aiff"),
    ("a.au", "pcm_s16be", 8000, "au"),
    ("a.w64", "pcm_s24le", RATE, "w64"),
    ("a.avi", "mp3", 48_000, "matroska"),
    ("a.flv", "mp3", 44_100, "matroska"),
    ("a.ts", "mp2", 48_000, "matroska"),
]


@pytest.mark.parametrize(("name", "codec", "rate", "container"), KINDS)
def test_further_kinds_are_read_and_written(tmp_path, name, codec, rate, container):
    record(tmp_path / "in" / name, codec, rate)
    [item] = plan([tmp_path / "in"], tmp_path / "out")
    item.target.parent.mkdir()
    anonymize_file(load("mcadams"), Key(bytes(32)).pseudonym("ann"), item.source, item.target)
    before, after = read(item.source), read(item.target)
    assert before.samples.shape[-1] >= 2 * rate * 0.99
    assert after.format.container == container
    assert (after.rate, after.samples.shape) == (before.rate, before.samples.shape)
    assert abs(before.samples - after.samples).max() > 0.01


@pytest.mark.parametrize("bits", [16, 24, 32])
@pytest.mark.parametrize("extension", ["aif", "au", "caf", "w64"])
def test_bits_are_kept(tmp_path, extension, bits):
    path = tmp_path / f"a.{extension}"
    samples = say()[None]
    with open_writer(path, Format("wav", f"pcm_s{bits}le"), RATE, 1) as writer:
        writer.write(samples)
    with open_reader(path) as reader:
        assert reader.format.codec[:-2] == f"pcm_s{bits}"
        found = np.concatenate(list(reader.blocks(5000)), axis=1)
        assert np.abs(found - samples).max() <= 2.0 ** (1 - min(bits, 24))
        with open_writer(tmp_path / f"b.{extension}", reader.format, RATE, 1) as writer:
            writer.write(found)
    assert (tmp_path / f"b.{extension}").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["a.tta", "a.wv", "a.caf", "a.aiff", "a.au", "a.w64", "a.avi",
                                  "a.wma", "a.amr", "a.3gp"])  # fmt: skip
@pytest.mark.parametrize("share", [0.3, 0.6, 0.97])
def test_a_missing_end_is_seen_in_them_too(tmp_path, name, share):
    codec, rate = next((c, r) for n, c, r, _ in KINDS if n == name)
    path = tmp_path / name
    record(path, codec, rate)
    data = path.read_bytes()
    size = int(len(data) * share)
    path.write_bytes(data[: size - size % 2 + 1])  # not between two frames
    with pytest.raises(AudioError, match="whole copy"):
        read(path)


def test_what_cannot_be_written_is_refused_with_the_cure(tmp_path):
    for name, cure in (("a.amr", r"\.wav"), ("a.wma", r"\.wav"), ("a.avi", r"\.mkv")):
        with pytest.raises(AudioError, match=rf"{name}: cannot write.*ends in {cure}"):
            open_writer(tmp_path / name, None, RATE, 1)
    assert beside(Path("x/call.AMR")) == Path("x/call.anon.wav")
    assert beside(Path("x/call.m4a")) == Path("x/call.anon.m4a")


@pytest.fixture
def folder(tmp_path):
    """What people send: recordings, and all that lies beside them."""
    root = tmp_path / "in"
    soundfile.write(_new(root / "ann/good.wav"), say(), RATE)
    record(root / "ann/call.amr", "libopencore_amrnb", 8000)
    soundfile.write(_new(tmp_path / "elsewhere.wav"), say(), RATE)
    soundfile.write(
        root / "ann/noise.wav", 0.01 * np.random.default_rng(0).normal(size=32_000), RATE
    )
    _new(root / "ann/memo.gsm").write_bytes(bytes(330))
    _new(root / "ann/notes.txt").write_text("hello")
    _new(root / "metadata.csv").write_text("file_name,speaker_id\nann/good.wav,ann\n")
    _new(root / "ann/.hidden.wav").write_bytes(b"RIFF")
    _new(root / ".cache/x.wav").write_bytes(b"RIFF")
    (root / "ann/away.wav").symlink_to(tmp_path / "elsewhere.wav")
    (root / "ann/inside.wav").symlink_to("good.wav")
    (root / "ann/broken.wav").symlink_to("nothing.wav")
    (root / "ann/circle.wav").symlink_to("circle.wav")
    (root / "all").symlink_to(root)
    os.mkfifo(root / "ann/pipe.wav")
    (root / "ann/good.wav").rename(root / "ann/good.wav")
    _new(root / "ann/REC0001").write_bytes((root / "ann/good.wav").read_bytes())
    return root


def _new(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


LEFT = {
    "UNREAD": {"memo.gsm"},
    "MISNAMED": {"REC0001"},
    "LINK": {"away.wav", "broken.wav", "circle.wav", "all"},
    "SPECIAL": {"pipe.wav"},
    "TABLE": {"metadata.csv"},
    "HIDDEN": {".hidden.wav", ".cache"},
    "OTHER": {"notes.txt"},
}


def test_every_file_is_taken_or_accounted_for(folder, tmp_path):
    found = folder_walk.walk(folder)
    assert [p.name for p in found.recordings] == ["call.amr", "good.wav", "inside.wav", "noise.wav"]
    reasons: dict[str, set[str]] = {}
    for part in found.skipped:
        reasons.setdefault(part.reason.name, set()).add(part.path.name)
    assert reasons == LEFT
    assert {p.name for p in folder_walk.walk(folder, links=True).recordings} >= {"away.wav"}


def test_few_of_many_other_files_are_named_and_all_when_asked(tmp_path):
    for i in range(30):
        (tmp_path / f"{i:02}.txt").write_text("x")
    parts = folder_walk.skipped([tmp_path], None)
    [line] = folder_walk.report(parts)
    assert "30 files were not taken" in line
    assert "04.txt and 25 more, which --dry-run names" in line
    assert all(f"{i:02}.txt" in folder_walk.report(parts, every=True)[0] for i in range(30))


def test_the_command_says_all_of_it(command, folder, tmp_path):
    for more in (["--dry-run"], []):
        done = command("anonymize", folder, "-o", tmp_path / "out", *more)
        messages = done.stderr.decode()
        assert done.returncode == 0, messages
        for name in [name for names in LEFT.values() for name in names]:
            assert name in messages
        assert "become .wav" in messages
        assert "call.amr" in messages
    assert "noise.wav: no speech was found" in messages
    assert "good.wav: no speech" not in messages
    assert sorted(p.name for p in (tmp_path / "out/ann").iterdir()) == [
        "call.wav", "good.wav", "inside.wav", "noise.wav",
    ]  # fmt: skip
