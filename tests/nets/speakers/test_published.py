import pickle
from pathlib import Path

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers import weights
from voicenym.nets.speakers.published import CHECKPOINT, find, published

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@pytest.fixture
def state():
    return dict(weights.make("ecapa", SMALL).state_dict())


def refused(tmp_path, content, match, kind="ecapa"):
    torch.save(content, tmp_path / CHECKPOINT)
    with pytest.raises(VoicenymError, match=match) as caught:
        published(kind, str(tmp_path))
    assert CHECKPOINT in str(caught.value)


def test_sizes_are_read_off_the_checkpoint(tmp_path, state):
    torch.save(state, tmp_path / CHECKPOINT)
    encoder = published("ecapa", str(tmp_path))
    assert encoder.config() == {**SMALL, "scale": 8}
    assert not encoder.training
    from_file = published("ecapa", str(tmp_path / CHECKPOINT))
    assert from_file.config() == encoder.config()


def test_counts_of_batches_may_lack(tmp_path, state):
    few = {n: v for n, v in state.items() if not n.endswith("num_batches_tracked")}
    torch.save(few, tmp_path / CHECKPOINT)
    loaded = published("ecapa", str(tmp_path)).state_dict()
    assert all(torch.equal(loaded[n], v) for n, v in few.items())


def test_the_first_key_that_differs_is_named(tmp_path, state):
    name = "blocks.2.tdnn1.norm.norm.weight"
    refused(tmp_path, {n: v for n, v in state.items() if n != name}, f"{name} is missing in it")
    refused(tmp_path, {**state, name: torch.zeros(3)}, rf"{name} is \[3\] in it, and \[16\]")
    refused(tmp_path, {**state, "more": torch.zeros(3)}, "more is in it, and Ecapa has no such")
    refused(tmp_path, state, r"blocks\.0\.conv\.weight is missing in it", kind="xvector")
    refused(tmp_path, {**state, "blocks.0.conv.conv.weight": torch.zeros(9, 80, 5)}, "multiple of")


def test_files_that_are_no_checkpoints_are_named(tmp_path, state):
    refused(tmp_path, [1, 2], "holds no tensors by name")
    torch.save(state, tmp_path / CHECKPOINT)
    content = (tmp_path / CHECKPOINT).read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"no such thing"):
        (tmp_path / CHECKPOINT).write_bytes(damaged)
        with pytest.raises(VoicenymError, match="damaged, or no checkpoint of tensors"):
            published("ecapa", str(tmp_path))


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("evil-was-here"),))


def test_nothing_but_tensors_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(pickle.dumps({"a": Evil()}, protocol=2))
    with pytest.raises(VoicenymError, match="no checkpoint of tensors"):
        published("ecapa", str(tmp_path))
    refused(tmp_path, {"a": Evil()}, "no checkpoint of tensors")
    assert not (tmp_path / "evil-was-here").exists()


def test_no_such_kind_and_no_such_folder(tmp_path):
    with pytest.raises(VoicenymError, match="no published 'resnet'; there are: ecapa, xvector"):
        published("resnet", str(tmp_path))
    for place in (tmp_path, tmp_path / "none", "nowhere"):
        with pytest.raises(VoicenymError, match=f"give a folder that holds {CHECKPOINT}"):
            find(str(place))


def test_the_hub_is_asked_and_its_silence_explained(tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    asked = []

    def answer(name, file, revision=None):
        asked.append((name, file, revision))
        if name == "someone/away":
            raise ConnectionError("no route\nto anywhere")
        return str(tmp_path / "cached")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hub, "hf_hub_download", answer)
    assert find("someone/spkrec") == tmp_path / "cached"
    assert find("someone/spkrec@v1") == tmp_path / "cached"
    assert asked == [("someone/spkrec", CHECKPOINT, None), ("someone/spkrec", CHECKPOINT, "v1")]
    with pytest.raises(VoicenymError, match=r"\(no route\)\. Without a network, give a folder"):
        find("someone/away")


def test_offline_only_the_cache_is_asked(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    from huggingface_hub import constants

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(VoicenymError, match="someone/spkrec: no such folder, and"):
        find("someone/spkrec")
    commit = "0" * 40
    kept = tmp_path / "cache" / "models--someone--spkrec"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text(commit)
    (kept / "snapshots" / commit).mkdir(parents=True)
    (kept / "snapshots" / commit / CHECKPOINT).write_bytes(b"kept")
    assert find("someone/spkrec").read_bytes() == b"kept"
