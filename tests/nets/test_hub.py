"""Fetching: digests of the first fetch are kept, licences asked for, and no network is said."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from functools import cache
from io import BytesIO

import pytest
import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets import hub
from voicenym.nets.catalogue import entry
from voicenym.nets.checkpoint import DIGEST, configuration, read
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.hub import fetched, place_of, pulled, sha256
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.weight_pull import pull
from voicenym.nets.weights.weights_home import VARIABLE

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@cache
def checkpoint(name):
    """A small network as torch writes it; of hubert-base too, its projection left out."""
    torch.manual_seed(0)
    network = (
        speaker_encoders.make("ecapa", SMALL)
        if "ecapa" in name
        else HubertSoft(6, 5, 1, 64, 1, 16, 8)
    )
    content = BytesIO()
    torch.save(network.state_dict(), content)
    return content.getvalue()


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A hub in a folder, and a cache on this machine."""
    monkeypatch.delenv(hub.OFFLINE, raising=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "none"))
    return World(tmp_path)


class World:
    def __init__(self, place):
        self.place, self.ledger = place, hub.store() / hub.LEDGER
        self.there, self.fetched, self.safe = True, [], False

    def __call__(self, repository, file, offline):
        self.fetched.append((repository, file))
        path = self.place / "cache" / repository / file
        if not path.exists():
            if offline or not self.there or (file.endswith("tensors") and not self.safe):
                raise OSError("cannot find the requested files\nand more")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"{}" if file.endswith(".json") else checkpoint(repository))
        return str(path)

    def pull(self, name, **options):
        return pull(name, fetch=self, **options)

    def path(self, name):
        published = entry(name)
        return self.place / "cache" / published.repository / published.files[0]


def test_files_are_fetched_and_their_digests_kept(world):
    folder = world.pull("hubert-base")
    assert folder == world.place / "home" / "published" / "hubert-base"
    asked = ["model.safetensors", "pytorch_model.bin", "config.json"]
    assert [file for _, file in world.fetched] == asked
    kept = json.loads(world.ledger.read_text())["hubert-base"]
    assert kept["sha256"]["pytorch_model.bin"] == sha256(world.path("hubert-base"))
    assert kept[hub.CONVERTED] == sha256(folder / "model.safetensors")
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors"}
    assert pulled() == ["hubert-base"]
    assert place_of("hubert-base") == str(folder)
    world.path("hubert-base").unlink()  # nothing needs the checkpoint any more
    assert world.pull("hubert-base", offline=True) == folder
    assert len(world.fetched) == 3


def test_safetensors_are_taken_where_they_are_published(world):
    world.safe = True
    cached = world.path("hubert-base").with_name("model.safetensors")
    cached.parent.mkdir(parents=True)
    from safetensors.torch import save_file

    state = torch.load(BytesIO(checkpoint("hubert-base")), weights_only=True)
    save_file(state, cached)
    folder = world.pull("hubert-base")
    kept = json.loads(world.ledger.read_text())["hubert-base"]["sha256"]
    assert kept.keys() == {"model.safetensors", "config.json"}
    assert configuration(folder)["card"]["its SHA-256"] == kept["model.safetensors"]
    world.safe = False
    cached.unlink()
    (folder / "config.json").unlink()
    with pytest.raises(VoicenymError, match=r"model\.safetensors cannot be fetched"):
        world.pull("hubert-base")  # and no checkpoint in its place


def test_what_was_converted_and_changed_since_is_refused(world):
    folder = world.pull("ecapa-voxceleb")
    config = configuration(folder)
    speaker_encoders.save(speaker_encoders.make("ecapa", SMALL), folder)
    with pytest.raises(VoicenymError, match="not what was pulled and converted"):
        place_of("ecapa-voxceleb")
    assert configuration(world.pull("ecapa-voxceleb"))[DIGEST] == config[DIGEST]
    assert place_of("ecapa-voxceleb") == str(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(VoicenymError, match="damaged, or of another config"):
        read(folder)


def test_what_was_not_pulled_is_not_fetched_by_its_name(world, monkeypatch):
    monkeypatch.setattr(hub, "_from_hub", world)
    with pytest.raises(VoicenymError, match=r"not here yet; .*voicenym models pull ecapa-voxceleb"):
        place_of("ecapa-voxceleb")
    with pytest.raises(VoicenymError, match=r"get hubert-soft-.* --as hubert-soft -o FOLDER"):
        place_of("hubert-soft")
    assert not world.fetched


def test_digests_of_earlier_releases_are_asked_for(world, monkeypatch):
    constants = pytest.importorskip("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HOME", str(world.place / "old"))
    (world.place / "old").mkdir()
    given = {"ecapa-voxceleb": {"sha256": {"embedding_model.ckpt": "0" * 64}}}
    (world.place / "old" / hub.LEDGER).write_text(json.dumps(given))
    with pytest.raises(VoicenymError, match="damaged, or not what"):
        world.pull("ecapa-voxceleb")
    assert pulled() == []


def test_other_bytes_are_refused_by_name(world):
    world.pull("ecapa-voxceleb")
    before = world.ledger.read_text()
    path = world.path("ecapa-voxceleb")
    path.write_bytes(b"damaged")
    with pytest.raises(
        VoicenymError, match=r"embedding_model\.ckpt: damaged, or not what"
    ) as raised:
        fetched("ecapa-voxceleb", fetch=world)
    assert str(path) in str(raised.value)
    assert world.ledger.read_text() == before
    path.unlink()
    fetched("ecapa-voxceleb", fetch=world)


def test_a_damaged_first_download_is_not_what_later_ones_are_compared_with(world):
    path = world.path("ecapa-voxceleb")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    with pytest.raises(VoicenymError, match="damaged, or no checkpoint"):
        world.pull("ecapa-voxceleb")
    assert not world.ledger.exists()
    assert not (hub.store() / "ecapa-voxceleb").exists()
    path.unlink()
    assert world.pull("ecapa-voxceleb").is_dir()


def test_a_file_of_the_hubs_cache_has_the_digest_of_its_name(world):
    """huggingface_hub names a large file by the SHA-256 that the hub announced."""
    path = world.path("ecapa-voxceleb")
    blob = path.parent / hashlib.sha256(checkpoint("ecapa-voxceleb")).hexdigest()
    path.parent.mkdir(parents=True)
    blob.write_bytes(checkpoint("ecapa-voxceleb")[:-1] + b"!")
    path.symlink_to(blob.name)
    with pytest.raises(VoicenymError, match="damaged, not embedding_model") as one:
        world.pull("ecapa-voxceleb")
    assert str(one.value).startswith(f"{blob}: ")  # whose removal lets the library fetch it again
    blob.write_bytes(checkpoint("ecapa-voxceleb"))
    world.pull("ecapa-voxceleb")


def test_what_another_process_records_meanwhile_stays(world):
    def use(path):
        world.pull("hubert-base")
        return {}

    fetched("ecapa-voxceleb", fetch=world, use=use)
    assert json.loads(world.ledger.read_text()).keys() == {"hubert-base", "ecapa-voxceleb"}


def test_two_pulls_of_the_same_weights_fetch_them_once(world):
    second = threading.Thread(target=world.pull, args=("ecapa-voxceleb",))

    class Slow(World):
        def __call__(self, repository, file, offline):
            if second.ident is None:
                second.start()
            return super().__call__(repository, file, offline)

    slow = Slow(world.place)
    folder = slow.pull("ecapa-voxceleb")
    second.join()
    assert len(slow.fetched) == 1
    assert world.fetched == []
    assert read(folder)[0]["kind"] == "ecapa"


def test_the_cause_of_a_failure_is_named_and_not_the_librarys_advice(world):
    def fetch(repository, file, offline):
        try:
            raise OSError("403 Client Error")
        except OSError as error:
            raise ValueError("please check your connection") from error

    with pytest.raises(VoicenymError, match=r"cannot be fetched \(403 Client Error\)"):
        pull("ecapa-voxceleb", fetch=fetch)


def test_digests_of_authors_are_asked_for_at_once(world, monkeypatch):
    import dataclasses

    from voicenym.nets import catalogue

    given = dataclasses.replace(entry("ecapa-voxceleb"), digests={"embedding_model.ckpt": "0" * 64})
    monkeypatch.setattr(catalogue, "CATALOGUE", (given,))
    with pytest.raises(VoicenymError, match="damaged, or not what"):
        world.pull("ecapa-voxceleb")


def test_a_licence_without_commerce_is_accepted_once(world):
    asked = []
    with pytest.raises(VoicenymError, match=r"CC BY-NC 4\.0: no commercial use.*--accept-licence"):
        world.pull("mms-300m", accept=lambda published: asked.append(published.name))
    assert asked == ["mms-300m"]
    assert world.fetched == []
    assert not world.ledger.exists()
    fetched("mms-300m", fetch=world, accept=lambda published: True)
    fetched("mms-300m", fetch=world, accept=lambda published: pytest.fail("asked twice"))
    world.pull("hubert-base", accept=lambda published: pytest.fail("asked of a free licence"))


def test_without_a_network_the_message_names_what_works(world):
    world.pull("ecapa-voxceleb")
    world.there = False
    with pytest.raises(
        VoicenymError, match=r"cannot be fetched \(cannot find the requested files\)"
    ) as raised:
        world.pull("hubert-base")
    assert "pulled before (ecapa-voxceleb)" in str(raised.value)
    assert "every system but those that need published weights" in str(raised.value)
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
    with pytest.raises(VoicenymError, match=r"weights\.json: cannot be read"):
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
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    path = folder / "embedding_model.ckpt"
    assert fetched("xvector-voxceleb", offline=True) == path
    with pytest.raises(VoicenymError, match="this is offline"):
        pull("ecapa-voxceleb", offline=True)


def test_snapshots_name_their_faults(monkeypatch):
    hub_library = pytest.importorskip("huggingface_hub")
    with pytest.raises(VoicenymError, match=r"no name on the hub, which is owner/name"):
        hub.snapshot("./folder/of/files", None)

    def unreachable(name, **options):
        assert (name, options["revision"]) == ("owner/name", "v2")
        raise OSError("no route to host\nand more")

    monkeypatch.setattr(hub_library, "snapshot_download", unreachable)
    with pytest.raises(VoicenymError, match=r"no usable weights there \(no route to host\)"):
        hub.snapshot("owner/name@v2", None)


def test_without_the_hubs_library_the_extra_is_named(monkeypatch, world):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(DependencyError, match=r"voicenym\[train\]"):
        hub.snapshot("owner/name", None)
    with pytest.raises(DependencyError, match=r"voicenym\[train\]"):
        pull("ecapa-voxceleb")


def test_a_file_that_cannot_be_read_has_no_digest(tmp_path):
    with pytest.raises(VoicenymError, match="missing: cannot be read"):
        hub.sha256(tmp_path / "missing")


def test_a_ledger_that_cannot_be_written_is_an_error(world):
    world.ledger.parent.parent.mkdir(parents=True, exist_ok=True)
    world.ledger.parent.write_text("a file in its place")
    with pytest.raises(VoicenymError, match=r"weights\.json: (digests cannot be kept|cannot be)"):
        world.pull("ecapa-voxceleb")


def test_a_whispers_tokenizer_is_the_one_that_was_pulled(world):
    folder = hub.store() / "whisper-tiny.en"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({DIGEST: "d"}))
    (folder / "tokenizer.json").write_bytes(b"{}")
    entries = {"tokenizer.json": hashlib.sha256(b"{}").hexdigest()}
    world.ledger.write_text(
        json.dumps({"whisper-tiny.en": {hub.CONVERTED: "d", "sha256": entries}})
    )
    assert place_of("whisper-tiny.en") == str(folder)
    (folder / "tokenizer.json").write_bytes(b"{ }")
    with pytest.raises(VoicenymError, match=r"tokenizer\.json: not what was pulled as whisper"):
        place_of("whisper-tiny.en")
