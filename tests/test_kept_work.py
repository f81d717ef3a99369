"""Finished parts of a run: what is taken again is what was added, in order, and whole."""

import errno
import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym import kept_work
from voicenym.errors import VoicenymError
from voicenym.kept_work import KeptWork, digest_of

STAMP = {"recording": "a"}
PARTS = [
    ("one", {"n": 1.5}, b"\n{}\x00"),
    ("two", {"text": "\u00e4\n"}, b""),
    ("one", {}, b"x" * 99),
]


def filled(path, parts=PARTS, stamp=STAMP):
    work = KeptWork.open(path, stamp)
    for part in parts:
        work.add(*part)
    work.close()


def taken(path, keys, stamp=STAMP):
    work = KeptWork.open(path, stamp)
    found = []
    for key in keys:
        part = work.take(key)
        found.append(part and (part.facts, work.read(part.place, part.size)))
    work.close()
    return found


def test_parts_come_back_in_order(tmp_path):
    path = tmp_path / "kept"
    filled(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert taken(path, ["one", "two", "one", "four"]) == [*(p[1:] for p in PARTS), None]
    assert taken(path, ["one", "two"]) == [p[1:] for p in PARTS[:2]]
    assert taken(path, ["one", "two", "one"]) == [p[1:] for p in PARTS]  # none was lost by that


def test_nothing_is_taken_after_another_key_or_under_another_stamp(tmp_path):
    path = tmp_path / "kept"
    filled(path)
    work = KeptWork.open(path, STAMP)
    assert work.take("one") is not None
    assert work.take("one") is None
    assert work.take("two") is None  # nor what follows
    part = work.add("new", {"a": [1]}, b"data")
    assert work.read(part.place, part.size) == b"data"
    work.close()
    assert taken(path, ["one", "new", "one"]) == [PARTS[0][1:], ({"a": [1]}, b"data"), None]
    assert taken(path, ["one"], {"recording": "b"}) == [None]
    assert taken(path, ["one"]) == [None]


@given(st.data())
def test_a_file_that_was_torn_or_damaged_gives_whole_parts_alone(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "kept"
    filled(path)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        path.write_bytes(whole[:place])
    else:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    found = taken(path, [p[0] for p in PARTS])
    good = next((i for i, one in enumerate(found) if one is None), len(found))
    assert found == [*(p[1:] for p in PARTS[:good]), *([None] * (len(PARTS) - good))]
    ends = [i for i in range(len(whole)) if whole[:i].endswith(b"\n")]
    assert good <= sum(end <= place for end in ends)
    filled(path, PARTS[:1])
    assert taken(path, ["one"]) == [PARTS[0][1:]]


def test_a_file_that_another_run_uses_is_left_alone(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "kept"
    work = KeptWork.open(path, STAMP)
    work.add(*PARTS[0])
    assert KeptWork.open(path, STAMP) is None
    work.close()
    assert taken(path, ["one"]) == [PARTS[0][1:]]
    work = KeptWork.open(path, STAMP)
    work.remove()
    assert not path.exists()
    work.remove()  # which nothing follows


def test_a_place_that_cannot_be_written_keeps_nothing_and_a_link_is_refused(tmp_path):
    assert KeptWork.open(tmp_path / "no folder" / "kept", STAMP) is None
    (tmp_path / "kept").symlink_to(tmp_path / "other")
    with pytest.raises(VoicenymError, match="symbolic link"):
        KeptWork.open(tmp_path / "kept", STAMP)


def test_work_without_a_name_is_in_no_folder(tmp_path):
    work = KeptWork.unnamed(tmp_path)
    part = work.add(*PARTS[2])
    assert work.read(part.place + 1, 3) == b"xxx"
    assert list(tmp_path.iterdir()) == []
    work.remove()


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_digests_tell_lists_apart(one, other):
    assert (digest_of(*one) == digest_of(*other)) == (one == other)
    assert json.dumps(digest_of(*one))


class FullDisk:
    """An open file whose disk takes no more after some writes."""

    def __init__(self, file, writes):
        self._file, self.writes = file, writes

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self.writes -= 1
        if self.writes < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)


@pytest.mark.parametrize("writes", [1, 2, 3, 5])
def test_a_run_goes_on_where_the_disk_is_full_and_leaves_nothing(writes, tmp_path):
    path = tmp_path / "kept"
    work = KeptWork(FullDisk(path.open("w+b"), writes), path, STAMP)
    for part in PARTS:
        work.note(*part)
    work.close()
    whole = (writes - 1) // 3  # a part is written in three
    assert taken(path, ["one"]) == ([PARTS[0][1:]] if whole else [None])
    work.remove()
    assert not path.exists()


def test_no_work_is_kept_on_a_disk_that_is_full_from_the_beginning(tmp_path, monkeypatch):
    opened = kept_work.open_private
    monkeypatch.setattr(kept_work, "open_private", lambda *a: FullDisk(opened(*a), 0))
    assert KeptWork.open(tmp_path / "kept", STAMP) is None
    assert not (tmp_path / "kept").exists()
