"""Fetching: digests of the first fetch are kept, licences asked for, and no network is said."""

from __future__ import annotations

import json

import pytest

from voicenym.errors import VoicenymError
from voicenym.nets import hub
from voicenym.nets.catalogue import entry
from voicenym.nets.hub import place_of, pull, pulled, sha256


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A hub in a folder, and a cache on this machine."""
    monkeypatch.delenv(hub.OFFLINE, raising=False)
    return World(tmp_path)


class World:
    def __init__(self, place):
        self.place, self.ledger = place, place / "cache" / "ledger.json"
        self.there, self.fetched = True, []

    def __call__(self, repository, file, offline):
        self.fetched.append((repository, file))
        path = self.place / "cache" / repository / file
        if not path.exists():
            if offline or not self.there:
                raise OSError("cannot find the requested files\nand more")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{repository} {file}".encode())
        return str(path)

    def pull(self, name, **options):
        return pull(name, fetch=self, ledger=self.ledger, **options)

    def path(self, name):
        published = entry(name)
        return self.place / "cache" / published.repository / published.files[0]


def test_files_are_fetched_and_their_digests_kept(world):
    folder = world.pull("hubert-base")
    assert folder == world.path("hubert-base").parent
    assert [file for _, file in world.fetched] == ["pytorch_model.bin", "config.json"]
    kept = json.loads(world.ledger.read_text())["hubert-base"]["sha256"]
    assert kept["pytorch_model.bin"] == sha256(world.path("hubert-base"))
    assert pulled(world.ledger) == ["hubert-base"]
    assert world.pull("hubert-base", offline=True) == folder


def test_other_bytes_are_refused_by_name(world):
    world.pull("ecapa-voxceleb")
    before = world.ledger.read_text()
    path = world.path("ecapa-voxceleb")
    path.write_bytes(b"damaged")
    with pytest.raises(VoicenymError, match=r"embedding_model\.ckpt: damaged, or not what") as said:
        world.pull("ecapa-voxceleb")
    assert str(path) in str(said.value)
    assert world.ledger.read_text() == before
    path.unlink()
    world.pull("ecapa-voxceleb")


def test_digests_of_authors_are_asked_for_at_once(world, monkeypatch):
    import dataclasses

    from voicenym.nets import catalogue

    told = dataclasses.replace(entry("ecapa-voxceleb"), digests={"embedding_model.ckpt": "0" * 64})
    monkeypatch.setattr(catalogue, "CATALOGUE", (told,))
    with pytest.raises(VoicenymError, match="damaged, or not what"):
        world.pull("ecapa-voxceleb")


def test_a_licence_without_commerce_is_accepted_once(world):
    asked = []
    with pytest.raises(VoicenymError, match=r"CC BY-NC 4\.0: no commercial use.*--accept-licence"):
        world.pull("mms-300m", accept=lambda published: asked.append(published.name))
    assert asked == ["mms-300m"]
    assert world.fetched == []
    assert not world.ledger.exists()
    world.pull("mms-300m", accept=lambda published: True)
    world.pull("mms-300m", accept=lambda published: pytest.fail("asked twice"))
    world.pull("hubert-base", accept=lambda published: pytest.fail("asked of a free licence"))


def test_without_a_network_what_works_is_said(world):
    world.pull("ecapa-voxceleb")
    world.there = False
    with pytest.raises(
        VoicenymError, match=r"cannot be fetched \(cannot find the requested files\)"
    ) as said:
        world.pull("hubert-base")
    assert "pulled before (ecapa-voxceleb)" in str(said.value)
    assert "every system but those that need published weights" in str(said.value)
    with pytest.raises(VoicenymError, match="was not fetched before, and this is offline"):
        world.pull("hubert-base", offline=True)
    world.pull("ecapa-voxceleb")


def test_the_environment_says_offline_too(world, monkeypatch):
    monkeypatch.setenv(hub.OFFLINE, "1")
    with pytest.raises(VoicenymError, match="this is offline"):
        world.pull("hubert-base")


def test_what_is_not_on_the_hub_is_got_by_hand(world):
    with pytest.raises(VoicenymError, match=r"bshall/hubert, and then: voicenym models convert"):
        world.pull("hubert-soft")


def test_a_ledger_that_is_none_is_not_overwritten(world):
    world.ledger.parent.mkdir(parents=True)
    world.ledger.write_text("no json")
    with pytest.raises(VoicenymError, match=r"ledger\.json: cannot be read"):
        world.pull("hubert-base")
    assert world.ledger.read_text() == "no json"


def test_paths_and_names_of_the_hub_stay(tmp_path, monkeypatch):
    assert place_of(str(tmp_path)) == str(tmp_path)
    assert place_of("owner/name") == "owner/name"
    (tmp_path / "hubert-base").mkdir()
    monkeypatch.chdir(tmp_path)
    assert place_of("./hubert-base") == "./hubert-base"


def test_the_librarys_own_cache_is_used(tmp_path, monkeypatch):
    """A cache as huggingface_hub lays it out, without a network."""
    hub_library = pytest.importorskip("huggingface_hub")
    commit = "0" * 40
    root = tmp_path / "models--speechbrain--spkrec-xvect-voxceleb"
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commit)
    (folder / "embedding_model.ckpt").write_bytes(b"weights")
    real = hub_library.hf_hub_download

    def cached(*arguments, **options):
        return real(*arguments, **options, cache_dir=tmp_path)

    monkeypatch.setattr(hub_library, "hf_hub_download", cached)
    ledger = tmp_path / "ledger.json"
    assert pull("xvector-voxceleb", offline=True, ledger=ledger) == folder
    with pytest.raises(VoicenymError, match="this is offline"):
        pull("ecapa-voxceleb", offline=True, ledger=ledger)
