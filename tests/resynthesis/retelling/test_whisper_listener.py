"""Phrases of words and regions, and the reasons why speech is silenced."""

import numpy as np
import pytest
import soundfile
import tiny_whisper
import torch

from voicenym.dsp.analysis_memory import analysing_anew
from voicenym.errors import VoicenymError
from voicenym.nets.words.whisper.cross_attention_times import TimedWord
from voicenym.resynthesis.retelling import whisper_listener
from voicenym.resynthesis.retelling.phrases_heard import LANGUAGE, MUSIC, NO_SPEECH, UNCLEAR, Heard
from voicenym.resynthesis.retelling.whisper_listener import WhisperListener, _phrases, opened


def words(*given: tuple[str, float, float]) -> list[TimedWord]:
    return [TimedWord(text, start, end, -0.1) for text, start, end in given]


REGIONS = np.array([[0.5, 2.5], [4.0, 5.0]])


def test_words_belong_to_the_nearest_region_or_to_none():
    given = words(("One", 0.4, 0.8), ("two", 2.4, 2.9), ("three", 3.9, 4.2), ("lost", 7.0, 7.5))
    found = [(phrase.text, phrase.start, phrase.end) for phrase, _ in _phrases(given, REGIONS)]
    assert found == [("One two", 0.5, 2.5), ("three", 4.0, 5.0)]


def test_sentences_part_a_region_where_they_begin():
    given = words(("One.", 0.5, 1.0), ("Two", 1.2, 1.5), ("three.", 1.5, 2.0))
    found = [phrase for phrase, _ in _phrases(given, REGIONS)]
    assert [phrase.text for phrase in found] == ["One.", "Two three.", ""]
    assert (found[0].start, found[0].end, found[1].start, found[1].end) == (0.5, 1.2, 1.2, 2.5)


@pytest.fixture
def listener(tmp_path):
    tiny_whisper.write(tiny_whisper.network(), tmp_path)
    return WhisperListener(tmp_path, confidence=0.4)


@pytest.fixture
def sentence(sample):
    samples, rate = soundfile.read(sample, dtype="float32")
    assert rate == 16_000
    return samples


def test_clear_words_are_phrases_and_others_are_silenced(listener, sentence, monkeypatch):
    certain = [0.0]
    monkeypatch.setattr(
        listener, "_words",
        lambda signal, regions: [
            TimedWord("word", start, end, certain[0]) for start, end in regions.tolist()
        ],
    )  # fmt: skip
    clear = listener._heard(sentence)
    assert clear.phrases
    assert {phrase.text for phrase in clear.phrases} == {"word"}
    assert UNCLEAR not in clear.silenced
    certain[0] = np.log(0.39)
    unclear = listener._heard(sentence)
    assert not unclear.phrases
    seconds = sum(phrase.end - phrase.start for phrase in clear.phrases)
    assert unclear.silenced[UNCLEAR] == pytest.approx(seconds)
    monkeypatch.setattr(listener, "_words", lambda signal, regions: [])
    assert listener._heard(sentence).silenced[UNCLEAR] == pytest.approx(seconds)


def test_another_language_and_music_are_silenced(listener, sentence, monkeypatch):
    monkeypatch.setattr(listener, "_words", lambda signal, regions: words(("a", 0.0, 9.0)))
    monkeypatch.setattr(listener, "_scored", lambda signal: (None, True))
    found = listener._heard(sentence)
    assert not found.phrases
    assert found.silenced[LANGUAGE] > 0.5
    monkeypatch.setattr(listener, "_scored", lambda signal: (torch.zeros(1), False))
    monkeypatch.setattr(whisper_listener, "_mostly_music", lambda *given: True)
    found = listener._heard(sentence)
    assert not found.phrases
    assert found.silenced[MUSIC] > 0.5


def test_sounds_that_are_no_speech_are_told_and_silence_is_not(listener):
    time = np.arange(4 * 16_000) / 16_000
    tone = (0.1 * np.sin(2 * np.pi * 440 * time)).astype(np.float32)
    found = listener.hear(tone)
    assert not found.phrases
    assert sum(found.silenced.values()) > 3.0
    assert set(found.silenced) <= {NO_SPEECH, UNCLEAR}
    assert listener.hear(np.zeros(16_000, np.float32)).silenced == {}
    assert listener.hear(np.zeros(0, np.float32)).phrases == ()


def test_what_was_heard_is_remembered_for_other_keys(listener, sentence, monkeypatch):
    first = listener.hear(sentence)
    monkeypatch.setattr(listener, "_heard", lambda samples: pytest.fail("heard again"))
    assert listener.hear(sentence.copy()) == first


def test_the_bundled_scores_tell_music_from_speech(tmp_path, sentence):
    tiny_whisper.write(tiny_whisper.network(), tmp_path)
    checked = opened(tmp_path, "en", False, 0.0, "cpu")
    scores, foreign = checked._scored(torch.from_numpy(sentence))
    assert scores is not None
    assert not foreign


def test_languages_that_the_model_does_not_know_are_named(tmp_path):
    tiny_whisper.write(tiny_whisper.network(), tmp_path)
    WhisperListener(tmp_path, "de")
    with pytest.raises(VoicenymError, match="knows no language 'fr'; give another recogniser"):
        WhisperListener(tmp_path, "fr-FR")


def test_where_speed_is_measured_everything_is_heard_anew(listener, sentence, monkeypatch):
    calls = []
    monkeypatch.setattr(listener, "_heard", lambda samples: calls.append(1) or Heard())
    listener.hear(sentence)
    with analysing_anew():
        listener.hear(sentence)
        listener.hear(sentence)
    assert len(calls) >= 2
