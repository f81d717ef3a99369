"""The redactor with a scripted recogniser: padding, failing closed, leftovers, borders."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_words import RATE, Scripted, Spoken, recording, spoken

from voicenym.errors import AudioError, RedactionError
from voicenym.redaction.checked_removal import ROUNDS, SINGLY
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.findings_file import Line
from voicenym.redaction.redacted_file import write_redacted
from voicenym.redaction.redactor import Redactor
from voicenym.redaction.sound_removal import BEEP, SILENCE
from voicenym.redaction.word_placing import AFTER, BEFORE
from voicenym.transcription.timed_words import Word
from voicenym.transcription.transcript_files import format_text
from voicenym.transcription.word_recogniser import Heard

TEXT = "we met Anna Miller in the old garden and left"


def redactor(recogniser, *entries, **options):
    return Redactor(recogniser, WordFinder(own=OwnList(entries)), **options)


def removal(path, recogniser, *entries, **options):
    one = redactor(recogniser, *entries, **options)
    heard = one.hear(path, str(path))
    return one.secure(path, str(path), heard, one.decide(heard))


def written(path, what, way=SILENCE):
    import soundfile

    out = path.with_name(f"out{path.suffix}")
    write_redacted(path, out, what, way, overwrite=True)
    sound, rate = soundfile.read(out, dtype="float32", always_2d=True)
    return sound.T, rate


@pytest.mark.parametrize("way", [SILENCE, BEEP])
@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 2), (8_000, 8)])
def test_samples_outside_are_kept_and_none_inside(talk, way, rate, channels):
    path, sound, words, recogniser = talk(TEXT, rate, channels)
    what = removal(path, recogniser, "Anna Miller", way=way)
    out, same = written(path, what, way)
    assert (out.shape, same) == (sound.shape, rate)
    ((start, end),) = what.intervals
    assert start == pytest.approx(words[2].start - BEFORE)
    assert end == pytest.approx(words[3].end + AFTER)
    first, last = int(np.floor(start * rate)), int(np.ceil(end * rate))
    assert np.array_equal(out[:, :first], sound[:, :first])
    assert np.array_equal(out[:, last:], sound[:, last:])
    inside = out[:, round((start + 0.02) * rate) : round((end - 0.02) * rate)]
    if way == SILENCE:
        assert not inside.any()
    else:
        assert 0.05 < np.sqrt(np.mean(inside**2)) < 0.09
        names = sound[:, round(words[2].start * rate) : round(words[3].end * rate)]
        there = out[:, round(words[2].start * rate) : round(words[3].end * rate)]
        assert abs(np.corrcoef(names[0], there[0])[0, 1]) < 0.1


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(late=st.floats(0.0, BEFORE - 0.01), early=st.floats(0.0, 0.29))
def test_an_aligner_that_errs_within_the_padding_leaves_nothing(tmp_path, late, early):
    words = spoken(TEXT, length=0.6)
    path = tmp_path / "talk.wav"
    sound = recording(path, words)
    total = sound.shape[1] / RATE
    late = min(late, 0.55 - early)  # less than 0.05 s is no time for a name, and stops the file
    what = removal(path, Scripted(words, late=late, early=early, total=total), "Anna")
    out, _ = written(path, what)
    assert not out[:, round(words[2].start * RATE) : round(words[2].end * RATE)].any()


def test_what_cannot_be_placed_stops_the_file_and_names_no_word(talk):
    path, _, _, recogniser = talk(TEXT, unplaced=frozenset({"Miller"}))
    with pytest.raises(RedactionError, match="cannot be placed in time") as raised:
        removal(path, recogniser, "Anna Miller")
    assert "--on-miss sentence" in str(raised.value)
    assert "Miller" not in str(raised.value)
    assert "Anna" not in str(raised.value)


def test_or_its_sentence_is_removed(talk):
    path, sound, _, recogniser = talk(TEXT, unplaced=frozenset({"Miller"}))
    one = redactor(recogniser, "Anna Miller")
    (found,) = one.decide(one.hear(path, str(path)))
    assert found.missed
    assert found.line.of_sentence
    what = removal(path, recogniser, "Anna Miller", on_miss="sentence")
    assert what.intervals == ((0.0, pytest.approx(sound.shape[1] / RATE)),)
    text = format_text(what.transcript)
    assert "Miller" not in text
    assert "[REDACTED]" in text


def test_times_in_which_no_word_fits_are_none(talk):
    words = [Spoken("we", 0.5, 0.8), Spoken("Bartholomew", 1.0, 1.05), Spoken("met", 1.5, 1.8)]
    path, _, _, recogniser = talk(words)
    with pytest.raises(RedactionError, match="cannot be placed"):
        removal(path, recogniser, "Bartholomew")


def test_a_word_that_only_the_second_hearing_finds_is_removed_too(talk):
    path, _, words, recogniser = talk("Anna met Anna1 there", deaf=frozenset({"Anna1"}))
    recogniser.script = [
        Spoken("Anna" if w.text == "Anna1" else w.text, w.start, w.end) for w in words
    ]
    recogniser.deaf = frozenset()
    first = recogniser.hear

    def hear(samples, language=None, hints=()):
        found = first(samples, language, hints)
        if recogniser.passes <= 2:  # the first hearings, without and with hints, miss one
            return type(found)(tuple(w for w in found.words if w.start < 1.5), "en")
        return found

    recogniser.hear = hear
    what = removal(path, recogniser, "Anna")
    assert what.more == 1
    assert what.rounds == 2
    out, _ = written(path, what)
    assert not out[:, round(words[2].start * RATE) : round(words[2].end * RATE)].any()


def test_numbers_that_only_a_hearing_with_their_words_finds_are_removed(talk):
    """A small recogniser takes digits for other words, unless it is told that digits may occur."""
    from voicenym.redaction.finding.entity_analyzer import EntityAnalyzer

    path, _, words, recogniser = talk("the code is for sticks then we left")
    hear, told = recogniser.hear, []

    def hinted(samples, language=None, hints=()):
        found = hear(samples, language)
        told.append(hints)
        as_digits = {"for": "four", "sticks": "six"} if hints else {}
        heard = (replace(w, text=as_digits.get(w.text, w.text)) for w in found.words)
        return type(found)(tuple(heard), "en")

    recogniser.hear = hinted
    for category, hearings in (("names", 1), ("numbers", 2)):
        told.clear()
        one = Redactor(recogniser, WordFinder((category,), EntityAnalyzer("rules")))
        heard = one.hear(path, "talk")
        assert len(told) == hearings
        what = one.secure(path, "talk", heard, one.decide(heard))
        out, _ = written(path, what)
        span = slice(round(words[3].start * RATE), round(words[4].end * RATE))
        assert out[:, span].any() == (category == "names")
    assert format_text(what.transcript) == "the code is [NUMBER] then we left\n"


def test_leftovers_are_an_error_and_nothing_is_written(talk):
    path, _, _, recogniser = talk(TEXT, ghosts=True)
    with pytest.raises(RedactionError, match=f"still heard after {ROUNDS} rounds") as raised:
        removal(path, recogniser, "Anna Miller")
    assert "Anna" not in str(raised.value)
    assert not path.with_name("out.wav").exists()


@pytest.mark.parametrize("place", [24.0, 26.0, 27.9, 28.0])
def test_a_name_over_the_border_of_stretches_is_one_name(tmp_path, place):
    before = spoken("so we talked and talked until", start=0.5)
    name = [Spoken("Anna", place, place + 0.3), Spoken("Miller", place + 0.35, place + 0.7)]
    words = [*before, *name, *spoken("came in", start=place + 1.5)]
    path = tmp_path / "talk.wav"
    sound = recording(path, words)
    what = removal(path, Scripted(words, total=sound.shape[1] / RATE), "Anna Miller")
    out, _ = written(path, what)
    assert not out[:, round(place * RATE) : round((place + 0.7) * RATE)].any()
    assert np.array_equal(out[:, : round(20 * RATE)], sound[:, : round(20 * RATE)])


@pytest.mark.parametrize("size", [1, 7, 100, 4_096, 10**6])
def test_blocks_have_their_size_and_any_size_gives_the_same(talk, size):
    from voicenym.audio import open_reader
    from voicenym.redaction.sound_removal import removed

    path, sound, _, _ = talk("one two", rate=1_000)
    intervals = [(0.1, 0.2), (0.15, 0.4), (0.9, 99.0)]

    def blocks(size):
        with open_reader(path) as reader:
            edited = removed(reader, intervals, sound.shape[1], BEEP)
            return [block.copy() for block in edited.blocks(size)]

    found = blocks(size)
    assert all(block.shape[1] == size for block in found[:-1])
    assert np.array_equal(np.concatenate(found, 1), np.concatenate(blocks(333), 1))


def test_a_recording_that_changes_meanwhile_is_refused(talk):
    path, _, words, recogniser = talk(TEXT)
    what = removal(path, recogniser, "Anna")
    recording(path, words[:3])
    with pytest.raises(AudioError, match="has changed while it was read"):
        written(path, what)
    assert not path.with_name("out.wav").exists()
    assert sorted(one.name for one in path.parent.iterdir()) == ["talk.wav"]


def test_any_channel_may_hold_the_name(tmp_path):
    """Opposite signs cancel in the mean of channels; each is heard by itself."""
    import soundfile

    words = spoken(TEXT)
    path = tmp_path / "talk.wav"
    (sound,) = recording(path, words)
    soundfile.write(path, np.stack([sound, -sound], 1), RATE, subtype="FLOAT")
    heard = Scripted(words, total=2 * len(sound) / RATE)  # two channels, one after the other
    parts = itertools.cycle([0.0])
    heard._begin = lambda seconds: next(parts)
    what = removal(path, heard, "Anna")
    out, _ = written(path, what)
    assert not out[:, round(words[2].start * RATE) : round(words[2].end * RATE)].any()
    assert format_text(what.transcript).count("[REDACTED]") == 2


def test_nothing_to_find_changes_nothing(talk):
    path, sound, _, recogniser = talk("we met nobody")
    what = removal(path, recogniser, "Anna")
    assert what.intervals == ()
    out, _ = written(path, what)
    assert np.array_equal(out, sound)


def test_words_that_a_person_keeps_stay_and_others_go(talk):
    path, sound, words, recogniser = talk("Anna saw the old man and then met Anna again")
    one = redactor(recogniser, "Anna")
    heard = one.hear(path, "talk")
    first, second = (decision.line for decision in one.decide(heard))
    lines = [Line(False, first.start, first.end, "list", 1.0, "Anna"), second]
    decisions = one.of_lines(lines, heard, "f.txt")
    what = one.secure(path, "talk", heard, decisions)
    out, _ = written(path, what)
    kept, gone = (slice(round(w.start * RATE), round(w.end * RATE)) for w in (words[0], words[8]))
    assert np.array_equal(out[:, kept], sound[:, kept])
    assert not out[:, gone].any()
    assert format_text(what.transcript) == "Anna saw the old man and then met [REDACTED] again\n"


def test_words_without_times_are_looked_for(talk):
    path, _, words, recogniser = talk(TEXT)
    one = redactor(recogniser)
    heard = one.hear(path, "talk")
    (found,) = one.of_lines([Line(True, None, None, "names", 1.0, "miller")], heard, "f.txt")
    assert (found.line.start, found.line.end) == (words[3].start, words[3].end)
    with pytest.raises(RedactionError, match="finding 1 were not heard") as raised:
        one.of_lines([Line(True, None, None, "names", 1.0, "Zenobia")], heard, "f.txt")
    assert "Zenobia" not in str(raised.value)


def test_speech_without_a_word_is_not_passed_on_as_redacted(talk, monkeypatch):
    from voicenym.transcription import word_listening

    monkeypatch.setattr(word_listening, "LEAST_UNHEARD", 0.6)
    path, _, _, recogniser = talk(TEXT)
    recogniser.script = []
    with pytest.raises(RedactionError, match="no word was recognised"):
        removal(path, recogniser, "Anna")
    what = removal(path, recogniser, "Anna", unheard=True)
    assert what.seconds > 5.0


def test_memory_does_not_hold_the_recording(tmp_path):
    """Stretches are at most 28 s long, however long the recording is."""
    words = spoken(" ".join(["word"] * 120))
    path = tmp_path / "long.wav"
    sound = recording(path, words)
    longest = []

    class Heard(Scripted):
        def hear(self, samples, language=None, hints=()):
            longest.append(len(samples) / RATE)
            return super().hear(samples, language, hints)

    one = redactor(Heard(words, total=sound.shape[1] / RATE), "nobody")
    heard = one.hear(path, "long")
    assert max(longest) <= 28.0
    assert len(heard.transcript.words) == len(words)
    assert heard.frames == sound.shape[1]


def test_a_word_that_is_heard_in_what_is_left_of_its_sentence_takes_the_sentence_along(talk):
    path, sound, _, recogniser = talk(TEXT)
    hear = recogniser.hear

    def echoing(samples, language=None, hints=()):
        found = hear(samples, language, hints).words
        seconds = len(samples) / RATE
        if np.any(samples):  # as long as anything is left
            at = replace(found[0], text="Anna") if found else words_like(seconds)
            found = (*found, at)
        return Heard(tuple(found), "en")

    def words_like(seconds):
        return Word("Anna", 0.1, 0.4, 0.9, (0.0, seconds), opens=True)

    recogniser.hear = echoing
    what = removal(path, recogniser, "Anna", on_miss="sentence")
    assert what.rounds > SINGLY
    total = sound.shape[1] / RATE
    assert what.intervals == ((0.0, pytest.approx(total)),)


def test_a_word_that_is_heard_in_the_sound_that_stands_for_it_takes_more_along(talk):
    """A recogniser guesses a removed word from a beep and what stands beside it."""
    path, sound, words, recogniser = talk(TEXT)
    hear = recogniser.hear
    beside = words[6]  # half a second and more from what is removed first

    def guessing(samples, language=None, hints=()):
        found = hear(samples, language, hints).words
        texts = {word.text for word in found}
        if beside.text in texts and "Anna" not in texts:
            at = replace(found[0], text="Anna", start=words[2].start, end=words[2].end)
            found = tuple(sorted((*found, at), key=lambda word: word.start))
        return Heard(found, "en")

    recogniser.hear = guessing
    what = removal(path, recogniser, "Anna")
    assert 2 < what.rounds <= SINGLY
    ((first, last),) = what.intervals
    assert first <= words[2].start
    assert beside.start < last < sound.shape[1] / RATE
