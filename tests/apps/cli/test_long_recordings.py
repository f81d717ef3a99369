"""Long recordings: memory does not grow, Ctrl-C leaves nothing half done, the next run goes on."""

from __future__ import annotations

import json
import os
import stat
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
from scripted_words import Scripted, recording, spoken

from voicenym.redaction.checked_removal import ROUNDS
from voicenym.transcription import faster_whisper_words, word_listening
from voicenym.transcription.timed_words import Word
from voicenym.transcription.word_recogniser import Heard

RATE = 16_000


class Counting:
    """Hears one word in each stretch; Ctrl-C comes in one of them."""

    name, version, assumes = "counting", "1", ""

    def __init__(self, interrupted_at: int = -1) -> None:
        self.calls, self.at, self.longest = 0, interrupted_at, 0

    def hear(self, samples, language=None, hints=()):
        if self.calls == self.at:
            raise KeyboardInterrupt
        self.calls += 1
        self.longest = max(self.longest, len(samples))
        level = float(np.abs(samples).max())
        return Heard((Word(f"level{level:.3f}.", 0.5, 1.0, 0.9, (0.0, 2.0), True),), "en")


class Stopped:
    """A scripted recogniser that knows where it is in the recording; Ctrl-C comes after calls."""

    version, assumes = "1", ""

    def __init__(self, script: Scripted, at: int) -> None:
        self.script, self.at, self.calls, self.name = script, at, 0, script.name

    def hear(self, samples, language=None, hints=()):
        if self.calls == self.at:
            raise KeyboardInterrupt
        self.calls += 1
        return self.script.hear(samples, language, hints)


@pytest.fixture
def counting(monkeypatch):
    """``counting(at)``: the recogniser of the next commands, which is interrupted then."""

    def make(at: int = -1) -> Counting:
        one = Counting(at)
        monkeypatch.setattr(faster_whisper_words, "FasterWhisperWords", lambda *a, **k: one)
        return one

    monkeypatch.setattr(faster_whisper_words, "folder_of", lambda model: Path(model))
    monkeypatch.setattr(faster_whisper_words, "at_hand", lambda: "counting")
    monkeypatch.setattr(
        word_listening, "_speech", lambda samples, rule: np.array([[0.0, len(samples) / RATE]])
    )
    monkeypatch.setattr(word_listening, "LEAST_UNHEARD", 1e9)
    return make


@pytest.fixture
def minutes(tmp_path):
    """``minutes(count)``: ``long.wav``, bursts of noise of rising level every ten seconds."""

    def make(count: float, name: str = "long.wav") -> Path:
        path = tmp_path / name
        rng = np.random.default_rng(0)
        with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16") as file:
            for number in range(round(6 * count)):
                block = np.zeros(10 * RATE)
                block[: 9 * RATE] = (0.1 + 0.001 * number) * rng.uniform(-1, 1, 9 * RATE)
                file.write(block)
        return path

    return make


def test_a_transcription_goes_on_where_it_was_interrupted(command, counting, minutes, tmp_path):
    minutes(3)
    whole = counting()
    assert command("transcribe", "long.wav", "-o", "whole.json").returncode == 0
    counting(4)
    done = command("transcribe", "long.wav", "-o", "out.json")
    assert done.returncode == 130
    kept = tmp_path / ".voicenym-out.json.heard"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not (tmp_path / "out.json").exists()
    with kept.open("a") as file:
        file.write('{"samples": 4')  # as after kill -9
    rest = counting()
    assert command("transcribe", "long.wav", "-o", "out.json").returncode == 0
    assert rest.calls == whole.calls - 4
    assert json.loads((tmp_path / "out.json").read_text()) == json.loads(
        (tmp_path / "whole.json").read_text()
    )
    assert not kept.exists()


@pytest.mark.parametrize("change", ["recording", "channels", "file"])
def test_what_was_heard_of_something_else_is_not_used(command, counting, minutes, tmp_path, change):
    minutes(2)
    counting(2)
    assert command("transcribe", "long.wav", "-o", "out.json").returncode == 130
    options = []
    if change == "recording":
        minutes(2.5)
    elif change == "channels":
        options = ["--channels", "each"]
    else:
        kept = tmp_path / ".voicenym-out.json.heard"
        kept.write_text(kept.read_text().replace('"heard": 3', '"heard": 2'))
    whole = counting()
    assert command("transcribe", "long.wav", "-o", "out.json", *options).returncode == 0
    alone = counting()
    assert command("transcribe", "long.wav", "-o", "alone.json", *options).returncode == 0
    assert whole.calls == alone.calls


def test_a_check_hears_only_what_was_changed(command, counting, monkeypatch, minutes, tmp_path):
    minutes(2)

    class Hearing(Counting):
        """Hears its word where there is sound at its time."""

        def hear(self, samples, language=None, hints=()):
            found = super().hear(samples, language, hints)
            return found if np.abs(samples[10_000:14_000]).max() > 1e-3 else Heard((), "en")

    one = Hearing()
    counting()
    monkeypatch.setattr(faster_whisper_words, "FasterWhisperWords", lambda *a, **k: one)
    assert command("transcribe", "long.wav", "-o", "whole.json").returncode == 0
    stretches, one.calls = one.calls, 0
    heard = json.loads((tmp_path / "whole.json").read_text())
    words = [one["word"] for one in heard["words"]]
    (tmp_path / "list.txt").write_text(words[1].rstrip(".") + "\n")
    done = command("redact", "long.wav", "--list", "list.txt", "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    assert one.calls == 2 * stretches + 1 > 6
    sound = [soundfile.read(tmp_path / name)[0] for name in ("long.wav", "out.wav")]
    assert 0.3 < np.count_nonzero(sound[0] != sound[1]) / RATE < 3.0


@pytest.mark.parametrize("at", [2, 8])
def test_a_redaction_goes_on_where_it_was_interrupted(command, counting, minutes, tmp_path, at):
    """Heard, heard with hints, and the result: in each, stretches are left."""
    minutes(1)
    (tmp_path / "list.txt").write_text("level0\n")
    given = ("redact", "long.wav", "--list", "list.txt", "--transcript")
    whole = counting()
    failed = command(*given, "x.txt", "-o", "x.wav")  # the word is heard whatever is removed
    assert b"still heard" in failed.stderr
    # heard twice, and what each check finds changed, which is more than before with every one
    assert 3 * 3 < whole.calls <= 3 * (2 + ROUNDS)
    before = sorted(os.listdir(tmp_path))
    kept = tmp_path / ".voicenym-long.wav.heard"
    counting(at)
    done = command(*given, "out.txt", "-o", "out.wav")
    assert done.returncode == 130, done.stderr
    assert sorted(os.listdir(tmp_path)) == sorted([kept.name, *before])
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with kept.open("a") as file:
        file.write('{"facts": {"lang')  # as after kill -9
    rest = counting()
    again = command(*given, "out.txt", "-o", "out.wav")
    assert again.stderr.splitlines()[-1] == failed.stderr.splitlines()[-1]
    assert rest.calls == whole.calls - at
    assert sorted(os.listdir(tmp_path)) == before  # a run that fails keeps nothing


def test_an_interrupted_redaction_writes_the_bytes_of_an_uninterrupted_one(
    command, minutes, monkeypatch, counting, tmp_path
):
    words = spoken("we met Anna in the garden and " * 12, length=0.4, gap=0.6)
    sound = recording(tmp_path / "talk.wav", words)
    (tmp_path / "list.txt").write_text("Anna\n")
    counting()
    given = ("redact", "talk.wav", "--list", "list.txt", "--findings")

    script = Scripted(words, total=sound.shape[1] / RATE)  # goes on with the next stretch

    def listening(at: int = -1) -> Stopped:
        one = Stopped(script, at)
        monkeypatch.setattr(faster_whisper_words, "FasterWhisperWords", lambda *a, **k: one)
        return one

    whole = listening()
    files = ("whole.tsv", "--transcript", "whole.txt", "-o", "whole.wav")
    done = command(*given, *files)
    assert done.returncode == 0, done.stderr
    before = sorted(os.listdir(tmp_path))
    files = ("out.tsv", "--transcript", "out.txt", "-o", "out.wav")
    done_before = 0
    for more in (2, 4, 3):  # interrupted again and again
        listening(more)
        assert command(*given, *files).returncode == 130
        done_before += more
    rest = listening()
    done = command(*given, *files)
    assert done.returncode == 0, done.stderr
    assert rest.calls == whole.calls - done_before > 0
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "out.tsv", "out.txt", "out.wav"])
    for name in ("tsv", "txt", "wav"):
        one, other = (tmp_path / f"{stem}.{name}" for stem in ("whole", "out"))
        assert one.read_bytes() == other.read_bytes()


def test_an_interrupted_batch_of_redactions_leaves_only_what_it_heard(
    command, counting, minutes, tmp_path
):
    """Beside the recording, for its owner alone, so that the next run goes on."""
    minutes(1)
    (tmp_path / "list.txt").write_text("level0\n")
    before = sorted(os.listdir(tmp_path))
    for at in (1, 5):
        counting(at)
        done = command(
            "anonymize", "long.wav", "--list", "list.txt", "-o", "o.wav", "-s", "mcadams"
        )
        assert done.returncode == 130, done.stderr
        heard = tmp_path / ".voicenym-long.wav.heard"
        left = set(os.listdir(tmp_path)) - {heard.name}
        assert sorted(left) == before
        assert not heard.exists() or heard.stat().st_mode & 0o777 == 0o600
    assert heard.exists()


def test_interrupted_searches_for_speakers_leave_nothing_half_done(
    command, counting, minutes, tmp_path, monkeypatch
):
    from voicenym.diarization import recording_analysis
    from voicenym.systems.mcadams import McAdams

    def interrupted(*arguments, **others):
        raise KeyboardInterrupt

    minutes(0.5)
    (tmp_path / "long.rttm").write_text(
        "SPEAKER long 1 1.0 9.0 <NA> <NA> anna <NA> <NA>\n"
        "SPEAKER long 1 12.0 6.0 <NA> <NA> ben <NA> <NA>\n"
    )
    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr(recording_analysis, "window_vectors", interrupted)
    monkeypatch.setattr(
        recording_analysis,
        "speech_regions",
        lambda *arguments: np.array([[0.0, 5.0], [6.0, 9.0]]),
    )
    done = command("speakers", "long.wav")
    assert done.returncode == 130, done.stderr
    assert sorted(os.listdir(tmp_path)) == before
    done = command("speakers", "long.wav", "-o", "new.rttm")
    assert done.returncode == 130, done.stderr
    kept = tmp_path / ".voicenym-new.rttm.voices"
    assert sorted(os.listdir(tmp_path)) == [kept.name, *before]
    kept.unlink()
    monkeypatch.setattr(McAdams, "core", interrupted)
    done = command("anonymize", "long.wav", "--rttm", "long.rttm", "-s", "mcadams", "-o", "o.wav")
    assert done.returncode == 130, done.stderr
    assert sorted(os.listdir(tmp_path)) == before


def test_an_hour_takes_no_more_memory_than_ten_minutes(counting, minutes):
    """Most bytes that are held at once by words, levels and removal: by count of allocations."""
    from voicenym.audio import open_reader
    from voicenym.redaction.sound_removal import BEEP, removed
    from voicenym.redaction.surrounding_levels import SurroundingLevels
    from voicenym.transcription.word_listening import BLOCK_SECONDS, WINDOW_SECONDS, listen

    def peak(count: int) -> tuple[int, int]:
        path, recogniser = minutes(count), counting()
        intervals = [(t, t + 2.0) for t in range(5, 60 * count, 30)]
        tracemalloc.start()
        with open_reader(path) as reader:
            found = listen(reader, recogniser)
        with open_reader(path) as reader:
            SurroundingLevels(reader)
        with open_reader(path) as reader:
            edited = removed(reader, intervals, round(found.seconds * RATE), BEEP)
            for block in edited.blocks(RATE * 40):
                assert block.shape[1] <= RATE * 40
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert recogniser.longest <= WINDOW_SECONDS * RATE
        assert found.seconds == pytest.approx(60.0 * count)
        return most, len(found.words)

    short, words = peak(10)
    long, more = peak(60)
    assert more > 5 * words
    # an hour of samples has 230 MB; words, levels and times of holes may take some
    assert long < short + 4_000_000
    assert short < 8 * 4 * RATE * (WINDOW_SECONDS + BLOCK_SECONDS + 40)


def test_progress_tells_how_far_a_step_is(capsys):
    from voicenym.apps.cli.terminal.progress import Progress

    with Progress(quiet=False) as stage:
        stage("transcribing")
        for seconds in (30.0, 600.0, 900.0, 1230.0):
            stage.reached(seconds)
        stage("hearing the result (1)")
        stage.reached(599.0)
        stage.reached(3725.0)
    shown = capsys.readouterr().err.splitlines()
    assert shown == ["transcribing", "  0:10:00 done", "  0:20:30 done", "hearing the result (1)",
                     "  1:02:05 done"]  # fmt: skip


def test_an_interrupted_replacement_of_words_leaves_what_was_heard(
    command, monkeypatch, tmp_path, counting
):
    from scripted_retelling import ScriptedSynthesiser

    from voicenym.redaction import redacted_file
    from voicenym.systems import asr_tts

    words = spoken("we met Anna in the garden")
    sound = recording(tmp_path / "talk.wav", words)
    counting()
    monkeypatch.setattr(
        faster_whisper_words,
        "FasterWhisperWords",
        lambda *a, **k: Scripted(words, total=sound.shape[1] / RATE),
    )
    synthesiser = ScriptedSynthesiser()
    monkeypatch.setattr(asr_tts.AsrTts, "opened_synthesiser", lambda system: synthesiser)

    def interrupted(*arguments, **others):
        raise KeyboardInterrupt

    monkeypatch.setattr(redacted_file, "block_size", interrupted)
    (tmp_path / "list.txt").write_text("Anna\n")
    before = sorted(os.listdir(tmp_path))
    done = command(
        "redact", "talk.wav", "--list", "list.txt", "--by", "word", "-o", "out.wav",
        "--transcript", "out.txt",
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert sorted(os.listdir(tmp_path)) == [".voicenym-talk.wav.heard", *before]
