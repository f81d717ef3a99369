from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress

import pytest
import soundfile

from voicenym.apps.cli.anonymizing.anonymize_inputs import read_inputs
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans.file_plan import check_distinct
from voicenym.corpus.plans.kaldi_plan import read_kaldi
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key


@pytest.fixture
def data(tmp_path, buzz):
    """Two recordings, one of them cut into two utterances of different speakers."""
    folder = tmp_path / "data"
    folder.mkdir()
    one, two = buzz("audio/r1.wav", 2.0), buzz("audio/r2.wav", 1.0)
    (folder / "wav.scp").write_text(f"r1 {one}\nr2 {two}\n")
    (folder / "segments").write_text("u1 r1 0.25 1.0\nu2 r1 1.0 1.75\nu3 r2 0.0 -1\n")
    (folder / "utt2spk").write_text("u1 ann\nu2 bob\nu3 ann\n")
    (folder / "spk2gender").write_text("ann f\nbob m\n")
    (folder / "text").write_text("u1 HELLO\nu2 WORLD\nu3 AGAIN\n")
    return folder


def anonymize(source, output, **options):
    allow_pipes = options.pop("allow_pipes", False)
    corpus = read_inputs([str(source)], output, None, allow_pipes, **options)
    summary = run(Job("mcadams", {}, Key(bytes(32)), log=output / "log.jsonl"), corpus.items)
    corpus.finish(summary)
    return summary


def table(path):
    rows = [line.split(" ", 1) for line in path.read_text().splitlines()]
    assert [r[0] for r in rows] == sorted((r[0] for r in rows), key=str.encode)
    return dict(rows)


def test_a_valid_folder_comes_out(data, tmp_path):
    output = tmp_path / "anon"
    summary = anonymize(data, output, keep=["text"])
    assert summary.done == 3
    assert not summary.failures
    scp = table(output / "wav.scp")
    assert set(scp) == {"u1", "u2", "u3"}
    for name, seconds in (("u1", 0.75), ("u2", 0.75), ("u3", 1.0)):
        assert soundfile.info(scp[name]).duration == pytest.approx(seconds)
    assert table(output / "utt2spk") == {"u1": "ann", "u2": "bob", "u3": "ann"}
    assert table(output / "spk2utt") == {"ann": "u1 u3", "bob": "u2"}
    assert table(output / "spk2gender") == {"ann": "f", "bob": "m"}
    assert table(output / "text")["u2"] == "WORLD"


def part(data, tmp_path, name, *utterances):
    """A data folder with some of the utterances."""
    folder = tmp_path / name
    shutil.copytree(data, folder)
    for table_name in ("segments", "utt2spk", "text"):
        lines = (folder / table_name).read_text().splitlines(keepends=True)
        kept = [line for line in lines if line.split()[0] in utterances]
        (folder / table_name).write_text("".join(kept))
    return folder


def test_a_later_run_keeps_the_rows_of_an_earlier_one(data, tmp_path, command):
    first, second = part(data, tmp_path, "one", "u1", "u2"), part(data, tmp_path, "two", "u3")
    command("key", "new", "k")
    options = ("-o", "anon", "-k", "k", "-s", "mcadams", "--keep", "text", "--workers", "1")
    for source in (first, second, first):
        done = command("anonymize", source, *options)
        assert done.returncode == 0, done.stderr
    output = tmp_path / "anon"
    assert table(output / "utt2spk") == {"u1": "ann", "u2": "bob", "u3": "ann"}
    assert table(output / "spk2utt") == {"ann": "u1 u3", "bob": "u2"}
    assert set(table(output / "wav.scp")) == set(table(output / "text")) == {"u1", "u2", "u3"}
    assert table(output / "spk2gender") == {"ann": "f", "bob": "m"}
    (output / "wav" / "u2.wav").unlink()
    assert command("anonymize", second, *options).returncode == 0
    assert table(output / "utt2spk") == {"u1": "ann", "u3": "ann"}


@pytest.mark.parametrize("name", ["wav.scp", "utt2spk", "spk2utt", "spk2gender"])
def test_tables_of_another_program_are_not_replaced(data, tmp_path, command, name):
    output = tmp_path / "mine"
    output.mkdir()
    content = "me alien\n" if name == "spk2utt" else "alien /x/alien.wav\n"
    (output / name).write_text(content)
    done = command("anonymize", data, "-o", output, "-s", "mcadams", "--workers", "1")
    assert done.returncode == 1
    assert f"mine/{name}: exists already and has alien".encode() in done.stderr
    assert b"--overwrite" in done.stderr
    assert [(p.name, p.read_text()) for p in output.iterdir()] == [(name, content)]
    command("anonymize", data, "-o", output, "-s", "mcadams", "--workers", "1", "--overwrite")
    assert "alien" not in (output / name).read_text()


def test_a_table_that_is_none_is_not_replaced(data, tmp_path, command):
    (tmp_path / "anon").mkdir()
    os.mkfifo(tmp_path / "anon" / "utt2spk")
    done = command("anonymize", data, "-o", "anon", "-s", "mcadams", "--workers", "1")
    assert done.returncode == 1
    assert b"utt2spk: exists already and cannot be read" in done.stderr


def test_transcripts_of_an_earlier_run_do_not_stay_unasked(data, tmp_path):
    output = tmp_path / "anon"
    anonymize(data, output, keep=["text"])
    with pytest.raises(CorpusError, match=r"anon/text: is there.*--keep text"):
        anonymize(data, output)
    assert anonymize(data, output, keep=["text"]).failures == []
    (output / "text").unlink()
    assert anonymize(data, output).failures == []
    assert not (output / "text").exists()


def test_no_original_speech_is_ever_written(data, tmp_path, monkeypatch):
    """Cuts are made in memory: below the output there is only what was anonymized."""
    import voicenym.corpus.batches.batch_task as task

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # no temporary files
    output = tmp_path / "anon"
    seen, sound = [], []

    def spy(*arguments, **options):
        files = [p for p in output.rglob("*") if p.is_file()]
        seen.append({p.name for p in files if not p.name.endswith(".tmp.wav")})
        for path in files:
            with suppress(FileNotFoundError):  # it gets its name meanwhile
                sound.extend([path.read_bytes()] if path.name.endswith(".wav") else [])
        return real(*arguments, **options)

    real = task.anonymize_unnamed
    monkeypatch.setattr(task, "anonymize_unnamed", spy)
    anonymize(data, output)
    assert len(seen) == 3
    assert set().union(*seen) <= {".voicenym.lock", "log.jsonl", "u1.wav", "u2.wav", "u3.wav"}
    # outputs that have no name yet are anonymized, too
    first, _ = soundfile.read(tmp_path / "audio/r1.wav", dtype="int16")
    assert sound
    for place in range(4000, 16000, 1000):
        assert not any(first[place : place + 200].tobytes() in one for one in sound)
    for name in ("u1", "u2"):
        anonymous, _ = soundfile.read(output / "wav" / f"{name}.wav")
        original, _ = soundfile.read(tmp_path / "audio/r1.wav")
        assert abs(anonymous - original[4000:16000]).max() > 0.01


def test_a_cut_keeps_its_bits(data, tmp_path):
    samples, rate = soundfile.read(tmp_path / "audio/r1.wav")
    soundfile.write(tmp_path / "audio/r1.wav", samples, rate, subtype="PCM_24")
    anonymize(data, tmp_path / "anon")
    kinds = [soundfile.info(tmp_path / f"anon/wav/{u}.wav").subtype for u in ("u1", "u3")]
    assert kinds == ["PCM_24", "PCM_16"]


def test_the_recording_that_is_cut_is_never_overwritten(data, tmp_path):
    anon = tmp_path / "anon"
    (anon / "wav").mkdir(parents=True)
    (tmp_path / "audio/r1.wav").rename(anon / "wav/u1.wav")
    (data / "wav.scp").write_text(f"r1 {anon}/wav/u1.wav\nr2 {tmp_path}/audio/r2.wav\n")
    with pytest.raises(CorpusError, match=r"u1.wav"):
        check_distinct(read_kaldi(data, anon).items)
    with pytest.raises(CorpusError, match="the data folder itself"):
        read_kaldi(data, data)


def test_a_recording_that_ends_before_its_utterance_is_refused(data, tmp_path):
    (data / "segments").write_text("u1 r1 0.25 2.3\nu2 r1 1.0 2.75\nu3 r2 5.0 6.0\n")
    summary = anonymize(data, tmp_path / "anon")
    assert summary.done == 1  # half a second beyond the end is Kaldi's tolerance
    assert [("u2" in s, "r1.wav: ends before u2" in r) for s, r in summary.failures[:1]] == [
        (True, True)
    ]
    assert "r2.wav: ends before u3" in summary.failures[1][1]


def test_failed_utterances_are_in_no_table(data, tmp_path):
    silent = tmp_path / "audio/r2.wav"
    soundfile.write(silent, [0.0] * 16000, 16000)
    output = tmp_path / "anon"
    summary = anonymize(data, output, keep=["text"])
    assert len(summary.failures) == 1
    for name in ("wav.scp", "utt2spk", "text"):
        assert set(table(output / name)) == {"u1", "u2"}


def test_commands_are_refused_unless_allowed(data, tmp_path):
    one = tmp_path / "audio/r1.wav"
    (data / "wav.scp").write_text(f"r1 cat {one} |\nr2 {tmp_path}/audio/r2.wav\n")
    with pytest.raises(CorpusError, match="--allow-pipes"):
        read_kaldi(data, tmp_path / "anon")
    assert anonymize(data, tmp_path / "anon", allow_pipes=True).done == 3


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("utt2spk", "u1 ann\nu2 bob\n", "no speaker for u3"),
        ("utt2spk", "u1 ann\nu1 bob\nu2 bob\nu3 ann\n", "second time"),
        ("segments", "u1 r9 0 1\n", "r9"),
        ("segments", "u1 r1 2 1\n", "before it ends"),
        ("segments", "u1 r1 soon\n", "two times"),
        ("wav.scp", "r1\n", "a name and a value"),
    ],
)
def test_folders_that_do_not_hold_together_are_refused(name, content, word, data, tmp_path):
    (data / name).write_text(content)
    with pytest.raises(CorpusError, match=word) as caught:
        read_kaldi(data, tmp_path / "anon")
    assert name in str(caught.value)


def test_a_missing_utt2spk_is_named(data, tmp_path):
    (data / "utt2spk").unlink()
    with pytest.raises(CorpusError, match="utt2spk: missing"):
        read_kaldi(data, tmp_path / "anon")
