"""Pocketsphinx: recognition, reported omissions, and restarts after crashes."""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest
import soundfile
import soxr

from voicenym.errors import AudioError, VoicenymError
from voicenym.recognition import recogniser
from voicenym.recognition.speaker_grammar import intelligible, recognise_speakers
from voicenym.recognition.sphinx_processes.sphinx import Sphinx

pytest.importorskip("pocketsphinx")

SENTENCES = [
    "the cat sat on the mat",
    "a light rain was falling at the time",
    "please open the window before dinner",
]


@pytest.fixture(scope="module")
def spoken(say):
    """Each sentence as ``[time]`` at 16 kHz."""

    def speak(text):
        samples, rate = soundfile.read(say(text), dtype="float32")
        return soxr.resample(samples, rate, 16000).astype(np.float32)

    return speak


def test_a_bigram_of_the_sentences_hears_them(spoken):
    with Sphinx(SENTENCES) as sphinx:
        transcripts = sphinx.transcribe([spoken(text) for text in SENTENCES])
        assert sphinx.name == "pocketsphinx, bigram of the sentences"
    assert sum(stated == found for stated, found in zip(SENTENCES, transcripts, strict=True)) >= 2
    words = {word for sentence in SENTENCES for word in sentence.split()}
    assert all(set(text.split()) <= words for text in transcripts)


def test_a_choice_among_phrases_and_a_word_of_our_own(spoken):
    phrases = ["Computer", "snowboy", "smart mirror"]
    with recogniser("sphinx", phrases=phrases, pronunciations={"snowboy": "S N OW B OY"}) as sphinx:
        transcripts = sphinx.transcribe(
            [spoken(p) for p in ("computer", "snow boy", "smart mirror")]
        )
    assert transcripts == ["computer", "snowboy", "smart mirror"]


def test_the_order_of_recordings_does_not_matter(spoken):
    a, b = spoken(SENTENCES[0]), spoken(SENTENCES[1]) * 0.05
    with Sphinx(SENTENCES) as sphinx:
        first = sphinx.transcribe([a, b, a])
        assert sphinx.transcribe([b, a]) == [first[1], first[0]]
        assert first[2] == first[0]


def test_silence_and_nothing_are_no_choice():
    with Sphinx(phrases=["computer", "smart mirror"]) as sphinx:
        assert sphinx.transcribe([np.zeros(0, np.float32), np.zeros(8000, np.float32)]) == ["", ""]


def test_missing_words_are_warned_of_and_left_out():
    with pytest.warns(UserWarning, match="1 of 2 left out.*: snowboy; give their pronunciations"):
        sphinx = Sphinx(["THE CAT", "the snowboy"])
    assert sphinx.left_out == {"the snowboy": ["snowboy"]}
    with (
        pytest.raises(VoicenymError, match="nothing that pocketsphinx can pronounce"),
        pytest.warns(UserWarning, match="left out"),
    ):
        Sphinx(["glorp"])


def test_a_killed_worker_is_an_empty_transcript_and_the_next_recording_is_transcribed(spoken):
    sounds = [spoken(text) for text in SENTENCES]
    with Sphinx(SENTENCES) as sphinx:
        before = sphinx.transcribe(sounds)
        os.kill(sphinx._worker.process.pid, signal.SIGKILL)
        with pytest.warns(UserWarning, match=r"recording 0: pocketsphinx crashed.*1 so far"):
            after = sphinx.transcribe(sounds)
        assert after == ["", *before[1:]]
        assert sphinx.crashes == 1


def test_a_worker_that_hangs_is_killed(spoken, monkeypatch):
    monkeypatch.setattr("voicenym.recognition.sphinx_processes.sphinx.SLOWEST", 0.0)
    with Sphinx(SENTENCES, patience=0.5) as sphinx:
        sphinx.transcribe([np.zeros(1600, np.float32)])
        os.kill(sphinx._worker.process.pid, signal.SIGSTOP)
        with pytest.warns(UserWarning, match="took more than"):
            assert sphinx.transcribe([spoken(SENTENCES[0])]) == [""]
    assert sphinx.crashes == 1


def test_a_worker_that_does_not_start_says_so(capfd):
    sphinx = Sphinx(phrases=["computer"], pronunciations={"computer": "NO SUCH PHONES"})
    with pytest.raises(VoicenymError, match="does not start"):
        sphinx.transcribe([np.zeros(1600, np.float32)])


def test_closing_ends_the_worker_and_may_be_done_twice():
    sphinx = Sphinx(phrases=["computer"])
    sphinx.transcribe([np.zeros(1600, np.float32)])
    worker = sphinx._worker.process
    sphinx.close()
    sphinx.close()
    assert worker.poll() is not None


def test_both_kinds_at_once_are_refused():
    with pytest.raises(VoicenymError, match="not both"):
        Sphinx(["yes"], phrases=["no"])


def test_two_channels_are_refused():
    with Sphinx(phrases=["yes"]) as sphinx, pytest.raises(AudioError, match="recording 0"):
        sphinx.transcribe([np.zeros((2, 16000), np.float32)])


def test_each_speaker_is_transcribed_with_the_own_prompts(spoken):
    speech = {
        "a": [(SENTENCES[0].upper(), spoken(SENTENCES[0])), ("GLORP", np.zeros(99, np.float32))],
        "b": [("no", spoken("yes"))],
    }
    prompts = {"a": [SENTENCES[0].upper(), SENTENCES[1], "GLORP"], "b": ["yes", "no"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transcripts = recognise_speakers(speech, prompts, choice=True)
    assert "glorp" in str(caught[0].message)
    assert transcripts == {"a": [(SENTENCES[0], SENTENCES[0])], "b": [("no", "yes")]}
    assert intelligible(transcripts) == ["a"]
    assert intelligible(transcripts, most=1.0) == ["a", "b"]
