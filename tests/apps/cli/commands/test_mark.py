"""``voicenym mark`` as a command."""

from __future__ import annotations

import os
import stat

import pytest
from signing_certificates import signer_files

pytest.importorskip("c2pa")


def test_a_recording_is_anonymized_and_marked(command, speech, tmp_path):
    signer_files(tmp_path)
    done = command("anonymize", speech("talk.wav"), "-o", "anon.wav", "-s", "vtln")
    assert done.returncode == 0, done.stderr
    given = ("--certificate", "chain.pem", "--private-key", "key.pem")
    done = command("mark", "anon.wav", "-o", "out.wav", *given, "--audible")
    assert done.returncode == 0, done.stderr
    assert b"signed by An Editor" in done.stderr
    shown = command("mark", "out.wav").stdout.decode()
    for words in ("voices were changed", "'An Editor'", "intact"):
        assert words in shown
    assert command("mark", "anon.wav").stdout == b"no Content Credentials\n"
    data = bytearray((tmp_path / "out.wav").read_bytes())
    data[2000] ^= 1
    (tmp_path / "broken.wav").write_bytes(data)
    done = command("mark", "broken.wav")
    assert done.returncode == 1
    assert b"do not rely on it" in done.stdout
    assert not [name for name in os.listdir(tmp_path) if ".tmp" in name]


def test_a_marked_recording_has_the_mode_of_an_anonymized_one(command, speech, tmp_path):
    before = os.umask(0o022)
    try:
        assert command("mark", speech("talk.wav"), "-o", "out.wav", "--audible").returncode == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.wav").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("anon.wav", "-o", "out.wav"), "no mark; give --certificate"),
        (("anon.wav", "-o", "out.wav", "--certificate", "chain.pem"), "belong together"),
        (("anon.wav", "--audible"), "give -o FILE"),
        (("none.wav",), "none.wav: cannot be read"),
        (("text.wav",), "text.wav: is damaged"),
        (("anon.wav", "-o", "no/out.wav", "--audible"), "create the folder"),
    ],
)
def test_mistakes_are_named_and_leave_the_folder_as_it_was(
    command, speech, tmp_path, arguments, words
):
    signer_files(tmp_path)
    speech("anon.wav")
    (tmp_path / "text.wav").write_text("no recording")
    before = sorted(os.listdir(tmp_path))
    done = command("mark", *arguments)
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert words in message, message
    assert "Traceback" not in message, message
    assert sorted(os.listdir(tmp_path)) == before
