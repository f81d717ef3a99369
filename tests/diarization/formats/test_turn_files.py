"""Files of turns: each format gives back what it holds, Praat reads ours, and faults are named."""

import contextlib
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.diarization.formats.rttm import format_rttm, parse_rttm
from voicenym.diarization.formats.textgrid import format_textgrid, parse_textgrid
from voicenym.diarization.formats.turn_files import FORMATS, format_turns, read_turns
from voicenym.diarization.formats.webvtt import parse_webvtt
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError

LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
LABELS = st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join)
WORDS = st.text(string.ascii_letters + string.digits + "<>&\"'-_üß/%;", min_size=1, max_size=12)


def recordings(labels, step=1000):
    turn = st.builds(
        lambda start, length, who, sure: Turn(start / step, (start + length) / step, who, sure),
        st.integers(0, 10**6),
        st.integers(1, 10**5),
        labels,
        st.sampled_from([None, 0.0, 0.25, 1.0]),
    )
    return st.lists(turn, min_size=1, max_size=8).map(Diarization)


def plain(found):
    """Without confidences, which only RTTM holds."""
    return Diarization(Turn(t.start, t.end, t.speaker) for t in found.turns)


@given(recordings(WORDS, step=10**6))
def test_rttm_gives_back_turns_and_confidences(found):
    assert parse_rttm(format_rttm({"a": found})) == {"a": found}


@pytest.mark.parametrize("extension", [".vtt", ".textgrid", ".txt"])
@given(found=recordings(LABELS))
def test_other_formats_give_back_turns(extension, found):
    there = FORMATS[extension]
    assert there.parse(there.format(found, "a", 0.0)) == {"": plain(found)}


@settings(max_examples=25)
@given(recordings(LABELS))
def test_praat_reads_what_we_write_and_we_read_what_it_writes(found):
    parselmouth = pytest.importorskip("parselmouth")
    from parselmouth.praat import call

    text = format_textgrid(found, found.end + 1.0)
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder, "a.TextGrid")
        ours.write_text(text, "utf-8")
        grid = parselmouth.read(str(ours))
        assert call(grid, "Get number of tiers") == len(found.speakers)
        for kind in ("Save as text file...", "Save as short text file..."):
            theirs = Path(folder, "b.TextGrid")
            call(grid, kind, str(theirs))
            back = read_turns(theirs)
            assert back.speakers == found.speakers or sorted(back.speakers) == sorted(
                found.speakers
            )
            assert len(back.turns) == len(found.turns)
            for one, other in zip(back.turns, plain(found).turns, strict=True):
                assert (one.speaker, one.start, one.end) == (other.speaker, other.start, other.end)


def test_rttm_of_several_recordings_is_selected_by_name(tmp_path):
    path = tmp_path / "all.rttm"
    path.write_text(
        ";; made elsewhere\n"
        "SPKR-INFO one 1 <NA> <NA> <NA> unknown anna <NA>\n"
        "SPEAKER one 1 0.5 1.5 <NA> <NA> anna <NA>\n"
        "SPEAKER my_talk 1 1 2 <NA> <NA> ben 0.7 <NA>\n"
        "SPEAKER my_talk 1 9 0 <NA> <NA> ben 0.7 <NA>\n"
    )
    assert read_turns(path, "one").turns == (Turn(0.5, 2.0, "anna"),)
    assert read_turns(path, "my talk").turns == (Turn(1.0, 3.0, "ben", 0.7),)
    with pytest.raises(DiarizationError, match=r"no turn of the recording 'two'.*my_talk, one"):
        read_turns(path, "two")
    with pytest.raises(DiarizationError, match="2 recordings"):
        read_turns(path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.rttm", "SPEAKER a 1 0 1", "line 1 is not RTTM"),
        ("a.rttm", "SPEAKER a 1 zero 1 <NA> <NA> x <NA> <NA>", "is no time"),
        ("a.rttm", "SPEAKER a 1 -4 1 <NA> <NA> x <NA> <NA>", "line 1.*begins at 0 s"),
        ("a.rttm", "SPEAKER a 1 4 1e99 <NA> <NA> x <NA> <NA>", "line 1"),
        ("a.rttm", "SPEAKER a 1 4 nan <NA> <NA> x <NA> <NA>", "no number"),
        ("a.rttm", "hello", "line 1 is not RTTM"),
        ("a.rttm", "", "holds no turn"),
        ("a.vtt", "1\n00:00:01.000 --> 00:00:02.000\n<v A>b", "no WebVTT"),
        ("a.vtt", "WEBVTT\n\n00:00:01 --> 00:00:02\n<v A>b", "no times"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nhello", "who speaks"),
        ("a.vtt", "WEBVTT\n\n00:02.000 --> 00:01.000\n<v A>b", "ends after"),
        ("a.TextGrid", "hello", "no TextGrid"),
        ("a.TextGrid", 'File type = "ooTextFile"\nObject class = "TextGrid"\n0 1', "too early"),
        ("a.txt", "1.0 2.0 anna", "line 1 is no label"),
        ("a.txt", "1.0\t2.0\t", "line 1.*label"),
        ("a.doc", "x", "extension"),
    ],
)
def test_a_faulty_file_is_named_with_its_cure(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DiarizationError, match=words) as caught:
        read_turns(path)
    assert str(path) in str(caught.value)


def test_files_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "a.rttm"
    with pytest.raises(DiarizationError, match="cannot be read"):
        read_turns(path)
    path.write_bytes(b"\xff\x00\x81" * 99)
    with pytest.raises(DiarizationError, match="UTF-8"):
        read_turns(path)


@given(st.text(max_size=200))
def test_no_text_breaks_a_reader(text):
    heads = {".rttm": "SPEAKER ", ".vtt": "WEBVTT\n\n", ".textgrid": 'ooTextFile "TextGrid" '}
    for extension, one in FORMATS.items():
        for whole in (text, heads.get(extension, "") + text):
            with contextlib.suppress(DiarizationError):
                assert all(isinstance(found, Diarization) for found in one.parse(whole).values())


def test_voices_of_others_captions():
    found = parse_webvtt(
        "WEBVTT - title\nKind: captions\n\nNOTE\n<v Nobody>\n\nintro\n00:01.000 --> 00:02.500 "
        "align:left\n<v.loud Anna &amp; co>Hello</v>\n<v Ben>Hi\n\n01:00:00.000 --> "
        "01:00:01.000\nmusic\n"
    )
    assert found.turns == (Turn(1.0, 2.5, "Anna & co"), Turn(1.0, 2.5, "Ben"))


def test_a_single_tier_named_speaker_lists_speakers():
    found = Diarization([Turn(0, 1, "speaker"), Turn(2, 3, "speaker")])
    text = format_textgrid(found, 3.0).replace('text = "speaker"', 'text = "anna"', 1)
    assert parse_textgrid(text).speakers == ("anna", "speaker")


def test_rttm_refuses_what_it_cannot_hold():
    with pytest.raises(DiarizationError, match="space"):
        format_turns(Diarization([Turn(0, 1, "anna b")]), "a.rttm", "a", 1.0)
