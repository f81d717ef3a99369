"""Forced alignment: positions of phones, texts that do not fit, and the cache."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import soundfile
import soxr

pytest.importorskip("pocketsphinx")

from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.recognition.sphinx_processes import alignment
from voicenym.recognition.sphinx_processes.alignment import Aligner, Alignments, pronunciations

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def lexicon():
    return pronunciations([TEXT, "glorp"], {"glorp": ["G L AO R P"]})


@pytest.fixture(scope="module")
def sound(say):
    samples, rate = soundfile.read(say(TEXT), dtype="float32")
    return soxr.resample(samples, rate, 16_000).astype(np.float32)


def test_phones_follow_the_text_and_move_with_the_sound(lexicon, sound):
    later = np.concatenate([np.zeros(8_000, np.float32), sound])
    with Aligner(lexicon) as aligner:
        found, moved = aligner.align(sound, TEXT), aligner.align(later, TEXT)
    names = [phone.name for phone in found if phone.name != SILENCE]
    assert names[:5] in (["DH", "AH", "K", "AE", "T"], ["DH", "IY", "K", "AE", "T"])
    assert names[-3:] == ["M", "AE", "T"]
    for before, after in itertools.pairwise(found):
        assert before.start < before.end == pytest.approx(after.start)
    assert found[-1].end == pytest.approx(len(sound) / 16_000, abs=0.05)
    vowels = [[p for p in part if p.name in ("AE", "AA", "AO")] for part in (found, moved)]
    for one, other in zip(*vowels, strict=True):
        assert other.start - one.start == pytest.approx(0.5, abs=0.05)


def test_vowels_are_louder_than_pauses(lexicon, sound):
    padded = np.concatenate([np.zeros(8_000, np.float32), sound, np.zeros(8_000, np.float32)])
    padded += 1e-4 * np.random.default_rng(0).standard_normal(len(padded)).astype(np.float32)
    with Aligner(lexicon) as aligner:
        found = aligner.align(padded, TEXT)
    power = {True: [], False: []}
    for name, start, end in found:
        if name in ("AE", SILENCE):
            part = padded[round(start * 16_000) : round(end * 16_000)]
            power[name == "AE"].append(np.square(part).mean())
    assert min(power[True]) > 100 * max(power[False])


def test_what_cannot_be_laid_along_is_none(lexicon, sound):
    with Aligner(lexicon) as aligner:
        assert aligner.align(sound, "the dog sat") is None  # no pronunciation
        assert aligner.align(sound, "") is None
        assert aligner.align(sound[:1_600], TEXT) is None  # no room
        assert aligner.align(sound, TEXT)  # and it goes on


def test_words_have_pronunciations_of_ones_own(lexicon):
    assert lexicon["glorp"] == ["G L AO R P"]
    assert "K AE T" in lexicon["cat"]
    assert set(pronunciations(["cat glorp"])) == {"cat"}


def test_alignments_are_made_once(lexicon, sound, tmp_path, monkeypatch):
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    recordings = [
        Recording("a", "s1", tmp_path / "a.wav", text=TEXT.upper() + "."),
        Recording("b", "s1", tmp_path / "a.wav", text="the dog"),
    ]
    path = tmp_path / "asr" / "alignments.jsonl"
    first = Alignments(path, lexicon).of(recordings)
    assert first[0][0].start == 0.0
    assert first[1] is None
    assert "s1" not in path.read_text()
    monkeypatch.setattr(alignment, "Aligner", None)
    again = Alignments(path, lexicon).of(recordings[::-1])
    assert again[0] is None
    for one, other in zip(again[1], first[0], strict=True):
        assert one.name == other.name
        assert one[1:] == pytest.approx(other[1:], abs=1e-4)
    path.write_text("no json\n")
    with pytest.raises(VoicenymError, match=r"alignments.jsonl:1: no alignment"):
        Alignments(path, lexicon)
