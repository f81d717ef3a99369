"""An option that would do nothing, or says what another one says otherwise, is refused."""

from __future__ import annotations

import pytest


def refused(process, *words: str) -> None:
    message = process.stderr.decode()
    assert process.returncode != 0
    assert "Traceback" not in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    "option",
    [("-j", "2"), ("--fail-fast",), ("--allow-pipes",), ("--engine", "ray")],
    ids=lambda option: option[0],
)
def test_options_of_several_recordings_are_refused_for_one(option, command, speech, tmp_path):
    name = {"-j": "--workers", "--engine": "--engine ray"}.get(option[0], option[0])
    (tmp_path / "a.rttm").write_text("SPEAKER a 1 0 1 <NA> <NA> anna <NA> <NA>\n")
    refused(command("anonymize", speech("a.wav"), "--rttm", "a.rttm", *option), name, "--rttm")
    refused(command("anonymize", "-", *option), name, "not for -")
    assert not (tmp_path / "a.anon.wav").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--set", "voice_kind=male", "--voice", "female"), ("voice_kind", "male", "female")),
        (("--set", "length=0.05", "--set", "length=0.06"), ("length", "0.05", "0.06")),
        (("-s", "recast:length=0.05", "--set", "length=0.06"), ("length", "--system")),
        (("--set", "device=cuda"), ("--device",)),
        (("--fallback", "mcadams"), ("--fallback mcadams", "recast")),
    ],
)
def test_two_values_of_one_setting_and_useless_ones_are_refused(given, words, command, speech):
    refused(command("anonymize", speech("a.wav"), "-o", "out.wav", *given), *words)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (("anonymize", "", "-o", "out/"), "inputs"),
        (("anonymize", "a.wav", "-o", ""), "--output"),
        (("anonymize", "a.wav", "-s", ""), "--system"),
        (("cache", "clear", ""), "places"),
        (("evaluate", "", "-o", "report"), "corpus"),
        (("train", "verifier", "-d", "", "-o", "out"), "--data"),
    ],
)
def test_an_empty_value_names_no_folder_and_no_default(given, name, command, speech, tmp_path):
    speech("a.wav")
    refused(command(*given), name, "empty")
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_a_folder_and_what_is_in_it_are_not_taken_together(command, speech, tmp_path):
    speech("corpus/anna/a.wav")
    speech("corpus/bob/a.wav", seconds=2)
    refused(command("anonymize", "corpus", "corpus/anna", "-o", "out"), "given twice", "out/a.wav")
    assert command("key", "new", "k.key").returncode == 0
    given = ("anonymize", "corpus", "corpus/anna", "-o", "out", "--rename", "-k", "k.key")
    process = command(*given)
    refused(process, "corpus/anna/a.wav: is given twice")
    assert "out/" not in process.stderr.decode()  # no message links old and new names


@pytest.mark.parametrize("name", ["out", "out/", "out.key"])
def test_an_output_that_looks_like_a_folder_names_the_cure(name, command, speech, tmp_path):
    speech("a.wav")
    assert command("key", "new", "k.key").returncode == 0
    process = command("anonymize", "a.wav", "-o", name, "-k", "k.key")
    refused(process, f"{name.rstrip('/')}: cannot write", "mkdir")
    assert ".tmp" not in process.stderr.decode()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--audible", "--algorithm", "es384"), ("--algorithm", "--certificate")),
        (("--audible", "--source", "synthesised"), ("--source", "--certificate")),
        (("--certificate", "c.pem", "--private-key", "k.pem", "--every", "5"), ("--audible",)),
    ],
)
def test_options_of_the_other_mark_are_refused(given, words, command, speech, tmp_path):
    refused(command("mark", speech("a.wav"), "-o", "out.wav", *given), *words)
    assert not (tmp_path / "out.wav").exists()


def test_turns_that_are_read_have_no_overlaps_to_leave_out(command, speech, tmp_path):
    (tmp_path / "a.rttm").write_text("SPEAKER a 1 0 1 <NA> <NA> anna <NA> <NA>\n")
    process = command("speakers", speech("a.wav"), "--turns", "a.rttm", "--no-overlaps")
    refused(process, "--no-overlaps")
