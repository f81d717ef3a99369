"""``anonymize --dry-run``: what the run would refuse is refused, and nothing is written."""

from __future__ import annotations

import json

import pytest
from s3_server import kaldi_folder
from shard_material import web_shard

OUT = ("-o", "out", "--key", "k")


def snapshot(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def told_alike(command, tmp_path):
    """``told_alike("c", *options, words=...)``: run and dry run refuse for one reason."""

    def check(*arguments: object, words: str) -> None:
        before, told = snapshot(tmp_path), []
        for more in (["--dry-run"], []):
            done = command("anonymize", *arguments, *more)
            assert done.returncode == 1
            assert done.stdout == b"", "no plan of what will not be done"
            assert words in " ".join(done.stderr.decode().split())
            told.append(done.stderr)
            assert snapshot(tmp_path) == before
        assert told[0] == told[1]

    return check


@pytest.fixture
def earlier(command, speech):
    """A folder ``c`` that was anonymized into ``out`` with the key ``k`` by mcadams."""
    for name in ("c/a/1.wav", "c/b/2.wav"):
        speech(name, seconds=0.5)
    command("key", "new", "k")
    command("key", "new", "k2")
    assert command("anonymize", "c", *OUT, "-s", "mcadams").returncode == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*OUT, "-s", "vtln"), "made earlier with another key, system or parameters"),
        (("-o", "out", "--key", "k2", "-s", "mcadams"), "made earlier with another key"),
        (("-o", "out", "-s", "mcadams"), "made earlier with another key"),
        ((*OUT, "-s", "mcadams", "--set", "order=16"), "system or parameters"),
        ((*OUT, "-s", "mcadams", "--set", "revision=1"), "was made with revision 2 of mcadams"),
        ((*OUT, "-s", "mcadams", "--rename"), "names the originals of an earlier run"),
        ((*OUT, "-s", "mcadams", "--speaker", "anna"), "speaker"),
    ],
)
def test_it_refuses_to_go_on_beside_an_earlier_run_as_the_run_does(
    earlier, told_alike, options, words
):
    told_alike("c", *options, words=words)


def test_it_refuses_an_earlier_run_with_drawn_names(command, speech, told_alike):
    speech("c/a/1.wav", seconds=0.5)
    command("key", "new", "k")
    assert command("anonymize", "c", *OUT, "-s", "mcadams", "--rename").returncode == 0
    told_alike("c", *OUT, "-s", "mcadams", words="is of an earlier run with --rename")


def test_it_refuses_a_log_that_is_none(speech, told_alike, command, tmp_path):
    speech("c/a/1.wav", seconds=0.5)
    command("key", "new", "k")
    (tmp_path / "out/voicenym.jsonl").mkdir(parents=True)
    told_alike("c", *OUT, words="the log cannot be read")


def test_it_refuses_tables_that_no_run_wrote(speech, told_alike, command, tmp_path):
    place = speech("audio/1.wav", seconds=0.5)
    kaldi_folder(tmp_path / "data", {"ann-1": str(place)})
    kaldi_folder(tmp_path / "out", {"ben-1": "ben.wav"})
    command("key", "new", "k")
    told_alike("data", *OUT, "-s", "mcadams", words="not of an earlier run")


def test_it_refuses_shards_of_another_system_as_the_run_does(command, told_alike, tmp_path):
    web_shard(tmp_path / "in/a-000.tar", range(2))
    command("key", "new", "k")
    assert command("anonymize", "in", *OUT, "-s", "mcadams", "--workers", "1").returncode == 0
    told_alike("in", *OUT, "-s", "vtln", words="made earlier with another key, system or options")


def test_it_lists_what_a_run_may_go_on_with(earlier, command, tmp_path, speech):
    speech("c/b/3.wav", seconds=0.5)
    before = snapshot(tmp_path)
    for more in ([], ["--overwrite", "--set", "order=16"]):
        done = command("anonymize", "c", *OUT, "-s", "mcadams", "--dry-run", *more)
        assert done.returncode == 0, done.stderr.decode()
        assert len(done.stdout.splitlines()) == 4, "a heading and three recordings"
        assert snapshot(tmp_path) == before
    log = (tmp_path / "out/voicenym.jsonl").read_text().splitlines()
    assert [json.loads(line)["output"] for line in log] == ["a/1.wav", "b/2.wav"]
