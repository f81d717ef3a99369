"""A recogniser of one language, and speech of another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scripted_words import RATE, Scripted, recording, spoken

from voicenym.audio import open_reader
from voicenym.errors import AudioError
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.resynthesis.pipeline import assembly
from voicenym.transcription.assumed_language import AssumedLanguage
from voicenym.transcription.word_listening import listen


class Content:
    """An encoder whose language scores are a constant."""

    hop, rate, most_misfit, language = 320, RATE, None, "en"

    def __init__(self, score: float) -> None:
        self.score, self.heard = score, 0
        self.language_scores = LanguageScores(4, "en")

    def with_language_score(self, samples):
        self.heard += samples.shape[1]
        frames = -(-samples.shape[1] // self.hop)
        return None, torch.full((1, frames, 1), self.score)


@dataclass(frozen=True)
class Modules:
    content: Content


@pytest.fixture
def scored(monkeypatch):
    """``scored(score)``: the encoder that is asked."""

    def make(score: float) -> Content:
        content = Content(score)
        monkeypatch.setattr(assembly, "opened", lambda *_: Modules(content))
        return content

    return make


def listened(tmp_path, recogniser: Scripted) -> str:
    path = tmp_path / "talk.wav"
    if not path.exists():
        recording(path, recogniser.script)
    with open_reader(path) as reader:
        check = AssumedLanguage("talk.wav", recogniser)
        found = listen(reader, recogniser, eager=True, check=check)
    return " ".join(word.text for word in found.words)


def test_speech_of_another_language_is_refused_with_its_cures(tmp_path, scored):
    scored(1.0)
    english = Scripted(spoken("one two three four five six seven"), assumes="en")
    with pytest.raises(AudioError) as refused:
        listened(tmp_path, english)
    message = str(refused.value)
    assert message.startswith("talk.wav: the speech is likely not of the only language that scrip")
    assert message.endswith(" (en); give a recogniser of several languages, such as "
                            "faster-whisper-small, or --language en if it is")  # fmt: skip


def test_speech_of_the_language_or_of_a_stated_one_is_heard(tmp_path, scored):
    words = "one two three four five six seven"
    assert scored(-1.0).heard == 0
    assert listened(tmp_path, Scripted(spoken(words), assumes="en")) == words
    for assumes in ("", "de"):  # stated or detected; a language without scores
        content = scored(1.0)
        assert listened(tmp_path, Scripted(spoken(words), assumes=assumes)) == words
        assert not content.heard


def test_a_minute_of_speech_decides(scored):
    content = scored(-1.0)
    check = AssumedLanguage("x", Scripted([], assumes="en"))
    stretch = np.random.default_rng(0).standard_normal((1, 25 * RATE)).astype(np.float32)
    for _ in range(5):
        check.add(0.1 * stretch)
    content.score = 1.0  # the language changes later, which the check does not see
    check.add(0.1 * stretch)
    check.end()
    assert content.heard <= 4 * stretch.shape[1]


def test_silence_has_no_language(scored):
    content = scored(1.0)
    check = AssumedLanguage("x", Scripted([], assumes="en"))
    check.add(np.zeros((2, RATE), np.float32))
    check.end()
    assert not content.heard
