"""A disk that is really full: a file system of some kilobytes, in a namespace of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shard_material import sound, tree, web_shard

from voicenym.pseudonym import Key

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
RUN = """
mount -t tmpfs -o size={size}k none out || exit 99
{python} -m voicenym anonymize in -o out --key key -s mcadams -j 1 2>first.txt; echo $?
cp -a out first
mount -o remount,size=64m out
{python} -m voicenym anonymize in -o out --key key -s mcadams -j 1 2>second.txt; echo $?
cp -a out second
"""
MAPPED = """
mount -t tmpfs -o size={size}k none out || exit 99
mkdir out/new
{python} -m voicenym anonymize in -o out/new --rename --mapping out/map -s mcadams -j 1 2>said.txt
echo $?
cp -a out after
"""
pytestmark = pytest.mark.slow


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    try_it = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(try_it, capture_output=True, check=False).returncode == 0


def files(folder: Path) -> None:
    for number in range(12):
        path = folder / f"s{number % 2}/{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number))


def shards(folder: Path) -> None:
    for number in range(4):
        web_shard(folder / f"{number}.tar", range(3 * number, 3 * number + 3))


@pytest.mark.parametrize(("make", "size"), [(files, 140), (shards, 110)])
def test_what_fits_is_whole_and_a_rerun_makes_the_rest(make, size, tmp_path):
    if not can_mount():
        pytest.skip("cannot mount a file system here")
    make(tmp_path / "in")
    (tmp_path / "out").mkdir()
    Key(bytes(range(100, 132))).save(tmp_path / "key")
    script = RUN.format(size=size, python=sys.executable)
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1", "0"], done.stderr + (tmp_path / "second.txt").read_text()
    said = (tmp_path / "first.txt").read_text()
    assert "the disk is full; free some space and run again" in said
    assert "Traceback" not in said
    assert "internal error" not in said
    first, second = tree(tmp_path / "first"), tree(tmp_path / "second")
    assert not any(".voicenym-" in name for name in (*first, *second))
    first.pop("voicenym.jsonl")
    assert first
    assert first.items() < second.items()
    assert len(second) == 1 + len(tree(tmp_path / "in"))


def test_a_fresh_key_links_what_fits_by_the_mapping(tmp_path):
    """The mapping lies on the disk that fills up, and is all that links the outputs."""
    if not can_mount():
        pytest.skip("cannot mount a file system here")
    files(tmp_path / "in")
    (tmp_path / "out").mkdir()
    script = MAPPED.format(size=140, python=sys.executable)
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = (tmp_path / "said.txt").read_text()
    assert done.stdout.split() == ["1"], done.stderr + said
    assert "the disk is full" in said
    lines = map(json.loads, (tmp_path / "after/map").read_text().splitlines())
    linked = {Path(line["output"]).relative_to(tmp_path / "out/new").as_posix() for line in lines}
    made = {name for name in tree(tmp_path / "after/new") if name.endswith(".wav")}
    assert made
    assert made <= linked
