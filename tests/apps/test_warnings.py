"""Warnings of the package are printed in one line, without the line of code."""

import warnings

import pytest

from voicenym.apps import cli
from voicenym.recognition import sphinx


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
        ("speakers", f"in/ann/{name}.wav"),
    ):
        done = command(*words)
        said = (done.stdout + done.stderr).decode()
        assert "a\\x1b[2J\\nvoicenym: error: forged" in said
        assert "\x1b" not in said
        assert not any(line.startswith("voicenym: error: forged") for line in said.splitlines())
