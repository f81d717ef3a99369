"""Shares and destruction of keys, and links from speakers to outputs."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym.errors import DependencyError, KeyFileError
from voicenym.pseudonym import Key, key_destruction, key_shares

KEY = Key(bytes(range(32)), {"mcadams": 2, "recast": 1})


@pytest.fixture
def path(tmp_path):
    KEY.save(tmp_path / "k")
    return tmp_path / "k"


@pytest.fixture
def corpus(tmp_path):
    for number, name in enumerate(("ann/1.wav", "ann/2.wav", "bob/1.wav")):
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).standard_normal(16_000)
        soundfile.write(file, 0.1 * noise, 16_000)
    return tmp_path / "in"


def test_any_shares_that_suffice_make_the_key_and_no_fewer_do():
    shares = key_shares.split(KEY, 4, 2)
    for some in itertools.combinations(shares, 2):
        again = key_shares.join(some)
        assert (again, again.revisions) == (KEY, KEY.revisions)
    assert key_shares.join(shares) == KEY
    for few in ([shares[1]], [shares[1]] * 3):
        with pytest.raises(KeyFileError, match="1 of the 2 shares that are needed"):
            key_shares.join(few)
    texts = [share.text() for share in shares]
    assert [key_shares.Share.parse(text, "x") for text in texts] == shares
    assert not any(bytes(range(32)).hex() in text for text in texts)
    other = key_shares.split(KEY, 4, 2)
    assert {one.words for one in other}.isdisjoint(one.words for one in shares)


def test_keys_and_shares_that_an_editor_or_a_person_wrote_again_are_read(path, tmp_path):
    first, second = key_shares.split(KEY, 2, 2)
    typed = first.text().replace(first.words, first.words.upper().replace(" ", "  "))
    saved = "\ufeff\r\n" + second.text().replace("\n", " \r\n\r\n")
    assert key_shares.join([key_shares.Share.parse(text, "x") for text in (typed, saved)]) == KEY
    edited = tmp_path / "edited"
    edited.write_bytes("\ufeff".encode() + path.read_bytes().replace(b"\n", b"\r\n"))
    edited.chmod(0o600)
    again = Key.load(edited)
    assert (again, again.revisions) == (KEY, KEY.revisions)


def test_shares_that_do_not_fit_are_refused():
    first, second, third = key_shares.split(KEY, 3, 2)
    words = second.words.split()
    changed = " ".join([words[0], *reversed(words[1:])])
    wrong = key_shares.Share.parse(second.text().replace(second.words, changed), "x")
    with pytest.raises(KeyFileError, match=r"^x: a word of the share is wrong"):
        key_shares.join([first, wrong])
    with pytest.raises(KeyFileError, match=r"^x: a word of the share is wrong"):
        key_shares.join([wrong, first, third])  # named, though the others suffice
    foreign = key_shares.split(Key(bytes(32), {"mcadams": 2, "recast": 1}), 3, 2)[1]
    foreign = key_shares.Share.parse(foreign.text(), "y")
    with pytest.raises(KeyFileError, match=r"^share 3 and y are of different keys"):
        key_shares.join([third, foreign])
    again = key_shares.split(KEY, 3, 2)[1]  # of the same key, from another division
    with pytest.raises(KeyFileError, match=r"^share 3 and share 2 do not fit together"):
        key_shares.join([third, again])
    text = first.text().replace("2 needed", "3 needed")
    of_three = [key_shares.Share.parse(text, "z"), second, third]
    with pytest.raises(KeyFileError, match=r"^z: the share is damaged: .* needs 2 shares, and not"):
        key_shares.join(of_three)
    for text, why in (("hello", "no share"), (f"{key_shares.HEADER}\nshare\n", "damaged")):
        with pytest.raises(KeyFileError, match=f"^f: .*{why}"):
            key_shares.Share.parse(text, "f")
    for count, need in ((1, 1), (3, 1), (3, 4), (17, 2)):
        with pytest.raises(KeyFileError, match="give 2 to 16"):
            key_shares.split(KEY, count, need)


@pytest.mark.parametrize(
    "lines",
    [
        ["revision recast -3"],
        ["revision recast 0"],
        [f"revision recast {'9' * 5000}"],
        ["revision recast \u0663"],
        ["revision derivation 2"],
        ["revision recast 1", "revision recast 1"],
    ],
)
def test_a_share_with_no_revision_is_damaged(lines):
    share = key_shares.split(Key(bytes(32), {}), 3, 2)[0].text().splitlines()
    with pytest.raises(KeyFileError, match=r"x: the share is damaged; restore it"):
        key_shares.Share.parse("\n".join([*share[:3], *lines, *share[3:]]), "x")
    with pytest.raises(KeyFileError, match="damaged"):
        key_shares.Share.parse(share[0], "x")


def test_a_key_file_with_a_revision_of_5000_digits_is_damaged(path):
    path.write_text(f"{path.read_text()}vtln {'9' * 5000}\n")
    with pytest.raises(KeyFileError, match="damaged: line 5 is not a system's name and its rev"):
        Key.load(path)


def test_pipes_are_not_waited_for(tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    for arguments in (("show", "pipe"), ("join", "pipe", "-o", "k2"), ("destroy", "pipe", "--yes")):
        done = command("key", *arguments)
        assert done.returncode == 1
        assert b"pipe: " in done.stderr
        assert b"it is no regular file" in done.stderr


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="the system has no /dev/fd")
def test_a_key_may_come_through_a_pipe_of_the_shell(path):
    """As in ``--key <(gpg -d project.key.gpg)``."""
    reading, writing = os.pipe()
    try:
        os.write(writing, path.read_bytes())
        os.close(writing)
        assert Key.load(Path(f"/dev/fd/{reading}")) == Key.load(path)
    finally:
        os.close(reading)


def test_shares_are_on_the_disk_before_the_key_may_be_destroyed(path, tmp_path, monkeypatch):
    """Three files, their folder, and the folder that it is in."""
    flushed = []
    real = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (flushed.append(os.fstat(handle).st_ino), real(handle))
    )
    key_shares.save(key_shares.split(KEY, 3, 2), tmp_path / "shares")
    written = [*(tmp_path / "shares").iterdir(), tmp_path / "shares", tmp_path]
    assert {place.stat().st_ino for place in written} <= set(flushed)
    assert len(written) == 5


def test_a_share_or_no_file_in_place_of_a_key_names_the_way_to_the_key(tmp_path):
    share = key_shares.split(KEY, 3, 2)[0]
    (tmp_path / "share-1.txt").write_text(f"\ufeff{share.text()}")
    with pytest.raises(KeyFileError, match=r"share-1\.txt: is a share of a key; .*key join"):
        Key.load(tmp_path / "share-1.txt")
    with pytest.raises(KeyFileError, match=r"gone: no such key file; .* shares only .*key join"):
        Key.load(tmp_path / "gone")


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shamir_mnemonic", None)
    with pytest.raises(DependencyError, match=r"voicenym\[shares\]"):
        key_shares.split(KEY, 3, 2)


def test_the_commands_split_and_join(path, tmp_path, command):
    done = command("key", "split", path, "--shares", 3, "--need", 2, "-o", "shares")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "shares").iterdir())
    assert [one.name for one in files] == [f"share-{n}.txt" for n in (1, 2, 3)]
    assert {one.stat().st_mode & 0o777 for one in files} == {0o600}
    assert command("key", "join", files[2], files[0], "-o", "again").returncode == 0
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    for arguments, why in (
        (("split", path, "--shares", 3, "--need", 2, "-o", "shares"), "name a new folder"),
        (("join", files[0], "-o", "x"), "1 of the 2"),
        (("join", files[0], "nothing", "-o", "x"), "nothing: the share cannot be read"),
        (("join", *files, "-o", "again"), "never overwritten"),
    ):
        done = command("key", *arguments)
        assert done.returncode == 1
        assert why in done.stderr.decode()


def test_a_destroyed_key_is_overwritten_before_it_is_removed(path, tmp_path, command, monkeypatch):
    refused = command("key", "destroy", path)
    assert refused.returncode == 1
    assert "add --yes" in refused.stderr.decode()
    before, seen = path.read_bytes(), []
    fsync = os.fsync

    def spy(file):
        place = os.readlink(f"/proc/self/fd/{file}")
        seen.append(Path(place).read_bytes() if os.path.isfile(place) else None)
        fsync(file)

    monkeypatch.setattr(os, "fsync", spy)
    done = command("key", "destroy", path, "--yes")
    assert done.returncode == 0
    assert "may keep the former blocks" in done.stderr.decode()
    assert not path.exists()
    assert len(seen[0]) == len(before)
    assert not any(line in seen[0] for line in before.splitlines() if len(line) > 4)
    assert seen[1:] == [b"", None], "emptied, then the folder"


def test_a_file_system_that_cannot_flush_folders_destroys_keys_too(path, monkeypatch):
    fsync = os.fsync

    def of_files_alone(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", of_files_alone)
    key_destruction.destroy(path)  # an error would say that the key is still there
    assert not path.exists()


def test_only_a_key_file_under_its_only_name_is_destroyed(path, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("notes")
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to(path)
    for place, why in ((text, "not a voicenym key"), (link, "is a link; name the key file")):
        with pytest.raises(KeyFileError, match=why):
            key_destruction.destroy(place)
    os.link(path, second)
    with pytest.raises(KeyFileError, match="has 2 names"):
        key_destruction.destroy(path)
    assert text.read_text() == "notes"
    assert Key.load(path) == KEY


@pytest.mark.parametrize("rename", [False, True])
def test_the_key_links_outputs_to_names_and_the_look_is_recorded(
    rename, path, corpus, tmp_path, command
):
    options = ("--rename",) if rename else ()
    made = command("anonymize", corpus, "-o", "out", "-s", "mcadams", "--key", path, *options)
    assert made.returncode == 0, made.stderr
    (tmp_path / "names").write_text("bob\n\neve\nann\n")
    look = ("relink", "out", "--key", path, "--why", "withdrawn", "--json")
    done = command(*look, "--speaker", "ann", "--names", "names")
    assert done.returncode == 0, done.stderr
    rows = [(row["speaker"], row["output"]) for row in json.loads(done.stdout)]
    assert [name for name, _ in rows] == ["ann", "ann", "bob", "eve"]
    assert rows[3][1] == ""
    assert all((tmp_path / "out" / output).is_file() for _, output in rows[:3])
    assert len({output for _, output in rows}) == 4
    if not rename:
        assert [output for _, output in rows[:3]] == ["ann/1.wav", "ann/2.wav", "bob/1.wav"]
    log = tmp_path / "k.relinks.jsonl"
    assert log.stat().st_mode & 0o777 == 0o600
    (line,) = [json.loads(text) for text in log.read_text().splitlines()]
    assert (line["why"], line["speakers"], line["outputs"]) == (
        "withdrawn",
        ["ann", "bob", "eve"],
        3,
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"])
    command(*look, "--speaker", "ann")
    assert len(log.read_text().splitlines()) == 2


def test_without_the_key_or_a_place_for_the_record_nothing_is_linked(
    path, corpus, tmp_path, command
):
    command("anonymize", corpus, "-o", "out", "-s", "mcadams", "--key", path)
    Key.generate().save(tmp_path / "other")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    usual = ("--speaker", "ann", "--why", "x")
    for arguments, why in (
        (("out", "-k", "other", *usual), "made with another key"),
        (("in", "-k", path, *usual), "has no voicenym.jsonl"),
        (("out", "-k", path, *usual, "--log", "out/log"), "would be passed on"),
        (("out", "-k", path, *usual, "--log", "nowhere/log"), "does not exist"),
        (("out", "-k", path, "--why", "x"), "no names"),
        (("out", "-k", path, "--why", "x", "--names", "empty"), "has no names"),
        (("out", "-k", path, "--why", "x", "--names", "binary"), "no text in UTF-8"),
        (("out", "-k", path, "--speaker", "ann", "--why", " "), "--why is empty"),
    ):
        done = command("relink", *arguments)
        assert done.returncode == 1, arguments
        assert why in done.stderr.decode()
        assert not done.stdout


def test_a_look_is_recorded_in_no_other_file(path, corpus, tmp_path, command):
    """The log of looks is appended to; what is no such log would be damaged."""
    command("anonymize", corpus, "-o", "out", "-s", "mcadams", "--key", path)
    Key.generate().save(tmp_path / "other.key")
    (tmp_path / "names").write_text("ann\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "missing.jsonl")
    (tmp_path / "other.jsonl").write_text('{"key_check": "x"}\n')
    os.mkfifo(tmp_path / "pipe")
    look = ("relink", "out", "--key", path, "--names", "names", "--why", "withdrawn")
    files = [path, tmp_path / "other.key", tmp_path / "names", corpus / "ann" / "1.wav"]
    files += [tmp_path / "other.jsonl"]
    before = [file.read_bytes() for file in files]
    for place in (*files, tmp_path / "link.jsonl", tmp_path / "pipe", corpus):
        done = command(*look, "--log", place)
        assert done.returncode == 1, place
        why = f"{place}: exists already and is no log of relink; choose another name with --log"
        assert why in " ".join(done.stderr.decode().split())
        assert not done.stdout
    assert [file.read_bytes() for file in files] == before
    assert not (tmp_path / "missing.jsonl").exists()


def test_a_look_begins_a_new_line_of_an_empty_or_cut_log(path, corpus, tmp_path, command):
    command("anonymize", corpus, "-o", "out", "-s", "mcadams", "--key", path)
    log = tmp_path / "looks"
    log.touch()
    look = ("relink", "out", "--key", path, "--speaker", "ann", "--why", "x", "--log", "looks")
    assert command(*look).returncode == 0
    with log.open("a") as file:
        file.write('{"time": "20')  # the disk was full
    assert command(*look).returncode == 0
    first, cut, last = log.read_text().splitlines()
    assert cut == '{"time": "20'
    assert json.loads(first)["why"] == json.loads(last)["why"] == "x"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("new", "-"), "-: a key is a file; give a name"),
        (("upgrade", "k", "-"), "-: a key is a file; give a name"),
        (("join", "shares/share-1.txt", "shares/share-2.txt", "-o", "-"), "-: a key is a file"),
        (("split", "k", "--shares", "3", "--need", "2", "-o", "-"), "-: shares are files"),
    ],
)
def test_no_secret_is_written_to_a_file_named_as_standard_output(
    path, tmp_path, command, words, why
):
    split = command("key", "split", path, "--shares", "3", "--need", "2", "-o", "shares")
    assert split.returncode == 0, split.stderr
    done = command("key", *words)
    assert done.returncode == 1
    assert why in done.stderr.decode()
    assert not done.stdout
    assert not (tmp_path / "-").exists()
