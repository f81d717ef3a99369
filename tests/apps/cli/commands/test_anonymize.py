"""``voicenym anonymize`` on real files: outputs, and messages on bad input."""

from __future__ import annotations

import builtins
import errno
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
import soundfile

from voicenym.corpus import recording_checks
from voicenym.pseudonym import Key


def leftovers(folder):
    return [p for p in folder.rglob("*") if ".voicenym" in p.name or p.suffix == ".tmp"]


def refused(process, *words: str) -> None:
    """One clear line, a status other than zero, no traceback."""
    message = process.stderr.decode()
    assert process.returncode != 0
    assert "Traceback" not in message
    assert "error" in message
    for word in words:
        assert word in message, message


def test_one_file_gets_a_name_beside_it_and_an_honest_message(command, speech, tmp_path):
    source = speech("interview.wav")
    process = command("anonymize", "interview.wav")
    assert process.returncode == 0, process.stderr.decode()
    original, rate = soundfile.read(source)
    result, out_rate = soundfile.read(tmp_path / "interview.anon.wav")
    assert (len(result), out_rate) == (len(original), rate)
    assert np.abs(result - original).max() > 0.02
    message = process.stderr.decode()
    for words in ("system:", "protects against", "does not protect", "nobody", "--key"):
        assert words in message
    for words in (
        "wrote interview.anon.wav",
        "strongest attacker measured",
        "EER",
        "WER",
        "DNSMOS",
    ):
        assert words in message
    quiet = command("anonymize", "interview.wav", "-o", "quiet.wav", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")


def test_the_summary_claims_no_protection_of_a_system_that_refused(command, speech):
    process = command("anonymize", speech("a.wav"), "-s", "word-codes", "--language", "de")
    message = process.stderr.decode()
    assert process.returncode == 0, message
    assert "fall-back, of 1 of 1 recordings: recast" in message
    assert "system: word-codes" not in message


def test_a_key_gives_the_same_bytes_for_any_workers_and_order(command, speech, tmp_path):
    for name in ("ann/1.wav", "ann/2.wav", "bob/1.wav"):
        speech(f"corpus/{name}", seconds=0.6)
    assert command("key", "new", "project.key").returncode == 0
    for output, workers in (("one", 1), ("two", 2)):
        process = command(
            "anonymize", "corpus", "-o", output, "--key", "project.key", "-j", workers
        )
        assert process.returncode == 0, process.stderr.decode()
    for name in ("ann/1.wav", "ann/2.wav", "bob/1.wav"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    bob = ["anonymize", "corpus/bob/1.wav", "--key", "project.key", "--speaker", "bob"]
    assert command(*bob, "-o", "b.wav").returncode == 0
    assert (tmp_path / "b.wav").read_bytes() == (tmp_path / "one/bob/1.wav").read_bytes()
    other = command(*bob, "-o", "c.wav", "--per", "utterance")
    assert other.returncode == 0
    assert (tmp_path / "c.wav").read_bytes() != (tmp_path / "b.wav").read_bytes()


def test_the_key_can_come_from_the_environment(command, speech, tmp_path):
    speech("x.wav", seconds=0.5)
    Key(bytes(32)).save(tmp_path / "k")
    for output in ("1.wav", "2.wav"):
        done = command("anonymize", "x.wav", "-o", output, VOICENYM_KEY_FILE=str(tmp_path / "k"))
        assert done.returncode == 0
    assert (tmp_path / "1.wav").read_bytes() == (tmp_path / "2.wav").read_bytes()


def test_without_a_key_every_run_gives_another_voice(command, speech, tmp_path):
    speech("x.wav", seconds=0.5)
    for output in ("1.wav", "2.wav"):
        assert command("anonymize", "x.wav", "-o", output).returncode == 0
    assert (tmp_path / "1.wav").read_bytes() != (tmp_path / "2.wav").read_bytes()


@pytest.mark.parametrize("inputs", [("x.wav",), ("x.wav", "y.wav")])
def test_standard_output_needs_standard_input(inputs, command):
    done = command("anonymize", *inputs, "-o", "-")
    given = "FILE" if len(inputs) > 1 else "x.wav"
    refused(done, f"-o - (standard output) needs - as the input: voicenym anonymize - < {given}")


@pytest.mark.parametrize(
    "option",
    ["--dry-run", "--per utterance", "--rename", "--mapping m", "--keep text", "--speaker-level 1"],
)
def test_options_of_files_are_refused_on_standard_input(option, command):
    """``--dry-run`` would otherwise write a recording."""
    done = command("anonymize", "-", *option.split(), input=b"")
    refused(done, "is for files and folders, and not for -")
    assert not done.stdout


def test_standard_input_to_standard_output(command, process, speech, tmp_path):
    data = speech("call.wav", seconds=0.7).read_bytes()
    done = process("anonymize", "-", input=data)
    assert done.returncode == 0, done.stderr.decode()
    (tmp_path / "out.wav").write_bytes(done.stdout)
    assert (
        soundfile.info(tmp_path / "out.wav").frames == soundfile.info(tmp_path / "call.wav").frames
    )
    refused(command("anonymize", "-", input=b""), "standard input")
    broken = command("anonymize", "-", input=data[:30])
    refused(broken, "standard input: ")
    assert broken.stdout == b""


def test_a_second_run_skips_what_is_complete_and_does_the_rest(command, speech, tmp_path):
    for name in ("a/1.wav", "a/2.wav"):
        speech(f"c/{name}", seconds=0.5)
    command("key", "new", "k")
    first = command("anonymize", "c", "-o", "out", "--key", "k")
    assert first.returncode == 0
    whole = (tmp_path / "out/a/1.wav").read_bytes()
    (tmp_path / "out/a/1.wav").unlink()
    second = command("anonymize", "c", "-o", "out", "--key", "k")
    assert second.returncode == 0, second.stderr.decode()
    assert "1 anonymized, 1 already done" in second.stderr.decode()
    assert (tmp_path / "out/a/1.wav").read_bytes() == whole


def test_resuming_with_another_key_is_refused(command, speech):
    speech("c/a/1.wav", seconds=0.5)
    assert command("anonymize", "c", "-o", "out").returncode == 0
    refused(command("anonymize", "c", "-o", "out"), "another key", "--overwrite")


def test_one_bad_file_does_not_stop_the_rest(command, speech, tmp_path):
    speech("c/a/1.wav", seconds=0.5)
    (tmp_path / "c/a/bad.wav").write_bytes(b"not audio at all" * 100)
    speech("c/a/z.wav", seconds=0.5)
    process = command("anonymize", "c", "-o", "out")
    refused(process, "bad.wav")
    assert (tmp_path / "out/a/1.wav").is_file()
    assert (tmp_path / "out/a/z.wav").is_file()
    assert not (tmp_path / "out/a/bad.wav").exists()


def test_progress_is_lines_where_there_is_no_terminal(command, speech):
    for name in ("1", "2"):
        speech(f"c/a/{name}.wav", seconds=0.5)
    lines = command("anonymize", "c", "-o", "out", "-s", "mcadams").stderr.decode().splitlines()
    for number, line in enumerate(lines[:2], 1):
        pattern = rf"\[{number}/2\] out/a/{number}\.wav \(\d+ x real time, \d+ s left\)"
        assert re.fullmatch(pattern, line), line


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_a_bar_on_a_terminal(speech, tmp_path):
    import pty

    for name in ("1", "2"):
        speech(f"c/a/{name}.wav", seconds=0.5)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "voicenym", "anonymize", "c", "-o", "out", "-s", "mcadams"],
        cwd=tmp_path,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # how a pseudo-terminal says that its other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    os.close(ours)
    text = shown.decode()
    assert "anonymizing" in text
    for done in ("x real time", "0/2", "2/2", "0:00:00", "2 anonymized"):
        assert done in text, text
    assert "[1/2]" not in text


def test_dry_run_writes_nothing(command, speech, tmp_path):
    speech("c/a/1.wav", seconds=0.5)
    process = command("anonymize", "c", "-o", "out", "--dry-run")
    assert process.returncode == 0
    assert b"c/a/1.wav" in process.stdout
    assert not (tmp_path / "out").exists()


def test_renamed_files_tell_no_name_anywhere(command, speech, tmp_path):
    speech("c/janedoe/interviewone.wav", seconds=0.5)
    (tmp_path / "c/janedoe/brokenjane.wav").write_bytes(b"x" * 50)
    command("key", "new", "k")
    command("anonymize", "c", "-o", "out", "--rename", "--key", "k")
    found = list((tmp_path / "out").rglob("*.wav"))
    assert len(found) == 1
    for path in (tmp_path / "out").rglob("*"):
        for name in ("jane", "interview"):
            assert name not in path.name
            if path.is_file():
                assert name.encode() not in path.read_bytes()


def test_the_log_says_what_was_done_and_never_the_key(command, speech, tmp_path):
    speech("c/a/1.wav", seconds=0.5)
    command("key", "new", "k")
    secret = (tmp_path / "k").read_text().split()[1]
    assert command("anonymize", "c", "-o", "out", "-k", "k", "-s", "mcadams").returncode == 0
    text = (tmp_path / "out/voicenym.jsonl").read_text()
    line = json.loads(text)
    assert line["system"] == "mcadams"
    assert line["parameters"]["order"] == 20
    assert line["duration"] == pytest.approx(0.5)
    assert len(line["sha256"]) == 64
    assert secret not in text


def test_parameters_can_be_set_and_wrong_ones_are_named(command, speech):
    speech("x.wav", seconds=0.3)
    done = command("anonymize", "x.wav", "-s", "mcadams", "--set", "low=0.8", "--set", "high=0.8")
    assert done.returncode == 0, done.stderr.decode()
    refused(command("anonymize", "x.wav", "-s", "mcadams", "--set", "wide=1"), "radius")
    refused(command("anonymize", "x.wav", "-s", "mcadams", "--set", "order=many"), "whole number")
    refused(command("anonymize", "x.wav", "-s", "mcadams", "--strength", "0.5"), "has no parameter")
    refused(command("anonymize", "x.wav", "-s", "nosuch"), "mcadams", "recast")
    cloaked = ["anonymize", "x.wav", "--overwrite", "-s", "vcloak"]
    refused(command(*cloaked, "--epsilon", "0.5"), "epsilon must be from 0.005 to 0.15")
    refused(command(*cloaked, "--epsilon", "0.05", "--target", "x.wav"), "too short for a target")


# Bad input: each refused with a message that names the file, and no byte at the output's name.


def make_bad(kind: str, path, speech) -> None:
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "not audio":
        path.write_text("Dear editor, " * 200)
    elif kind == "truncated":
        whole = speech("whole.wav").read_bytes()
        path.write_bytes(whole[: len(whole) // 2 + 1])
    elif kind == "header only":
        path.write_bytes(speech("whole.wav").read_bytes()[:20])
    elif kind in ("zero channels", "zero rate"):
        data = bytearray(speech("whole.wav").read_bytes())
        at = data.index(b"fmt ") + 8
        if kind == "zero channels":
            data[at + 2 : at + 4] = struct.pack("<H", 0)
        else:
            data[at + 4 : at + 8] = struct.pack("<I", 0)
        path.write_bytes(bytes(data))
    elif kind in ("nan", "infinity"):
        samples = np.zeros(8000, np.float32)
        samples[4000] = np.nan if kind == "nan" else np.inf
        soundfile.write(path, samples, 16000, subtype="FLOAT")
    elif kind == "silent":
        soundfile.write(path, np.zeros(16000), 16000)
    elif kind == "clipped":
        soundfile.write(path, np.sign(np.sin(np.arange(16000) / 20)), 16000)
    elif kind == "short":
        speech(path.name, seconds=0.010)


CURES = {
    "empty": "get a whole copy",
    "not audio": "check that it plays",
    "truncated": "get a whole copy",
    "header only": "get a whole copy",
    "zero channels": "export it again",
    "zero rate": "export it again",
    "nan": "export it again",
    "infinity": "export it again",
    "silent": "--lenient",
    "clipped": "--lenient",
    "short": "join it with its neighbours",
}


@pytest.mark.parametrize(("kind", "cure"), CURES.items())
def test_bad_recordings_are_refused(kind, cure, command, speech, tmp_path):
    path = tmp_path / "victim.wav"
    make_bad(kind, path, speech)
    refused(command("anonymize", "victim.wav", "-o", "out.wav"), "victim.wav", cure)
    assert not (tmp_path / "out.wav").exists()
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("kind", ["silent", "clipped", "short"])
def test_lenient_accepts_what_can_be_processed(kind, command, speech, tmp_path):
    make_bad(kind, tmp_path / "victim.wav", speech)
    process = command("anonymize", "victim.wav", "-o", "out.wav", "--lenient")
    assert process.returncode == 0, process.stderr.decode()
    assert "warning" in process.stderr.decode()
    frames = soundfile.info(tmp_path / "victim.wav").frames
    assert soundfile.info(tmp_path / "out.wav").frames == frames


def test_a_wrong_extension_is_read_by_content(command, speech, tmp_path):
    speech("x.wav", seconds=0.5).rename(tmp_path / "x.flac")
    process = command("anonymize", "x.flac", "-o", "out.wav")
    assert process.returncode == 0, process.stderr.decode()


@pytest.mark.parametrize("name", ["out.xyz", "out"])
def test_an_extension_that_cannot_be_written_is_named(name, command, speech, tmp_path):
    speech("x.wav", seconds=0.5)
    refused(command("anonymize", "x.wav", "-o", name), name, "use one of .wav")
    assert not (tmp_path / name).exists()
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(("rate", "channels"), [(96000, 1), (16000, 8), (8000, 2)])
def test_unusual_rates_and_channels_are_kept(rate, channels, command, speech, tmp_path):
    speech("x.wav", seconds=0.5, rate=rate, channels=channels)
    process = command("anonymize", "x.wav", "-o", "out.wav")
    assert process.returncode == 0, process.stderr.decode()
    one, two = soundfile.info(tmp_path / "x.wav"), soundfile.info(tmp_path / "out.wav")
    assert (one.samplerate, one.channels, one.frames) == (two.samplerate, two.channels, two.frames)


def test_a_format_that_cannot_be_kept_is_reported(command, speech, tmp_path):
    """Opus has no 44.1 kHz; Vorbis does, in WebM too."""
    source = speech("a.wav", rate=44100, channels=2)
    done = command("anonymize", source, "-o", tmp_path / "b.opus", "--system", "vtln")
    assert done.returncode == 0
    assert "a.wav: stored 44100 Hz as 48000 Hz" in done.stderr.decode()
    done = command("anonymize", source, "-o", tmp_path / "b.flac", "--system", "vtln")
    assert ": stored " not in done.stderr.decode()
    if shutil.which("ffmpeg"):
        film = tmp_path / "v.webm"
        encoder = ["-c:a", "vorbis", "-strict", "-2"]
        subprocess.run(["ffmpeg", "-v", "error", "-i", source, *encoder, film], check=True)
        done = command("anonymize", film, "--system", "vtln")
        assert ": stored " not in done.stderr.decode()


def test_missing_files_and_folders_in_the_wrong_place(command, speech, tmp_path):
    speech("x.wav", seconds=0.3)
    (tmp_path / "folder.wav").mkdir()
    refused(command("anonymize", "nothere.wav"), "nothere.wav", "check the name")
    refused(command("anonymize", "folder.wav"), "folder.wav", "-o")
    refused(command("anonymize", "folder.wav", "-o", "out"), "no recordings")
    (tmp_path / "file").write_text("x")
    refused(command("anonymize", "folder.wav", "-o", "file"), "file")


@pytest.mark.parametrize("inputs", [("a.wav", "b.wav"), ("in",)])
def test_several_recordings_make_no_folder_named_as_a_file(command, speech, tmp_path, inputs):
    for name in ("a.wav", "b.wav", "in/c.wav"):
        speech(name)
    given = ("anonymize", *inputs, "-s", "mcadams", "-o")
    for options in ((), ("--dry-run",)):
        done = command(*given, "z.WAV", *options)
        assert done.returncode == 1
        message = " ".join(done.stderr.decode().split())
        assert "z.WAV: several recordings, but -o names one file; give a folder" in message
        assert "mkdir z.WAV" in message
        assert not (tmp_path / "z.WAV").exists()
    (tmp_path / "taken").touch()
    assert b"taken: is a file" in command(*given, "taken").stderr
    (tmp_path / "z.WAV").mkdir()
    assert command(*given, "z.WAV").returncode == 0
    assert command(*given, "v1.2").returncode == 0
    assert (tmp_path / "v1.2").is_dir()


def test_an_unreadable_file_is_named(command, speech, tmp_path, monkeypatch):
    """The system's refusal is made up: root may read everything."""
    speech("x.wav", seconds=0.3)
    real = builtins.open

    def closed(name, *arguments, **options):
        if str(name).endswith("x.wav"):
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "open", closed)
    refused(
        command("anonymize", "x.wav", "-o", "out.wav"), "x.wav", "may not be read", "permission"
    )
    assert not (tmp_path / "out.wav").exists()


def test_a_folder_that_may_not_be_read_is_a_failure(command, speech, tmp_path, monkeypatch):
    """The system's refusal is made up: root may read everything."""
    speech("corpus/anna/x.wav", seconds=0.3)
    speech("corpus/bert/x.wav", seconds=0.3)
    real = os.scandir

    def closed(place="."):
        if str(place).endswith("bert"):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", closed)
    process = command("anonymize", "corpus", "-o", "out")
    assert process.returncode == 1
    assert "corpus/bert" in process.stderr.decode()
    assert "its recordings are missing" in process.stderr.decode()
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == ["anna"]


def test_output_equal_to_input_is_refused_through_links_too(command, speech, tmp_path):
    source = speech("x.wav", seconds=0.3)
    before = source.read_bytes()
    (tmp_path / "link.wav").symlink_to(source)
    os.link(source, tmp_path / "hard.wav")
    for output in ("x.wav", "link.wav", "hard.wav"):
        refused(command("anonymize", "x.wav", "-o", output, "--overwrite"), "x.wav", "-o")
        assert source.read_bytes() == before


def test_an_existing_output_is_kept_without_overwrite(command, speech, tmp_path):
    speech("x.wav", seconds=0.3)
    (tmp_path / "out.wav").write_bytes(b"precious")
    refused(command("anonymize", "x.wav", "-o", "out.wav"), "out.wav", "--overwrite")
    assert (tmp_path / "out.wav").read_bytes() == b"precious"
    assert command("anonymize", "x.wav", "-o", "out.wav", "--overwrite").returncode == 0


def test_two_inputs_of_one_output_are_refused_before_anything_is_written(command, speech, tmp_path):
    speech("a/x.wav", seconds=0.3)
    speech("b/x.wav", seconds=0.3)
    (tmp_path / "out").mkdir()
    refused(
        command("anonymize", "a/x.wav", "b/x.wav", "-o", "out"), "a/x.wav", "b/x.wav", "rename one"
    )
    assert not list((tmp_path / "out").iterdir())


@pytest.fixture
def small_files():
    """No file of this process grows beyond 64 KiB, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_nothing_behind(command, speech, tmp_path, request):
    speech("x.wav", seconds=6.0)
    request.getfixturevalue("small_files")
    done = command("anonymize", "x.wav", "-o", "out.wav")
    refused(done, "out.wav", "disk is full", "free some space")
    assert not (tmp_path / "out.wav").exists()
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_run_leaves_no_partial_file(number, command, speech, tmp_path, monkeypatch):
    speech("x.wav", seconds=2.0)
    verdict, files = recording_checks.verdict, []

    def terminated(*arguments):
        files.extend(leftovers(tmp_path))
        os.kill(os.getpid(), number)
        return verdict(*arguments)

    def unhandled(*arguments):
        raise AssertionError(f"the command handles no {number!r}")

    monkeypatch.setattr(recording_checks, "verdict", terminated)
    before = signal.signal(number, unhandled)
    try:
        done = command("anonymize", "x.wav", "-o", "out.wav")
    finally:
        signal.signal(number, before)
    assert files, "it ends while there is a partial file"
    assert done.returncode == 128 + number, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "out.wav").exists()
    assert not leftovers(tmp_path)


def test_terminating_workers_leaves_no_partial_file(speech, tmp_path):
    for i in range(4):
        speech(f"c/a/{i}.wav", seconds=30.0)
    script = (
        "import sys\n"
        "import voicenym.corpus.workers.worker_process as worker_process\n"
        "from voicenym.apps.cli import main\n"
        "worker_process.GRACE = 300.0  # workers of a busy machine take long to end\n"
        "sys.argv = ['voicenym', 'anonymize', 'c', '-o', 'out', '-j', '2']\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not leftovers(tmp_path) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    message = process.communicate(timeout=600)[1]
    assert b"Traceback (most recent call last)" not in message
    assert process.returncode in (0, 128 + signal.SIGTERM)
    assert not leftovers(tmp_path)
    for path in (tmp_path / "out").rglob("*.wav"):
        assert soundfile.info(path).frames == 30 * 16000


# Keys


def test_key_new_writes_a_private_file_and_never_overwrites(command, tmp_path):
    assert command("key", "new", "p.key").returncode == 0
    assert stat.S_IMODE((tmp_path / "p.key").stat().st_mode) == 0o600
    before = (tmp_path / "p.key").read_bytes()
    refused(command("key", "new", "p.key"), "p.key")
    assert (tmp_path / "p.key").read_bytes() == before


def test_bad_keys_are_refused_and_open_ones_warned_of(command, speech, tmp_path):
    speech("x.wav", seconds=0.3)
    command("key", "new", "k")
    text = (tmp_path / "k").read_text()
    (tmp_path / "short").write_text(text[:40] + "\n")
    refused(command("anonymize", "x.wav", "-k", "short"), "short", "restore it from a copy")
    (tmp_path / "junk").write_text("hello")
    refused(command("anonymize", "x.wav", "-k", "junk"), "junk", "voicenym key new")
    refused(command("anonymize", "x.wav", "-k", "missing"), "missing")
    (tmp_path / "k").chmod(0o644)
    process = command("anonymize", "x.wav", "-k", "k")
    assert process.returncode == 0
    assert "chmod 600" in process.stderr.decode()
