import pickle
import re
from pathlib import Path

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.speechbrain_encoder import CHECKPOINT, find, published
from voicenym.nets.weights import pickles
from voicenym.nets.weights.weights_home import VARIABLE

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@pytest.fixture
def state():
    return dict(speaker_encoders.make("ecapa", SMALL).state_dict())


def read(kind, folder):
    return published(kind, pickles.state(folder / CHECKPOINT), folder / CHECKPOINT)


def refused(tmp_path, content, match, kind="ecapa"):
    torch.save(content, tmp_path / CHECKPOINT)
    with pytest.raises(VoicenymError, match=match) as caught:
        read(kind, tmp_path)
    assert CHECKPOINT in str(caught.value)


def test_sizes_are_read_off_the_checkpoint(tmp_path, state):
    torch.save(state, tmp_path / CHECKPOINT)
    encoder = read("ecapa", tmp_path)
    assert encoder.config() == {**SMALL, "scale": 8}
    assert not encoder.training


def test_counts_of_batches_may_lack(tmp_path, state):
    few = {n: v for n, v in state.items() if not n.endswith("num_batches_tracked")}
    torch.save(few, tmp_path / CHECKPOINT)
    loaded = read("ecapa", tmp_path).state_dict()
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
            read("ecapa", tmp_path)


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("evil-was-here"),))


def test_nothing_but_tensors_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(pickle.dumps({"a": Evil()}, protocol=2))
    with pytest.raises(VoicenymError, match="no checkpoint of tensors"):
        read("ecapa", tmp_path)
    refused(tmp_path, {"a": Evil()}, "no checkpoint of tensors")
    assert not (tmp_path / "evil-was-here").exists()


def test_no_such_kind(state):
    with pytest.raises(VoicenymError, match="no published 'resnet'; there are: ecapa, xvector"):
        published("resnet", state, "here")


def test_what_was_converted_is_found(tmp_path, state):
    torch.save(state, tmp_path / CHECKPOINT)
    convert(tmp_path, "ecapa", tmp_path / "ours")
    assert find("ecapa", str(tmp_path / "ours")) == tmp_path / "ours"
    loaded = speaker_encoders.load(find("ecapa", str(tmp_path / "ours"))).state_dict()
    assert all(torch.equal(loaded[n], v) for n, v in state.items())
    with pytest.raises(VoicenymError, match="holds no xvector, but ecapa"):
        find("xvector", str(tmp_path / "ours"))


@pytest.mark.parametrize("name", [CHECKPOINT, "model.safetensors", "weights"])
def test_a_checkpoint_is_refused_with_the_command(tmp_path, state, name):
    torch.save(state, tmp_path / name)
    for place in (tmp_path, tmp_path / name):
        command = f"voicenym models convert {place} --as ecapa -o FOLDER"
        with pytest.raises(VoicenymError, match=re.escape(command)):
            find("ecapa", str(place))


def test_a_name_on_the_hub_is_refused_with_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VoicenymError, match="voicenym models pull ecapa-voxceleb"):
        find("ecapa", "speechbrain/spkrec-ecapa-voxceleb")
    command = "voicenym models convert someone/spkrec@v1 --as xvector -o FOLDER"
    with pytest.raises(VoicenymError, match=command):
        find("xvector", "someone/spkrec@v1")


def test_what_is_not_here_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    with pytest.raises(VoicenymError, match=r"not here yet; .*voicenym models pull ecapa-voxceleb"):
        find("ecapa", "ecapa-voxceleb")
    with pytest.raises(VoicenymError, match=r"config\.json: cannot be read"):
        find("ecapa", str(tmp_path / "none"))
    with pytest.raises(VoicenymError, match="no weights 'nowhere'"):
        find("ecapa", "nowhere")
