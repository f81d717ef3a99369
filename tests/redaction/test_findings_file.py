"""Files of findings: read as written, and faulty lines by number."""

import stat

import pytest

from voicenym.errors import RedactionError
from voicenym.redaction.findings_file import (
    HEAD,
    FindingsFile,
    Line,
    format_findings,
    of_recording,
    read_findings,
    write_findings,
)

DIGEST = "0123456789abcdef" * 4
FOUND = FindingsFile(
    DIGEST,
    12.5,
    (
        Line(True, 0.7, 1.32, "names", 0.85, "Katherine Miller"),
        Line(False, 3.8, 5.7, "numbers", 0.25, "one"),
        Line(True, None, None, "list", 1.0, "Bob"),
    ),
)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "found.txt"
    write_findings(path, FOUND, False)
    assert read_findings(path) == FOUND
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert of_recording(FOUND, DIGEST, "a.wav", "found.txt") == FOUND.lines
    with pytest.raises(RedactionError, match="belongs to another recording than"):
        of_recording(FOUND, "0" * 64, "b.wav", "found.txt")


def test_times_of_a_sentence_are_told(tmp_path):
    """Else a person does not know that seconds around the word are removed."""
    one = Line(True, 4.6, 8.1, "names", 0.8, "Anderson", of_sentence=True)
    found = FindingsFile(DIGEST, 12.5, (*FOUND.lines, one))
    rows = format_findings(found).splitlines()
    assert rows[-2].startswith("# the next line has the times of its sentence")
    assert sum(row.startswith("# the next") for row in rows) == 1
    write_findings(tmp_path / "found.txt", found, False)
    assert read_findings(tmp_path / "found.txt") == found


def test_words_hold_no_tabs_or_lines():
    text = format_findings(
        FindingsFile(DIGEST, 1.0, (Line(True, 0.0, 1.0, "names", 1.0, "a\tb\nc"),))
    )
    assert text.splitlines()[-1] == "redact\t0.000\t1.000\tnames\t1.00\ta b c"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("redact 1 2 names 1 Anna", "line 3: has 1 part between tabs, not 6"),
        ("hide\t1\t2\tnames\t1\tAnna", "begins with hide, not redact or keep"),
        ("redact\t1\t2\tcolours\t1\tAnna", "no category colours"),
        ("redact\t2\t1\tnames\t1\tAnna", "its times are no part"),
        ("redact\t-1\t1\tnames\t1\tAnna", "its times are no part"),
        ("redact\t1\t99\tnames\t1\tAnna", "its times are no part"),
        ("redact\tnan\t1\tnames\t1\tAnna", "is no number"),
        ("redact\t1\t-\tnames\t1\tAnna", "is no number"),
        ("redact\t-\t-\tnames\t1\t...", "neither times nor words"),
    ],
)
def test_a_faulty_line_is_named(tmp_path, line, message):
    path = tmp_path / "found.txt"
    path.write_text(f"{HEAD}\n# recording {DIGEST}, 12.500 s\n{line}\n")
    with pytest.raises(RedactionError, match=message):
        read_findings(path)


@pytest.mark.parametrize("data", [b"", b"hello\n", HEAD.encode(), b"\xff\xfe\x00", b"RIFF"])
def test_a_file_of_something_else_is_refused(tmp_path, data):
    path = tmp_path / "found.txt"
    path.write_bytes(data)
    with pytest.raises(RedactionError, match="no file of findings"):
        read_findings(path)
