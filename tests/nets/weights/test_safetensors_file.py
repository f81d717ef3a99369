"""Tensors out of others' files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.weights.pickles import state
from voicenym.nets.weights.safetensors_file import WRAPPERS, is_pickled, refuse_pickles, tensors

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.count": torch.tensor(3)}


@pytest.mark.parametrize("wrapper", [None, *WRAPPERS])
def test_a_state_under_any_wrapper(tmp_path, wrapper):
    path = tmp_path / "x.pt"
    half = {n: v.half() if v.is_floating_point() else v for n, v in STATE.items()}
    torch.save(half if wrapper is None else {wrapper: half, "epoch": 3}, path)
    found = state(path)
    assert found.keys() == STATE.keys()
    for name, value in STATE.items():
        torch.testing.assert_close(found[name], value)


def test_safetensors(tmp_path):
    save_file = pytest.importorskip("safetensors.torch").save_file
    save_file(STATE, tmp_path / "x.safetensors")
    torch.testing.assert_close(tensors(tmp_path / "x.safetensors"), STATE)
    (tmp_path / "x.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(VoicenymError, match="no safetensors file"):
        tensors(tmp_path / "x.safetensors")


def test_what_holds_no_tensors(tmp_path):
    path = tmp_path / "x.pt"
    for held in ([1, 2], {"a": 1}, torch.zeros(3)):
        torch.save(held, path)
        with pytest.raises(VoicenymError, match="no tensors by name"):
            state(path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(VoicenymError, match="damaged, or no checkpoint of tensors alone"):
        state(path)
    for read in (state, tensors):
        with pytest.raises(VoicenymError, match="cannot be read"):
            read(tmp_path / "none.pt")


@pytest.mark.parametrize("name", ["x.pt", "x.ckpt", "x.safetensors", "x"])
@pytest.mark.parametrize("zipped", [True, False])
def test_checkpoints_are_refused_by_what_they_hold(tmp_path, name, zipped):
    path = tmp_path / name
    torch.save(STATE, path, _use_new_zipfile_serialization=zipped)
    assert is_pickled(path)
    command = f"voicenym models convert {path} --as hifigan -o FOLDER"
    for place in (path, tmp_path):
        with pytest.raises(VoicenymError, match="a checkpoint that torch wrote"):
            refuse_pickles(place)
    with pytest.raises(VoicenymError, match=re.escape(command)):
        tensors(path, "hifigan")


def test_safetensors_are_known_under_any_name(tmp_path):
    save = pytest.importorskip("safetensors.torch").save
    (tmp_path / "x.bin").write_bytes(save(STATE))
    torch.testing.assert_close(tensors(tmp_path / "x.bin"), STATE)
    refuse_pickles(tmp_path)


def test_the_command_means_the_path_and_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("owner").mkdir()
    for name in ("x.pt", "owner/x.pt", "a b.pt"):
        torch.save(STATE, name)
    for name, printed in (
        ("x.pt", "./x.pt"),
        ("owner/x.pt", "./owner/x.pt"),
        ("a b.pt", "'./a b.pt'"),
    ):
        with pytest.raises(VoicenymError, match=re.escape(f"models convert {printed} --as KIND")):
            tensors(Path(name))
