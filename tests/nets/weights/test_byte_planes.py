import importlib.util
import zlib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read, write
from voicenym.nets.weights.byte_planes import joined, split
from voicenym.nets.weights.weight_files import CONFIG, PLANES, WEIGHTS
from voicenym.nets.weights.weight_files import read as weights

ROOT = Path(__file__).resolve().parents[3]


@given(content=st.binary(max_size=200))
def test_planes_of_any_bytes_are_joined_to_the_same_bytes(content):
    planes = split(content)
    assert len(planes) == len(content)
    assert joined(planes) == content


def half_precision(folder: Path, size: int = 400) -> bytes:
    values = torch.randn(size, 99, generator=torch.Generator().manual_seed(0))
    write(folder, {"a": 0.05 * values, "b": values[0, :3]}, {"kind": "x"}, half=True)
    return (folder / WEIGHTS).read_bytes()


def test_low_bytes_come_before_high_bytes(tmp_path):
    content = half_precision(tmp_path)
    header = 8 + int.from_bytes(content[:8], "little")
    planes = split(content)
    assert planes[:header] == content[:header]
    numbers, count = content[header:], (len(content) - header) // 2
    assert planes[header : header + count] == numbers[::2]
    assert planes[header + count :] == numbers[1::2]


def test_planes_of_half_precision_are_smaller_in_an_archive(tmp_path):
    content = half_precision(tmp_path)
    assert len(zlib.compress(split(content))) < 0.95 * len(zlib.compress(content))


def stored_in_planes(folder: Path) -> bytes:
    content = half_precision(folder)
    (folder / PLANES).write_bytes(split(content))
    (folder / WEIGHTS).unlink()
    return content


def test_a_folder_with_planes_is_read_as_the_same_weights(tmp_path):
    content = stored_in_planes(tmp_path)
    assert weights(tmp_path) == content
    _, state = read(tmp_path)
    assert {n: v.half().tolist() for n, v in state.items()} == {
        name: value.tolist() for name, value in load(content).items()
    }


def test_one_wrong_byte_of_planes_is_noticed(tmp_path):
    stored_in_planes(tmp_path)
    planes = bytearray((tmp_path / PLANES).read_bytes())
    planes[-1] ^= 1
    (tmp_path / PLANES).write_bytes(planes)
    with pytest.raises(VoicenymError, match="damaged"):
        read(tmp_path)


@pytest.mark.parametrize("length", [0, 5, 8, 40])
def test_truncated_planes_are_noticed(tmp_path, length):
    stored_in_planes(tmp_path)
    (tmp_path / PLANES).write_bytes((tmp_path / PLANES).read_bytes()[:length])
    with pytest.raises(VoicenymError, match="damaged"):
        read(tmp_path)


def test_the_tool_stores_planes_where_they_pay(tmp_path, monkeypatch):
    path = ROOT / "tools" / "byte_planes.py"
    spec = importlib.util.spec_from_file_location("byte_planes_tool", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    content = half_precision(tmp_path)
    monkeypatch.setattr(tool, "LEAST_SAVED", 10_000)
    assert tool.store(tmp_path / WEIGHTS) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [CONFIG, WEIGHTS]
    monkeypatch.setattr(tool, "LEAST_SAVED", 100)
    assert tool.store(tmp_path / WEIGHTS) > 100
    assert sorted(p.name for p in tmp_path.iterdir()) == [CONFIG, PLANES]
    assert weights(tmp_path) == content
