"""Speakers are not merged by accident, and an upgrade changes no voice without a message."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.apps.cli.terminal import tables
from voicenym.corpus.batches.batch_runner import Job, log_line, run
from voicenym.corpus.plans.file_plan import plan, renamed
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

KEY = Key(bytes(range(32)))


@pytest.fixture
def talk(tmp_path):
    """``talk("a/b.wav", take)``: a noisy buzz; the same take is the same bytes."""

    def make(name, take=0, seconds=0.6):
        time = np.arange(round(seconds * 16000)) / 16000
        sound = sum(np.sin(2 * np.pi * k * (110 + 7 * take) * time + k) / k for k in range(1, 12))
        sound = sound * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * time))
        noise = np.random.default_rng(take).standard_normal(len(time))
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, 0.05 * sound + 0.005 * noise, 16000)
        return path

    return make


def job(output, **options):
    return Job("mcadams", {}, KEY, log=output / "voicenym.jsonl", **options)


def voices(items):
    """Which items share a voice, as sets of their targets' names."""
    shared = {}
    for item in items:
        shared.setdefault(KEY.pseudonym(item.speaker), set()).add(item.target.as_posix())
    return sorted(map(sorted, shared.values()))


def test_sessions_of_one_name_are_two_people(talk, tmp_path):
    for name in ("anna/session1/a.wav", "bob/session1/a.wav", "anna/session2/a.wav"):
        talk(f"c/{name}")
    items = plan([tmp_path / "c"], tmp_path / "o")
    assert [item.speaker for item in items] == ["anna", "anna", "bob"]


def test_files_of_one_folder_are_each_a_speaker_by_default(talk, tmp_path):
    one, two = talk("x/1.wav", 1), talk("x/2.wav", 2)
    for items in (plan([one, two], tmp_path), plan([tmp_path / "x"], tmp_path / "o")):
        assert len(voices(items)) == 2
    assert len(voices(plan([one, two], tmp_path, "anna"))) == 1
    assert len(voices(plan([one, two], tmp_path, None, "parent"))) == 1


def test_one_file_has_one_voice_wherever_it_lies_and_two_never_share_one(talk, tmp_path, command):
    """Names do not count: the content does. A pipe gets the voice of the file."""
    one, other = talk("a/interview.wav", 1), talk("b/interview.wav", 2)
    copy = talk("elsewhere/moved.wav", 1)
    assert one.read_bytes() == copy.read_bytes()
    KEY.save(tmp_path / "k")
    for source, name in ((one, "1"), (other, "2"), (copy, "3")):
        done = command("anonymize", source, "-o", f"{name}.wav", "-k", "k", "-s", "mcadams")
        assert done.returncode == 0, done.stderr.decode()
        assert b"a person of its own; give --speaker NAME" in done.stderr
    piped = command("anonymize", "-", "-k", "k", "-s", "mcadams", input=one.read_bytes())
    made = {name: (tmp_path / f"{name}.wav").read_bytes() for name in "123"}
    assert made["1"] == made["3"] == piped.stdout
    (item,) = plan([other], tmp_path / "4.wav")
    (first,) = plan([one], tmp_path / "4.wav")
    assert KEY.pseudonym(item.speaker) != KEY.pseudonym(first.speaker)


def test_two_readings_stop_before_anything_is_written(talk, tmp_path, command):
    for name in ("train/anna/1.wav", "dev/bob/1.wav"):
        talk(f"c/{name}")
    done = command("anonymize", "c", "-o", "o", "-s", "mcadams")
    assert done.returncode != 0
    for word in (b"Traceback",):
        assert word not in done.stderr
    for word in (b"--speaker-level 1", b"--speaker-level 2", b"'bob'", b"--speaker NAME"):
        assert word in done.stderr, done.stderr
    assert not (tmp_path / "o").exists()
    shown = command("anonymize", "c", "-o", "o", "--speaker-level", "2", "--dry-run")
    assert re.search(rb"\tanna\t", shown.stdout), shown


def test_a_dry_run_shows_who_is_taken_for_whom(talk, tmp_path, command, monkeypatch):
    talk("c/anna/day1/1.wav", 1, seconds=6.0)
    talk("c/anna/day2/2.wav", 2, seconds=12.0)
    talk("c/bob/day1/1.wav", 3, seconds=3.0)
    (tmp_path / "c/bob/day1/broken.wav").write_bytes(b"RIFF")
    piped = command("anonymize", "c", "-o", "o", "--dry-run")
    assert piped.returncode == 0, piped.stderr.decode()
    lines = piped.stdout.decode().splitlines()
    assert lines[0] == "recording\toutput\tspeaker\tseconds"
    assert "c/bob/day1/1.wav\to/bob/day1/1.wav\tbob\t3.0" in lines
    assert "c/bob/day1/broken.wav\to/bob/day1/broken.wav\tbob\t" in lines
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    text = command("anonymize", "c", "-o", "o", "--dry-run", COLUMNS="80").stdout.decode()
    assert re.search(r"^speaker +files +minutes +of unknown length$", text, re.M), text
    assert re.search(r"^anna +2 +0\.3$", text, re.M), text
    assert re.search(r"^bob +2 +0\.1 +1$", text, re.M), text
    assert re.search(r"^c/bob/day1/1.wav +o/bob/day1/1.wav +bob$", text, re.M), text
    assert not (tmp_path / "o").exists()


def test_a_dry_run_of_renaming_links_no_names(talk, tmp_path, command):
    talk("c/anna/1.wav")
    talk("d/2.wav")
    KEY.save(tmp_path / "k")
    for folder in ("c", "d"):
        done = command("anonymize", folder, "-o", "o", "--rename", "--dry-run", "-k", "k")
        assert done.returncode == 0, done.stderr.decode()
        assert b".wav" in done.stdout
        drawn = {KEY.tag("speaker", "anna")[:16], KEY.tag("utterance", "anna\0001")[:16]}
        assert not any(name.encode() in done.stdout + done.stderr for name in drawn)
        assert b"->" not in done.stdout
        assert not re.search(rb"\b[0-9a-f]{16}\b", done.stdout)


def test_a_hostile_folders_name_cannot_write_to_the_terminal(talk, tmp_path, command):
    talk("c/\x1b[2Janna\nbob/1.wav")
    os.rename(tmp_path / "c/\x1b[2Janna\nbob/1.wav", os.fsencode(tmp_path) + b"/c/\xff.wav")
    talk("c/\x1b[2Janna\nbob/1.wav")
    done = command("anonymize", "c", "-o", "o", "--dry-run", "--speaker-level", "1")
    assert done.returncode == 0, done.stderr.decode()
    assert b"\x1b" not in done.stdout
    assert rb"\x1b[2Janna\nbob" in done.stdout


def test_training_and_evaluation_ask_as_well(talk, tmp_path, command, one_processor):
    for name in ("train/anna/1.wav", "dev/bob/1.wav"):
        talk(f"c/{name}").write_bytes(b"RIFF")  # nothing to train on for long
    ubm = ("ubm", "-d", "c", "-o", "o")
    for arguments in (("evaluate", "c", "-o", "o", "-s", "mcadams"), ("train", *ubm)):
        done = command(*arguments)
        assert done.returncode != 0
        assert b"--speaker-level 2" in done.stderr, done.stderr
        assert b"Traceback" not in done.stderr
    outcome = command("train", "--speaker-level", "2", *ubm)
    assert b"can be read in" not in outcome.stderr, outcome.stderr


def test_help_states_the_rule(command):
    text = " ".join(
        re.sub(rb"[^\w.:,-]+", b" ", command("anonymize", "--help").stdout).decode().split()
    )
    assert "the first folder below a given folder names the speaker" in text
    assert "a speaker of its own" in text
    assert "--speaker-level" in text


# An upgrade never changes a voice unsaid.


def aged(log):
    """The log as the version before the rule wrote it."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        for name in ("speaker_rule", "speaker_check"):
            line.pop(name)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


def begun(talk, tmp_path, names, level):
    """A corpus that the former version anonymized."""
    for take, name in enumerate(names):
        talk(f"c/{name}", take)
    output = tmp_path / "o"
    items = plan([tmp_path / "c"], output, None, level)
    assert run(job(output), items).done == len(names)
    aged(output / "voicenym.jsonl")
    return output


def test_a_corpus_of_the_old_rule_is_not_gone_on_with_by_the_new(talk, tmp_path):
    names = ["anna/session1/a.wav", "bob/session1/a.wav"]
    output = begun(talk, tmp_path, names, "parent")
    before = {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
    with pytest.raises(CorpusError, match="--speaker-level parent"):
        run(job(output), plan([tmp_path / "c"], output))
    talk("more/anna/session1/b.wav", 7)  # nor extended
    with pytest.raises(CorpusError, match="--speaker-level parent"):
        run(job(output), plan([tmp_path / "more"], output))
    assert before == {p: p.read_bytes() for p in output.rglob("*") if p.is_file()}
    again = run(job(output), plan([tmp_path / "c"], output, None, "parent"))
    assert (again.done, again.skipped) == (0, 2)
    more = run(job(output), plan([tmp_path / "more"], output, None, "parent"))
    assert more.done == 1
    (item,) = plan([tmp_path / "more"], output, None, "parent")
    assert item.speaker == "session1"  # as it was


def test_files_in_a_root_are_not_gone_on_with_by_the_new_rule(talk, tmp_path):
    output = begun(talk, tmp_path, ["1.wav", "2.wav"], "parent")
    with pytest.raises(CorpusError, match="--speaker-level parent"):
        run(job(output), plan([tmp_path / "c"], output))


def test_a_corpus_that_both_rules_read_alike_goes_on(talk, tmp_path):
    output = begun(talk, tmp_path, ["anna/1.wav", "bob/1.wav"], "parent")
    talk("c/bob/2.wav", 9)
    summary = run(job(output), plan([tmp_path / "c"], output))
    assert (summary.done, summary.skipped) == (1, 2)


def test_another_speaker_is_not_taken_for_done(talk, tmp_path):
    talk("c/anna/x/1.wav")
    output = tmp_path / "o"
    assert run(job(output), plan([tmp_path / "c"], output)).done == 1
    for speaker, level in (("carla", None), (None, 2), (None, 0)):
        with pytest.raises(CorpusError, match="another speaker"):
            run(job(output), plan([tmp_path / "c"], output, speaker, level))
    assert run(job(output), plan([tmp_path / "c"], output, "anna")).skipped == 1
    again = run(job(output, overwrite=True), plan([tmp_path / "c"], output, "carla"))
    assert again.done == 1


def test_what_the_log_says_of_speakers_links_no_lines(talk, tmp_path):
    for take in (1, 2):
        talk(f"c/anna/{take}.wav", take)
    output = tmp_path / "o"
    lines = []
    batch = job(output, opaque=True)
    run(batch, plan([tmp_path / "c"], output), report=lambda o: lines.append(log_line(batch, o)))
    assert {line["speaker_rule"] for line in lines} == {2}
    checks = {line["speaker_check"] for line in lines}
    assert len(checks) == 2
    assert "anna" not in json.dumps([line["speaker_check"] for line in lines])


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_recording_gets_no_second_voice_under_another_name(talk, tmp_path, drawn, overwrite):
    """Without drawn names it has moved; with them, another level gives all outputs other names."""
    name = "x/anna/1.wav"
    talk(f"c/{name}", 1)
    talk("c/y/bob/2.wav", 2)
    out = tmp_path / "o"

    def planned(level):
        items = plan([tmp_path / "c"], out, level=level)
        return renamed(items, KEY, out) if drawn else items

    first = planned(1)
    assert run(job(out, opaque=drawn), first).done == 2
    if drawn:
        second = planned(2)
    else:
        (tmp_path / "c/x").rename(tmp_path / "c/z")
        (tmp_path / "c/y").rename(tmp_path / "c/w")
        second = planned(1)
    before = {path: path.read_bytes() for path in out.rglob("*.wav")}
    with pytest.raises(CorpusError, match="another speaker") as refused:
        run(job(out, opaque=drawn, overwrite=overwrite), second)
    assert any(str(item.target if drawn else item.source) in str(refused.value) for item in second)
    assert (str(tmp_path / "c") in str(refused.value)) is not drawn
    assert {path: path.read_bytes() for path in out.rglob("*.wav")} == before
    for item in first:  # they were wrong, and are removed
        item.target.unlink()
    assert run(job(out, opaque=drawn, overwrite=overwrite), second).done == 2


def test_one_recording_of_several_may_be_the_same_by_chance(talk, tmp_path):
    """Such as a silent one: the next person's run is not refused for it."""
    for name, seed in (("1", 1), ("2", 2), ("3", 3)):
        talk(f"c/anna/{name}.wav", seed)
    out = tmp_path / "o"
    run(job(out), plan([tmp_path / "c"], out))
    talk("c/bob/1.wav", 3)
    talk("c/bob/2.wav", 4)
    assert run(job(out), plan([tmp_path / "c"], out)).done == 2
    # a folder with a new name brings most of its recordings again
    (tmp_path / "c/anna").rename(tmp_path / "c/carla")
    with pytest.raises(CorpusError, match="another speaker"):
        run(job(out), plan([tmp_path / "c"], out))


def test_a_recording_of_the_same_speaker_may_move(talk, tmp_path):
    talk("c/anna/monday/1.wav", 1)
    out = tmp_path / "o"
    run(job(out), plan([tmp_path / "c"], out))
    (tmp_path / "c/anna/monday").rename(tmp_path / "c/anna/tuesday")
    assert run(job(out), plan([tmp_path / "c"], out)).done == 1


def test_names_that_look_alike_are_named_before_the_run(talk, tmp_path):
    talk("c/anna/1.wav", 1)
    talk("c/Anna/2.wav", 2)
    given = ["anonymize", str(tmp_path / "c"), "-o", str(tmp_path / "o"), "--dry-run"]
    told = CliRunner().invoke(app, given)
    assert told.exit_code == 0
    assert "'Anna' and 'anna' are 2 speakers" in told.stderr
