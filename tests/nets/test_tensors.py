"""Tensors out of others' files."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.tensors import WRAPPERS, tensors

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.count": torch.tensor(3)}


@pytest.mark.parametrize("wrapper", [None, *WRAPPERS])
def test_a_state_under_any_wrapper(tmp_path, wrapper):
    path = tmp_path / "x.pt"
    half = {n: v.half() if v.is_floating_point() else v for n, v in STATE.items()}
    torch.save(half if wrapper is None else {wrapper: half, "epoch": 3}, path)
    found = tensors(path)
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
            tensors(path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(VoicenymError, match="damaged, or no checkpoint of tensors alone"):
        tensors(path)
    with pytest.raises(VoicenymError, match="cannot be read"):
        tensors(tmp_path / "none.pt")
