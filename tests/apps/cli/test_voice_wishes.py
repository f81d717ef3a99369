"""``voicenym anonymize --voice``, ``--voice-like`` and ``--preview``."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile

from voicenym.pseudonym import Key


@pytest.fixture
def corpus(tmp_path, sample):
    """Two speakers' folders, and a key."""
    samples, rate = soundfile.read(sample)
    for speaker in ("anna", "ben"):
        (tmp_path / "in" / speaker).mkdir(parents=True)
        soundfile.write(tmp_path / "in" / speaker / "one.wav", np.tile(samples, 4), rate)
    Key(bytes(range(32))).save(tmp_path / "k.key")
    return tmp_path


def read(path):
    return soundfile.read(path)[0]


def test_a_wish_changes_the_voice_and_the_same_wish_gives_the_same(command, corpus):
    for name, *wish in (("any",), ("high", "--voice", "high"), ("again", "--voice", "high"),
                        ("next", "--voice", "high", "--voice-like", "1")):  # fmt: skip
        done = command("anonymize", "in/ben/one.wav", "-o", f"{name}.wav", "--system", "recast",
                       "--key", "k.key", "--speaker", "ben", *wish)  # fmt: skip
        assert done.returncode == 0, done.stderr
    made = {name: read(corpus / f"{name}.wav") for name in ("any", "high", "again", "next")}
    assert np.array_equal(made["high"], made["again"])
    assert not np.array_equal(made["high"], made["next"])


def test_a_corpus_is_not_continued_with_another_wish(command, corpus):
    run = ("anonymize", "in/", "-o", "out/", "--system", "recast", "--key", "k.key")
    assert command(*run, "--voice", "low").returncode == 0
    line = json.loads((corpus / "out" / "voicenym.jsonl").read_text().splitlines()[0])
    assert line["parameters"]["voice_kind"] == "low"
    again = command(*run)
    assert again.returncode == 1
    assert "--overwrite" in again.stderr.decode()


def test_impossible_wishes_fail_before_anything_is_written(command, corpus):
    run = ("anonymize", "in/", "-o", "out/", "--key", "k.key")
    done = command(*run, "--system", "mcadams", "--voice", "female")
    assert done.returncode == 1
    assert "depend on the speaker's own" in done.stderr.decode()
    done = command(*run, "--system", "recast", "--voice", "squeaky")
    assert done.returncode == 1
    assert "female, male, low, high" in done.stderr.decode()
    assert not (corpus / "out").exists()


def test_a_preview_is_short_and_in_the_voice_of_the_run(command, corpus):
    run = ("anonymize", "in/", "--system", "mcadams", "--key", "k.key")
    done = command(*run, "-o", "out/", "--preview", "1.5s")
    assert done.returncode == 0, done.stderr
    assert not (corpus / "out").exists()
    preview = read(corpus / "out.preview.wav")
    assert len(preview) == 24_000
    whole_run = command(*run, "-o", "out/")
    assert whole_run.returncode == 0
    assert b"2 anonymized" in whole_run.stderr, "the preview is no recording of the corpus"
    whole = read(corpus / "out" / "anna" / "one.wav")
    # mcadams is local in time: the preview is a part of the whole, but for its edges
    inner = preview[6_000:18_000]
    correlation = np.correlate(whole[:80_000], inner, "valid")
    place = int(correlation.argmax())
    assert np.abs(whole[place : place + 12_000] - inner).max() < 0.02


def test_previews_need_a_key_and_a_duration(command, corpus):
    run = ("anonymize", "in/ben/one.wav", "--system", "mcadams")
    fresh = command(*run, "--preview", "1s")
    assert fresh.returncode == 1
    assert "--preview needs a key" in fresh.stderr.decode()
    for bad in ("soon", "0", "-3s", "2h"):
        done = command(*run, "--key", "k.key", f"--preview={bad}")
        assert done.returncode == 1, bad
        assert "--preview" in done.stderr.decode()
    done = command(*run, "--key", "k.key", "--preview", "1s", "--dry-run")
    assert done.returncode == 1
    assert sorted(path.name for path in (corpus / "in" / "ben").iterdir()) == ["one.wav"]


def test_asr_tts_without_models_names_the_command(command, corpus):
    done = command("anonymize", "in/ben/one.wav", "--system", "asr-tts", "--key", "k.key")
    assert done.returncode == 1
    assert "voicenym models pull" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert len(done.stderr.decode().strip().splitlines()) <= 2
