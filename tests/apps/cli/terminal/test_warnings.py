"""Warnings of the package are printed in one line, without the line of code."""

import errno
import warnings

import pytest

from voicenym.apps import cli
from voicenym.errors import of_path
from voicenym.recognition.sphinx_processes import sphinx


@pytest.mark.parametrize(
    ("where", "kind", "for_users"),
    [
        (sphinx.__file__, UserWarning, True),
        (sphinx.__file__, DeprecationWarning, False),
        (pytest.__file__, UserWarning, False),
    ],
)
def test_users_get_a_message(where, kind, for_users, monkeypatch, capsys):
    others = []
    monkeypatch.setattr(cli, "_developers", lambda *given: others.append(str(given[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = cli._warned
        warnings.warn_explicit("four left out", kind, where, 7)
    given = capsys.readouterr().err
    assert given == ("voicenym: warning: four left out\n" if for_users else "")
    assert others == ([] if for_users else ["four left out"])


def test_a_file_name_neither_writes_lines_nor_moves_the_cursor(command, tmp_path, sample):
    name = "a\x1b[2J\nvoicenym: error: forged"
    (tmp_path / "in/ann").mkdir(parents=True)
    (tmp_path / f"in/ann/{name}.wav").write_bytes(b"no sound")
    (tmp_path / f"in/ann/b{name}.wav").write_bytes(sample.read_bytes())
    for words in (
        ("anonymize", "in", "-o", "out", "-s", "mcadams", "--workers", "1"),
        ("status", "out"),
        ("anonymize", f"in/ann/b{name}.wav", "-s", "mcadams", "--workers", "1"),
        ("speakers", f"in/ann/{name}.wav"),
    ):
        done = command(*words)
        said = (done.stdout + done.stderr).decode()
        assert "a\\x1b[2J\\nvoicenym: error: forged" in said
        assert "\x1b" not in said
        assert not any(line.startswith("voicenym: error: forged") for line in said.splitlines())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("anonymize", "LONG", "-s", "mcadams"), "File name too long; give a shorter name"),
        (("anonymize", "s.wav", "-s", "mcadams", "-o", "LONG"), "File name too long"),
        (("anonymize", "s.wav", "-s", "mcadams", "-o", "circle/s.wav"), "a file is in the way"),
        (("anonymize", "circle", "-s", "mcadams", "-o", "new.wav"), "cannot be opened"),
        (("mark", "s.wav", "-o", "LONG.wav", "--audible"), "File name too long"),
        (("speakers", "s.wav", "-o", "LONG.rttm"), "File name too long"),
        (("evaluate", "LONG", "-s", "mcadams", "-o", "report"), "File name too long"),
    ],
)
def test_a_path_that_the_system_refuses_is_one_line(words, said, command, tmp_path, sample):
    (tmp_path / "s.wav").write_bytes(sample.read_bytes())
    (tmp_path / "circle").symlink_to("circle")
    done = command(*(word.replace("LONG", "n" * 300) for word in words))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert said in done.stderr.decode()


def test_errors_of_the_system_that_a_user_cannot_mend_are_no_messages():
    assert of_path(FileNotFoundError(errno.ENOENT, "No such file", "part of the package")) is None
    assert of_path(PermissionError(errno.EACCES, "Permission denied")) is None  # of which path?
    told = of_path(PermissionError(errno.EACCES, "Permission denied", "their/a.wav"))
    assert str(told) == (
        "their/a.wav: Permission denied; ask its owner for permission, or choose another place"
    )


def test_recordings_left_out_before_an_error_have_a_line_each(command, tmp_path):
    for name in ("ann/1", "ann/2", "bob/1", "bob/2"):
        path = tmp_path / f"in/{name}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF" + name.encode())
    done = command("evaluate", "in", "-s", "mcadams", "-o", "report")
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert "\\n" not in done.stderr.decode()
    assert any(line == "4 recordings were left out:" for line in lines), lines
