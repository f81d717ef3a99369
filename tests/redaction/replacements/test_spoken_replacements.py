"""Removed words are replaced by spoken ones of their class: level, place, room, and the check."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from scripted_retelling import ScriptedSynthesiser
from scripted_words import RATE, Scripted, Spoken, burst, recording, spoken

from voicenym.audio import open_reader
from voicenym.errors import RedactionError
from voicenym.pseudonym import Key
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.redacted_file import write_redacted
from voicenym.redaction.redactor import Redactor
from voicenym.redaction.replacements.spoken_replacements import FASTEST, ReplacementVoice
from voicenym.redaction.sound_removal import BEEP, SILENCE, WORD, removed
from voicenym.redaction.surrounding_levels import SurroundingLevels, speech_level
from voicenym.transcription.timed_words import Word

TEXT = "we met Anna Miller in the old garden and left"
KEY, OTHER = Key(bytes([5] * 32)), Key(bytes([6] * 32))


def voice(key=KEY, letter=0.05) -> ReplacementVoice:
    return ReplacementVoice(ScriptedSynthesiser(letter=letter), key.pseudonym("", "x"))


def redactor(recogniser, *entries, key=KEY, letter=0.05, **options) -> Redactor:
    finder = WordFinder(own=OwnList(entries))
    return Redactor(recogniser, finder, way=WORD, voice=voice(key, letter), **options)


def removal(path, recogniser, *entries, **options):
    one = redactor(recogniser, *entries, **options)
    heard = one.hear(path, str(path))
    return one.secure(path, str(path), heard, one.decide(heard))


def written(path, what):
    out = path.with_name("out.wav")
    write_redacted(path, out, what, what.plain, overwrite=True)
    return soundfile.read(out, dtype="float32", always_2d=True)[0].T


@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 2), (8_000, 3)])
def test_a_word_is_said_in_the_hole_at_the_level_of_the_surroundings(talk, rate, channels):
    path, sound, words, recogniser = talk(TEXT, rate, channels)
    what = removal(path, recogniser, "Anna Miller")
    assert len(what.words.words) == 1
    assert what.warnings == ()
    out = written(path, what)
    ((start, end),) = what.intervals
    first, last = int(np.floor(start * rate)), int(np.ceil(end * rate))
    assert np.array_equal(out[:, :first], sound[:, :first])
    assert np.array_equal(out[:, last:], sound[:, last:])
    inside, around = out[:, first:last], np.delete(sound, np.s_[first:last], 1)
    for own, other in zip(inside, around, strict=True):
        error = 20 * np.log10(speech_level(own, rate) / speech_level(other, rate))
        assert abs(error) < 1.5
    for number in (2, 3):  # nothing of the removed words is left
        word = words[number]
        a, b = round(word.start * rate), round(word.end * rate)
        left = np.corrcoef(out[0, a:b], burst(number, b - a, rate))[0, 1]
        assert abs(left) < 0.3
    # faded at its ends, and silent where it ends
    assert np.abs(np.diff(inside[0])).max() < 2.0 * np.abs(np.diff(around[0])).max()


def test_each_channel_has_the_level_of_its_own_surroundings(tmp_path):
    words = spoken(TEXT)
    path = tmp_path / "talk.wav"
    (sound,) = recording(path, words)
    soundfile.write(path, np.stack([sound, 0.1 * sound], 1), RATE, subtype="FLOAT")
    recogniser = Scripted(words, total=2 * len(sound) / RATE)
    recogniser._begin = lambda seconds: 0.0
    what = removal(path, recogniser, "Anna Miller")
    loud, low = what.words.words[0].levels
    assert low == pytest.approx(0.1 * loud, rel=1e-3)


def test_the_same_key_says_the_same_and_another_key_another(talk):
    path, _, _, recogniser = talk(TEXT)
    found = [written(path, removal(path, recogniser, "Anna Miller", key=k)) for k in (KEY, KEY)]
    assert np.array_equal(*found)
    assert not np.array_equal(
        found[0], written(path, removal(path, recogniser, "Anna Miller", key=OTHER))
    )


@pytest.mark.parametrize("size", [100, 1_000, 10**6])
def test_blocks_of_any_size_give_the_same(talk, size):
    path, _, _, recogniser = talk(TEXT)
    what = removal(path, recogniser, "Anna Miller", "garden")
    assert len(what.words.words) == 2

    def sound(size):
        with open_reader(path) as reader:
            edited = removed(reader, what.intervals, what.frames, what.plain, what.words)
            return np.concatenate(list(edited.blocks(size)), 1)

    assert np.array_equal(sound(size), sound(777))


def test_a_long_word_borrows_silence_then_is_spoken_faster(talk):
    words = [Spoken("hello", 0.3, 0.8), Spoken("Anna", 3.0, 3.3), Spoken("left", 6.0, 6.5)]
    path, sound, _, recogniser = talk(words)
    what = removal(path, recogniser, "Anna", letter=0.4)
    ((start, end),) = what.intervals
    (word,) = what.words.words
    assert end - start > 1.31  # more than the padded word
    assert word.speed == 1.0
    out = written(path, what)
    assert np.array_equal(out[:, : int(start * RATE)], sound[:, : int(start * RATE)])
    assert np.array_equal(out[:, round(6.0 * RATE) :], sound[:, round(6.0 * RATE) :])
    lone = [Spoken("hello", 0.3, 2.4), Spoken("Anna", 2.5, 2.8), Spoken("left", 2.9, 5.5)]
    path, _, _, recogniser = talk(lone)
    (word,) = removal(path, recogniser, "Anna", letter=0.22).words.words
    assert 1.0 < word.speed <= FASTEST


@pytest.mark.parametrize("plain", [BEEP, SILENCE])
def test_what_does_not_fit_is_a_beep_and_is_told(talk, plain):
    words = [Spoken("hello", 0.3, 2.4), Spoken("Anna", 2.5, 2.8), Spoken("left", 2.9, 5.5)]
    path, _, _, recogniser = talk(words)
    what = removal(path, recogniser, "Anna", letter=2.0, plain=plain)
    assert what.words.words == ()
    (warning,) = what.warnings
    assert "1 of 1 removed parts" in warning
    assert plain in warning
    assert "Anna" not in warning
    inside = written(path, what)[0, round(2.3 * RATE) : round(3.0 * RATE)]
    assert bool(inside.any()) == (plain == BEEP)


def test_a_replacement_in_which_a_removed_word_is_heard_becomes_a_beep(talk):
    path, _, words, recogniser = talk(TEXT)
    hear = recogniser.hear

    def misheard(samples, language=None, hints=()):
        """Hears the name again, as long as anything but a tone sounds where it was."""
        found = hear(samples, language, hints)
        part = samples[round(words[2].start * RATE) : round(words[3].end * RATE)]
        spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part))))
        tone = spectrum.max() > 0.25 * spectrum.sum()
        if recogniser.passes > 2 and not tone:
            name = Word("Miller", words[3].start, words[3].end, 0.9, (0.0, 1.0))
            return type(found)((*found.words, name), "en")
        return found

    recogniser.hear = misheard
    what = removal(path, recogniser, "Miller")
    assert what.words.words == ()
    assert what.rounds == 2
    assert "beep" in what.warnings[0]


def test_leftovers_are_an_error_also_with_words(talk):
    path, _, _, recogniser = talk(TEXT, ghosts=True)
    with pytest.raises(RedactionError, match="still heard"):
        removal(path, recogniser, "Anna Miller")


def test_speech_of_another_language_is_refused_before_anything_is_spoken(talk):
    path, _, _, recogniser = talk(TEXT)
    hear = recogniser.hear
    recogniser.hear = lambda s, language=None, hints=(): type(hear(s))(hear(s).words, "de")
    with pytest.raises(RedactionError, match=r"'de'.*--by beep"):
        removal(path, recogniser, "Anna")


def test_levels_are_of_speech_beside_the_hole_alone(talk):
    path, _, words, _ = talk(TEXT)
    with open_reader(path) as reader:
        levels = SurroundingLevels(reader)
    near = levels.around(words[2].start, words[3].end, [(words[2].start, words[3].end)])
    assert near == pytest.approx(levels.overall([]), rel=0.1)
    assert levels.overall([(0.0, 60.0)]) == (0.0,)
    assert levels.silence_after(words[-1].end + 0.1, 5.0) == pytest.approx(0.85, abs=0.11)
    assert levels.silence_before(words[0].start - 0.06, 5.0) == pytest.approx(0.4, abs=0.11)
