import importlib.util
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read, write
from voicenym.nets.weights.weight_difference import (
    FROM,
    STEP,
    applied,
    compressed,
    decompressed,
    made,
    other_folder,
)
from voicenym.nets.weights.weight_files import CONFIG, DIFFERENCE, WEIGHTS
from voicenym.nets.weights.weight_files import read as weights

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folders(tmp_path):
    """Weights of half precision, and others that differ from them by a tenth of their deviation."""
    random = torch.Generator().manual_seed(0)
    state = {
        "matrix": 0.05 * torch.randn(300, 200, generator=random),
        "vector": torch.randn(30, generator=random),
        "count": torch.arange(3),
    }
    write(tmp_path / "first", state, {"kind": "x"}, half=True)
    for name in ("matrix", "vector"):
        change = torch.randn(state[name].shape, generator=random)
        state[name] = state[name] + 0.1 * state[name].std() * change
    write(tmp_path / "second", state, {"kind": "x"}, half=True)
    return tmp_path / "first", tmp_path / "second"


def tool():
    path = ROOT / "tools" / "weight_difference.py"
    spec = importlib.util.spec_from_file_location("weight_difference_tool", path)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def difference(folders, step: float = 0.08) -> bytes:
    first, second = folders
    levels = made(load(weights(second)), load(weights(first)), step)
    return save(levels, metadata={FROM: "first"})


def test_weights_are_those_of_the_training_within_half_a_step(folders):
    first, second = folders
    found, wanted = load(applied(difference(folders), weights(first))), load(weights(second))
    for name in ("matrix", "vector"):
        there, trained = (one[name].astype(np.float64) for one in (found, wanted))
        spread = load(weights(first))[name].astype(np.float64).std()
        rounding = 2.0**-11 * np.abs(trained).max()
        assert np.abs(there - trained).max() <= 0.04 * spread + rounding
    assert np.array_equal(found["count"], wanted["count"])


def test_a_difference_takes_a_fraction_of_the_weights_in_an_archive(folders):
    stored = zlib.compress(compressed(difference(folders)))
    assert len(stored) < 0.3 * len(zlib.compress(weights(folders[1])))
    assert len(stored) < 0.95 * len(zlib.compress(difference(folders)))


def test_a_difference_comes_back_and_nothing_else_is_taken_for_one(folders):
    content = difference(folders)
    assert decompressed(compressed(content)) == content
    for wrong, message in (
        (content, "incorrect header"),
        (compressed(content) + b"x", "more follows"),
        (compressed(content)[:-1], "its end is missing"),
        (zlib.compress(bytes(1 << 20)), "its end is missing"),  # more than codes can make of it
    ):
        with pytest.raises(VoicenymError, match=message):
            decompressed(wrong)


def test_large_differences_have_larger_steps(folders):
    first, second = (load(weights(folder)) for folder in folders)
    far = {**second, "matrix": second["matrix"] + np.float16(1.0)}
    found = made(far, first, 0.08)
    assert np.abs(found["matrix"].astype(int)).max() == 127
    assert found["matrix" + STEP][0] * 127 == pytest.approx(1.0, abs=0.1)


def test_equal_weights_have_no_difference(folders):
    first = load(weights(folders[0]))
    found = save(made(first, first, 0.08), metadata={FROM: "first"})
    assert applied(found, weights(folders[0])) == weights(folders[0])


def test_the_tool_stores_a_folder_that_is_read_as_the_rounded_weights(folders):
    first, second = folders
    expected = applied(difference(folders), weights(first))
    assert tool().store(second, first, 0.08) == (second / DIFFERENCE).stat().st_size
    assert sorted(path.name for path in second.iterdir()) == [CONFIG, DIFFERENCE]
    assert weights(second) == expected
    config, state = read(second)
    assert config["kind"] == "x"
    assert state["matrix"].half().numpy().tobytes() == load(expected)["matrix"].tobytes()


def test_the_tool_takes_folders_beside_each_other_only(folders, tmp_path):
    with pytest.raises(SystemExit, match="beside"):
        tool().store(folders[1], tmp_path, 0.08)
    assert (folders[1] / WEIGHTS).exists()


@pytest.mark.parametrize("spoiled", ["difference", "first"])
def test_one_wrong_byte_of_either_file_is_noticed(folders, spoiled):
    first, second = folders
    tool().store(second, first, 0.08)
    path = second / DIFFERENCE if spoiled == "difference" else first / WEIGHTS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(VoicenymError, match=r"model\.difference: (damaged|no difference)"):
        read(second)


@pytest.mark.parametrize("length", [0, 5, 8, 40, 1000])
def test_a_truncated_difference_is_noticed(folders, length):
    first, second = folders
    tool().store(second, first, 0.08)
    (second / DIFFERENCE).write_bytes((second / DIFFERENCE).read_bytes()[:length])
    with pytest.raises(VoicenymError, match=r"model\.difference"):
        read(second)


@pytest.mark.parametrize("name", ["", ".", "..", "../first", "/etc", "a\\b"])
def test_a_difference_names_a_folder_beside_its_own_and_no_path(folders, name):
    first, second = folders
    content = save(made(load(weights(second)), load(weights(first)), 0.08), metadata={FROM: name})
    with pytest.raises(VoicenymError, match="no folder beside"):
        other_folder(content)


@pytest.mark.parametrize("name", ["second", "third"])
def test_a_difference_from_a_difference_or_from_itself_is_refused(folders, name):
    first, second = folders
    levels = made(load(weights(second)), load(weights(first)), 0.08)
    tool().store(second, first, 0.08)
    third = second.with_name("third")
    third.mkdir()
    (third / CONFIG).write_text(json.dumps({"kind": "x"}))
    (third / DIFFERENCE).write_bytes(compressed(save(levels, metadata={FROM: name})))
    with pytest.raises(VoicenymError, match="is a difference itself"):
        weights(third)


def test_a_difference_from_other_shapes_is_refused(folders):
    other = {"matrix": np.zeros((3, 3), np.float16)}
    with pytest.raises(VoicenymError, match="matrix: the difference of weights is not from these"):
        applied(difference(folders), save(other))
