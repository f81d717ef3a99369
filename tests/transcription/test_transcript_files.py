"""Transcripts as text, JSON, SubRip and WebVTT."""

import itertools
import json
import re

import pytest

from voicenym.errors import VoicenymError
from voicenym.transcription.timed_words import Transcript, Word, sentences
from voicenym.transcription.transcript_files import (
    MOST_CHARACTERS,
    format_json,
    format_of,
    format_srt,
    format_text,
    format_vtt,
)


def transcript(text, channel=0, step=0.4):
    words = [
        Word(w, i * step, i * step + 0.3, 0.9, (0.0, 99.0), opens=i == 0, channel=channel)
        for i, w in enumerate(text.split())
    ]
    return Transcript(tuple(words), 100.0, "en")


def test_a_line_for_each_sentence():
    assert format_text(transcript("Hello there. How are you?")) == "Hello there.\nHow are you?\n"
    both = Transcript((*transcript("Yes.").words, *transcript("No.", channel=1).words), 5.0, "en")
    assert format_text(both) == "[channel 1]\nYes.\n[channel 2]\nNo.\n"
    assert format_text(Transcript((), 1.0, "")) == ""


def test_the_stop_of_a_title_ends_no_sentence():
    text = 'Chapter one. Mrs. Rachel is surprised. "Dr. Who? Mt. Etna." Alms. First.'
    assert format_text(transcript(text)).splitlines() == [
        "Chapter one.",
        "Mrs. Rachel is surprised.",
        '"Dr. Who?',
        'Mt. Etna."',
        "Alms.",
        "First.",
    ]


def test_segments_continue_a_sentence_or_begin_one():
    one = Word("left,", 0, 1, 1.0, (0, 1))
    assert len(list(sentences([one, Word("but", 1, 2, 1.0, (1, 2), opens=True)]))) == 1
    one = Word("left", 0, 1, 1.0, (0, 1))
    assert len(list(sentences([one, Word("But", 1, 2, 1.0, (1, 2), opens=True)]))) == 2


def test_json_has_times_or_null():
    words = (Word("a", 1.0, 1.5, 0.5, (1.0, 2.0)), Word("b", 1.5, 1.5, 0.5, (1.0, 2.0)))
    found = json.loads(format_json(Transcript(words, 3.0, "en", ((2.0, 2.9),))))
    assert [(w["start"], w["end"]) for w in found["words"]] == [(1.0, 1.5), (None, None)]
    assert found["unheard"] == [[2.0, 2.9]]


def test_subtitles_are_short_and_in_order():
    long = transcript("word " * 80 + "end.")
    cues = re.findall(r"(\d+)\n(\S+) --> (\S+)\n(.*)\n", format_srt(long))
    assert [int(cue[0]) for cue in cues] == list(range(1, len(cues) + 1))
    assert all(len(cue[3]) <= MOST_CHARACTERS for cue in cues)
    assert all(a[2] <= b[1] for a, b in itertools.pairwise(cues))
    assert " ".join(cue[3] for cue in cues) == "word " * 80 + "end."
    assert re.fullmatch(r"\d\d:\d\d:\d\d,\d{3}", cues[0][1])


def test_webvtt_has_no_markup_of_the_words():
    text = format_vtt(transcript("a <b> & c."))
    assert text.startswith("WEBVTT\n\n00:00:00.000 --> ")
    assert "a &lt;b&gt; &amp; c." in text


def test_other_extensions_are_refused():
    with pytest.raises(VoicenymError, match=r"there are: \.txt, \.json, \.srt, \.vtt"):
        format_of("a.doc")
