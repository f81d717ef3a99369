"""Timelines: no hidden span is left out, and nothing of a label becomes markup."""

from html.parser import HTMLParser

from voicenym.diarization.formats.timeline import (
    HIDDEN,
    KEPT,
    Row,
    Span,
    clock,
    draw,
    rows_of,
    summary,
)
from voicenym.diarization.formats.timeline_html import page
from voicenym.diarization.speaker_turns import Diarization, Turn


def test_a_row_has_a_mark_for_each_part():
    found = Diarization([Turn(0, 5, "anna"), Turn(5, 10, "ben")])
    lines = draw(rows_of(found), 10.0, width=10)
    assert lines[1:] == ["anna  =====.....", "ben   .....====="]
    assert "0:00" in lines[0]


def test_a_short_hidden_span_hides_its_mark():
    row = Row("output", [Span(0, 9.95, KEPT), Span(9.95, 10, HIDDEN)])
    assert draw([row], 10.0, width=10)[1].endswith("=========#")
    assert draw([row], 0.0) == []


def test_times_and_sums():
    assert [clock(s) for s in (0, 61.9, 3661)] == ["0:00", "1:01", "1:01:01"]
    lines = summary(Diarization([Turn(0, 2, "a"), Turn(1, 3, "b")]), 4.0)
    assert lines[-3:] == ["a: 2.0 s of speech", "b: 2.0 s of speech",
                          "together: 1.0 s; recording: 4.0 s"]  # fmt: skip


def test_a_page_is_one_file_without_scripts_and_with_escaped_texts():
    nasty = '<script>alert("x")</script>&"'
    rows = [Row(nasty, [Span(0, 1, HIDDEN, nasty)])]
    text = page(nasty, rows, 2.0, [(nasty, 1.0)])
    tags, links = set(), []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)
            links.extend(value for name, value in attrs if name in ("src", "href"))

    Reader().feed(text)
    assert "script" not in tags
    assert not links
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text
    assert not set(page("a\x1b\u202eb", [Row("\x07", [])], 2.0, [])) & set("\x1b\x07\u202e")
