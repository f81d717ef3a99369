"""Commands in a Kaldi ``wav.scp`` run only with the user's permission."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import Transform
from voicenym.errors import CorpusError

SECONDS = 1


@pytest.fixture
def piped(tmp_path, monkeypatch):
    """A data folder whose recordings are printed by commands that leave a mark, and the mark."""
    folder, mark = tmp_path / "data", tmp_path / "executed"
    folder.mkdir()
    scp, speakers, texts = [], [], []
    time = np.arange(16_000 * SECONDS) / 16_000
    for speaker in "ab":
        for take in "123":
            name = f"{speaker}-{take}"
            sound = 0.1 * np.sin(2 * np.pi * (100 + 40 * ord(speaker) + 7 * int(take)) * time)
            soundfile.write(tmp_path / f"{name}.wav", sound, 16_000)
            scp.append(f"{name} touch {mark}; cat {tmp_path / name}.wav |")
            speakers.append(f"{name} {speaker}")
            texts.append(f"{name} the cat")
    (folder / "wav.scp").write_text("\n".join(scp) + "\n")
    (folder / "utt2spk").write_text("\n".join(speakers) + "\n")
    (folder / "text").write_text("\n".join(texts) + "\n")
    (folder / "spk2gender").write_text("a f\nb f\n")
    return folder, mark


BOTH = ["--original", "{plain}", "--anonymized", "{data}"]
COMMANDS = {
    "anonymize": ["anonymize", "{data}", "-o", "out", "-s", "vtln"],
    "evaluate": ["evaluate", "{data}", "-o", "out", "-s", "vtln"],
    "evaluate --pool": ["evaluate", "{plain}", "--pool", "{data}", "-o", "out", "-s", "vtln"],
    "evaluate --anonymized": [
        "evaluate",
        "--original",
        "{plain}",
        "--anonymized",
        "{data}",
        "-o",
        "out",
    ],
    "audit --pool": ["audit", "{one}", "{one}", "--pool", "{data}"],
    "pool build": ["pool", "build", "{data}", "-o", "out"],
    "train ubm": ["train", "ubm", "-d", "{data}", "-o", "out"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_a_pipe_that_nobody_allowed(name, piped, command, tmp_path):
    data, mark = piped
    plain = tmp_path / "plain"
    for path in tmp_path.glob("*-*.wav"):
        target = plain / path.name[0] / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    places = {"data": data, "plain": plain, "one": tmp_path / "a-1.wav"}
    found = command(*(part.format(**places) for part in COMMANDS[name]))
    printed = found.stderr.decode()
    assert found.returncode != 0
    assert "Traceback" not in printed
    assert not mark.exists(), "the command has run"
    assert "--allow-pipes" in printed, printed


def test_every_reader_of_corpora_has_the_option():
    """The commands above that read corpora, by their help."""
    from typer.testing import CliRunner

    from voicenym.apps.cli import app

    for words in (["anonymize"], ["evaluate"], ["audit"], ["pool", "build"], ["train", "ubm"]):
        printed = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).output
        assert "--allow-pipes" in printed, words


def test_a_pipe_that_is_allowed_is_read_like_a_file(piped, tmp_path):
    data, mark = piped
    with pytest.raises(CorpusError, match=r"is a command.*add --allow-pipes"):
        recordings(data)
    found = recordings(data, allow_pipes=True)
    assert not mark.exists(), "listing runs nothing"
    assert [r.name for r in found] == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3"]
    expected, _ = soundfile.read(tmp_path / "a-1.wav", dtype="float32")
    np.testing.assert_allclose(found[0].samples(), expected, atol=1e-4)
    assert mark.exists()
    other = tmp_path / "files"
    other.mkdir()
    (other / "wav.scp").write_text(f"a-1 {tmp_path / 'a-1.wav'}\n")
    (other / "utt2spk").write_text("a-1 a\n")
    file = recordings(other)[0]
    same = Transform()
    assert same.identity(found[0]) == same.identity(file), "caches know it as the same recording"


def test_a_pipe_that_fails_is_named(piped):
    data, _ = piped
    (data / "wav.scp").write_text("a-1 echo no such disc >&2; exit 3 |\n")
    (one,) = recordings(data, allow_pipes=True)
    with pytest.raises(CorpusError, match=r"failed: no such disc"):
        one.samples()
