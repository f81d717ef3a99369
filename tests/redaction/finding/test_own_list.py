"""One's own list: endings, divisions, spellings of one sound, numbers, and faulty files."""

import pytest

from voicenym.errors import RedactionError
from voicenym.redaction.finding.own_list import MOST_GROUPS, MOST_HINTS, OwnList, read_list
from voicenym.redaction.finding.sound_keys import near, plain, shorter, sound_key


def spans(entry, text, **options):
    return [(m.first, m.last) for m in OwnList([entry], **options).matches(text.split())]


@pytest.mark.parametrize(
    ("entry", "text", "place"),
    [
        ("Anna", "I saw ANNA.", (2, 3)),
        ("Anna", "Anna's dog", (0, 1)),
        ("Anna", "both Annas came", (1, 2)),
        ("Müller", "Frau Mueller, Mullers Haus", (2, 3)),
        ("Nováková", "u Novakove doma", (1, 2)),
        ("Mary Ann", "then Maryanne left", (1, 2)),
        ("Maryanne", "then Mary Ann left", (1, 3)),
        ("Catherine", "called Kathryn yesterday", (1, 2)),
        ("Huang", "Victor Hwang paid", (1, 2)),
        ("Project Blue Door", "the project blue door, sir", (1, 4)),
        ("555 0199", "call five five five, oh one nine nine now", (1, 8)),
        ("twenty-three", "room 23 there", (1, 2)),
        ("O'Brien", "to O’Brien's house", (1, 2)),
    ],
)
def test_what_is_meant_is_found(entry, text, place):
    assert place in spans(entry, text)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("Lee", "we will leave the low law"),
        ("Al", "all of us also"),
        ("Miller", "the mill and the milk"),
        ("Smith", "the smell of mist"),
        ("555 0199", "five hundred people in 1999"),
        ("Katherine", "the caravan came in"),
    ],
)
def test_what_is_not_meant_is_not(entry, text):
    assert spans(entry, text) == []


def test_sounds_count_only_if_wanted():
    assert spans("Catherine", "called Kathryn") == [(1, 2)]
    assert spans("Catherine", "called Kathryn", alike=False) == []


def test_keys_that_differ_in_one_sign_meet():
    one, other = sound_key("Castellano"), sound_key("Cessolano")
    assert not near("abcdef", "abxyef")
    assert near("abcdef", "abxdef")
    assert near("abcdef", "abcdxef")
    assert shorter("abcdef") & shorter("abcxdef")
    assert (one, other) == (sound_key("CASTELLANO"), sound_key("Céssolano"))
    assert plain("Ann-Marie’s") == "annmaries"


def test_a_recogniser_is_told_of_some_entries_only():
    groups = OwnList([f"Surname{n:04d}" for n in range(1_000)]).hints()
    assert len(groups) == MOST_GROUPS
    assert all(len(", ".join(group)) <= MOST_HINTS for group in groups)
    assert OwnList(["Anna"]).hints() == [("Anna",)]
    assert OwnList([]).hints() == []


def test_a_file_has_entries_and_comments(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes("\ufeff# people\nAnna Müller\n\n  Bob \nBob\n".encode())
    assert read_list(path).entries == ("Anna Müller", "Bob")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no word"),
        (b"# nobody\n \n...\n", "holds no word"),
        (b"RIFF\x00\x01", "is no text"),
        (b"\xff\xfeA\x00", "is no text"),
        (b"a" * (5 << 20), "larger than"),
        (b"\n".join(b"name%d" % n for n in range(20_001)), "at most 20000"),
    ],
)
def test_other_files_are_refused(tmp_path, data, message):
    path = tmp_path / "list.txt"
    path.write_bytes(data)
    with pytest.raises(RedactionError, match=message):
        read_list(path)


def test_a_list_that_is_not_there(tmp_path):
    with pytest.raises(RedactionError, match="cannot be read"):
        read_list(tmp_path / "none.txt")
    with pytest.raises(RedactionError, match="cannot be read"):
        read_list(tmp_path)


def test_one_text_is_no_list():
    """Of a name, every letter would be an entry, and the name itself would stay."""
    with pytest.raises(RedactionError, match=r"several texts: \['Anna'\], not 'Anna'"):
        OwnList("Anna")
    for entry in (None, 7, b"Anna"):
        with pytest.raises(RedactionError, match=f"is text, not {type(entry).__name__}"):
            OwnList(["Anna", entry])
    assert len(OwnList(word for word in ("Anna", "Berta"))) == 2
