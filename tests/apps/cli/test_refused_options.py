"""An option that would do nothing, or says what another one says otherwise, is refused."""

from __future__ import annotations

import json

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
        (("--set", "delay=short"), ("delay=short", "live")),
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
    same = command("anonymize", "corpus/anna", "corpus/anna/a.wav", "-o", "out")
    refused(same, "corpus/anna/a.wav: is given twice; give it once")  # one output, too
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


TRIALS = ("--enrolls", "e.txt", "--trials", "t.txt")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--pool-split", "x"), ("--pool-split", "--pool")),
        (("--pool-size", "5"), ("--pool-size", "--pool")),
        (("--attacker-steps", "5"), ("--attacker-steps", "--pool")),
        (("--attacker-budget", "5m"), ("--attacker-budget", "--pool")),
        (("--pool", "p", "--attacker-from", "nothing"), ("--attacker-from", "--attacker-steps")),
        (("--identity", "copy"), ("--identity", "--vectors")),
        ((*TRIALS, "--enrolment", "3"), ("--enrolment", "--trials")),
        ((*TRIALS, "--any-sex"), ("--any-sex", "--trials")),
        (("--metric", "DNSNOS"), ("DNSNOS", "DNSMOS")),
    ],
)
def test_options_of_an_evaluation_that_would_do_nothing_are_refused(
    given, words, command, tmp_path
):
    pytest.importorskip("matplotlib")
    refused(command("evaluate", "corpus", "-s", "mcadams", "-o", "report", *given), *words)
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("given", "option"),
    [
        (("-s", "mcadams"), "--system"),
        (("--attacker", "lazy"), "--attacker"),
        (("--no-denoise",), "denoise"),
        (("-j", "2"), "--workers"),
        (("--speaker-level", "1"), "--speaker-level"),
    ],
)
def test_options_of_recordings_are_refused_for_vectors(given, option, command):
    pytest.importorskip("matplotlib")
    given = ("--vectors", "v", "--pool", "p", "--identity", "copy", "-o", "report", *given)
    refused(command("evaluate", *given), option, "--vectors")


def test_recognisers_are_refused_without_texts_and_by_unknown_names():
    from voicenym.apps.cli.options.recogniser_options import recogniser_of
    from voicenym.errors import VoicenymError

    with pytest.raises(VoicenymError, match="nosuch"):
        recogniser_of("nosuch", None, [])
    with pytest.raises(VoicenymError, match="no recording has a text"):
        recogniser_of("sphinx", None, [])
    with pytest.raises(VoicenymError, match="no recording has a text"):
        recogniser_of(None, "folder", [])
    assert recogniser_of(None, None, []) is None
    assert recogniser_of("none", None, []) is None


@pytest.mark.parametrize("option", [("--pool-size", "5"), ("--fail-fast",), ("--pool", "corpus")])
def test_an_audit_refuses_a_pool_that_it_does_not_use(option, command, speech):
    pytest.importorskip("scipy")
    for name in ("corpus/anna/1.wav", "corpus/anna/2.wav", "corpus/bob/1.wav"):
        speech(name)
    refused(command("audit", speech("a.wav"), speech("b.wav"), *option), option[0], "leave it out")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (("--set", "device=cuda"), "--device"),
        (("-s", "recast:delay=short", "--set", "delay=usual"), "--system"),
        (("--speaker", "anna"), "--key"),
    ],
)
def test_a_live_session_refuses_what_it_would_not_use(given, word, command):
    refused(command("live", "--stdin", "--stdout", *given), word)


def test_a_study_without_a_check_of_headphones_cannot_need_them(command, tmp_path):
    given = ("listen", "design", "corpus", "--system", "a=anon", "-o", "study", "--need-headphones")
    refused(command(*given, "--headphones", "none"), "--need-headphones", "huggins")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (("anon", "-o", "out", "--about", "about.toml", "--template", "t.toml"), "--template"),
        (("anon", "-o", "out", "--about", "about.toml", "-s", "recast"), "--system-report"),
    ],
)
def test_a_release_refuses_options_that_would_do_nothing(given, word, command, tmp_path):
    refused(command("release", *given), word)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("redact", "--list", "people.txt", "--findings", "people.txt"), "--list"),
        (("redact", "--list", "people.txt", "-o", "b.wav", "--transcript", "people.txt"), "--list"),
        (("redact", "--apply", "people.txt", "--findings", "people.txt"), "--apply"),
        (("redact", "--words", "names", "--findings", "other.wav"), "a text"),
        (("anonymize", "--list", "people.txt", "-o", "people.wav"), "--list"),
    ],
)
def test_overwrite_loses_no_input(given, reason, command, speech, tmp_path):
    speech("a.wav")
    speech("other.wav")
    (tmp_path / "people.txt").write_text("anna\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    refused(command(*given, "a.wav", "--overwrite"), reason)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_pages_replace_no_recording(command, speech):
    recording = speech("a.wav")
    before = recording.read_bytes()
    refused(command("reproduce", "--page", "a.wav"), "end its name in .md")
    assert recording.read_bytes() == before


def test_more_threads_than_a_machine_has_are_refused(command, speech):
    refused(command("transcribe", speech("a.wav"), "--threads", "99999"), "--threads")


@pytest.mark.parametrize(
    ("given", "option"),
    [
        (("study", "--from", "p808"), "--from"),
        (("study", "--column", "score=rating"), "--column"),
        (("study", "--study", "study"), "--study"),
        (("answers.csv", "--study", "study"), "--study"),
        (("answers.csv", "--from", "webmushra", "--scale", "1-5"), "--scale"),
        (("study", "--keep-everybody", "--need-headphones"), "--need-headphones"),
    ],
)
def test_an_analysis_refuses_options_of_other_answers(given, option, command, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "answers.csv").write_text("listener,score,system\n")
    refused(command("listen", "analyse", *given, "-o", "report"), f"{option} ", "leave it out")
    assert not (tmp_path / "report").exists()


def test_the_list_of_tables_is_json_where_json_is_asked_for(command):
    done = command("reproduce", "--list", "turner-2022", "--json")
    assert {row["paper"] for row in json.loads(done.stdout)} == {"turner-2022"}
