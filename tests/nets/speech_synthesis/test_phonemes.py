"""Phonemes by espeak-ng: texts go through its standard input, never to a shell."""

import shutil

import pytest

from voicenym import processes
from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.speech_synthesis import phonemes as module
from voicenym.nets.speech_synthesis.phonemes import phonemes

espeak = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed: make system"
)


@espeak
def test_clauses_keep_their_marks():
    found = phonemes("The quick brown fox, they say, jumped!")
    assert found.count(",") == 2
    assert found.endswith("!")
    assert "kwˈɪk" in found
    with pytest.raises(VoicenymError, match="give a language that it knows"):
        phonemes("hello", "xx-nowhere")


@espeak
def test_points_within_numbers_and_after_titles_end_no_clause():
    assert "." not in phonemes("It is 3.5 times Mr. Smith")
    assert phonemes("One. Two").count(".") == 1


@espeak
def test_a_text_that_looks_like_an_option_or_a_command_is_read():
    assert phonemes("--version") == phonemes("version")
    assert phonemes("$(touch /tmp/x); echo") != phonemes("echo")


def test_the_text_is_no_argument_and_ends_in_time(monkeypatch):
    given = {}

    def program(command, text=None, seconds=None):
        given.update(command=command, text=text, seconds=seconds)
        raise TimeoutError(command[0])

    monkeypatch.setattr(processes, "program", program)
    with pytest.raises(VoicenymError, match="did not end within 20 s"):
        phonemes("a secret\nin two lines")
    assert not any("secret" in part for part in given["command"])
    assert given["text"] == "a secret in two lines\n"
    assert given["seconds"] == module.SECONDS


def test_without_the_program_the_message_names_it(monkeypatch):
    monkeypatch.setattr(module, "ESPEAK", "espeak-that-nobody-has")
    with pytest.raises(DependencyError, match="install the program espeak-ng"):
        phonemes("hello")
