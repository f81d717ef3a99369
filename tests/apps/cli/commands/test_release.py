"""``voicenym release``: messages name the file and the cure."""

from __future__ import annotations


def test_a_template_is_written_and_refused_while_it_is_empty(command, tmp_path):
    done = command("release", "--template", "about.toml")
    assert done.returncode == 0, done.stderr
    (tmp_path / "corpus").mkdir()
    done = command("release", "corpus", "-o", "out", "--about", "about.toml")
    assert done.returncode == 1
    assert b"consent" in done.stderr
    assert b"must be filled in" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_missing_arguments_are_named(command):
    done = command("release")
    assert done.returncode == 1
    assert b"--template about.toml" in done.stderr
