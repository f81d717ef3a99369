"""Entry points of installed packages, and none of the current folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from voicenym.errors import VoicenymError
from voicenym.registry import Registry
from voicenym.registry.entry_points import EntryPoint, entry_points

GROUP = "voicenym.tests"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """``install("package", "name = module:thing", "code")`` in a folder on the search path."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))

    def make(package: str, declared: str, code: str = "", folder: str = "installed") -> Path:
        place = tmp_path / folder
        about = place / f"{package.replace('-', '_')}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{declared}\n")
        (place / f"{package.replace('-', '_')}.py").write_text(code)
        from voicenym.registry.entry_points import _others

        _others.cache_clear()
        return place

    yield make
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def things(group: str = GROUP) -> Registry[object]:
    return Registry("thing", {"ours": dict}, group=group)


def test_what_a_package_declares_is_a_thing_like_ours(install):
    install("their-things", "theirs = their_things:made", "def made(size: int = 1): return size")
    assert entry_points(GROUP) == (EntryPoint("theirs", "their_things:made", "their-things"),)
    found = things()
    assert found.names() == ["ours", "theirs"]
    assert "their_things" not in sys.modules
    assert found.load("theirs:size=3") == 3
    assert found.package("theirs") == "their-things"
    assert found.package("ours") == "voicenym"
    assert things("voicenym.others").names() == ["ours"]


def test_a_name_of_ours_cannot_be_taken(install):
    install("their-things", "ours = their_things:made", "made = list")
    assert things().get("ours") is dict


def test_a_name_of_two_packages_is_nobodys(install):
    install("a-things", "theirs = a_things:made", "made = list")
    install("b-things", "theirs = b_things:made", "made = list")
    with pytest.raises(VoicenymError, match="declared by several packages, a-things and b-things"):
        things().get("theirs")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("", "AttributeError: module 'broken' has no attribute 'made'"),
        ("made = 3", "broken:made is no thing"),
        ("syntax error", "SyntaxError"),
    ],
)
def test_a_broken_package_is_named_when_it_is_asked_for_and_stops_no_other(install, code, why):
    install("broken", "theirs = broken:made", code)
    found = things()
    assert found.names() == ["ours", "theirs"]
    assert found.make("ours") == {}
    with pytest.raises(VoicenymError) as raised:
        found.load("theirs")
    assert "thing 'theirs' of the package broken cannot be used" in str(raised.value)
    assert why in str(raised.value)
    assert "update or uninstall broken" in str(raised.value)


class Thing:
    """Base of things; those of other packages have a size."""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def made(): return 3", "it makes a int, which is no thing"),
        ("from test_entry_points import Thing as made", "its attribute size is missing"),
    ],
)
def test_an_object_that_is_none_is_refused_where_it_is_made(install, monkeypatch, code, why):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setitem(sys.modules, "test_entry_points", sys.modules[__name__])
    install("broken", "theirs = broken:made", code)
    found = Registry("thing", base=Thing, group=GROUP, attributes=("size",))
    with pytest.raises(VoicenymError, match=f"package broken cannot be used .{why}.; update"):
        found.load("theirs")


def test_metadata_that_cannot_be_read_stops_no_other(install):
    place = install("broken", "theirs = broken:made")
    (place / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[voicenym.tests]\n\xff\xfe")
    install("good", "good = good:made", "made = list")
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        assert things().names() == ["good", "ours"]


def test_nothing_in_the_current_folder_is_an_entry_point(install, tmp_path, monkeypatch):
    install("hostile", "theirs = hostile:made", "made = list", folder="recordings")
    monkeypatch.chdir(tmp_path / "recordings")
    for entry in ("", ".", str(tmp_path / "recordings"), f"{tmp_path}/installed/../recordings"):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
        assert entry_points(GROUP) == ()
    (tmp_path / "linked").symlink_to(tmp_path / "recordings")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "linked"), *sys.path])
    assert entry_points(GROUP) == ()
    monkeypatch.chdir(os.sep)  # elsewhere it is a folder that somebody put on the search path
    monkeypatch.setattr(sys, "path", [str(tmp_path / "recordings"), *sys.path])
    assert [point.name for point in entry_points(GROUP)] == ["theirs"]


def test_the_package_that_is_imported_is_the_one_that_declares(install, monkeypatch, tmp_path):
    install("their-things", "old = their_things:made", folder="older")
    install("their-things", "new = their_things:made")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "older")])
    assert [point.name for point in entry_points(GROUP)] == ["new"]


def test_names_that_no_text_can_hold_are_left_out(install):
    install("their-things", "a name = their_things:made\nfine = their_things:made", "made = list")
    with pytest.warns(RuntimeWarning, match="no name: 'a name'"):
        assert things().names() == ["fine", "ours"]
