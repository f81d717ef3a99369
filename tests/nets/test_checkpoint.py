import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, WEIGHTS, copy, fill, read, rebuilding, write
from voicenym.nets.weights import weight_files
from voicenym.nets.weights.byte_planes import split
from voicenym.nets.weights.weight_files import DIFFERENCE, PLANES

STATE = {"a": torch.linspace(-1, 1, 12).reshape(3, 4), "n": torch.tensor([1, 2])}
OTHER = {"a": STATE["a"] + 1, "n": torch.tensor([3, 4])}


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "net", STATE, {"kind": "x"})
    config, state = read(tmp_path / "net")
    assert config["kind"] == "x"
    assert all(torch.equal(state[name], STATE[name]) for name in STATE)
    assert sorted(p.name for p in (tmp_path / "net").iterdir()) == [CONFIG, WEIGHTS]


def test_half_precision_is_half_the_bytes_and_single_precision_again(tmp_path):
    big = {"a": torch.randn(1000, 10, generator=torch.Generator().manual_seed(0))}
    write(tmp_path / "whole", big, {})
    write(tmp_path / "half", big, {}, half=True)
    whole, half = ((tmp_path / n / WEIGHTS).stat().st_size for n in ("whole", "half"))
    assert half < 0.52 * whole
    _, state = read(tmp_path / "half")
    assert state["a"].dtype == torch.float32
    torch.testing.assert_close(state["a"], big["a"], rtol=1e-3, atol=1e-6)


def test_one_wrong_byte_in_planes_is_noticed_under_their_name(tmp_path):
    write(tmp_path, STATE, {})
    content = bytearray(split((tmp_path / WEIGHTS).read_bytes()))
    (tmp_path / WEIGHTS).unlink()
    (tmp_path / PLANES).write_bytes(content)
    assert torch.equal(read(tmp_path)[1]["a"], STATE["a"])
    content[-1] ^= 1
    (tmp_path / PLANES).write_bytes(content)
    with pytest.raises(VoicenymError, match=r"model\.planes: damaged"):
        read(tmp_path)


def test_one_wrong_byte_is_noticed(tmp_path):
    write(tmp_path, STATE, {})
    content = bytearray((tmp_path / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(VoicenymError, match=r"model\.safetensors: damaged"):
        read(tmp_path)


def test_weights_of_another_training_are_noticed(tmp_path):
    write(tmp_path / "one", STATE, {})
    write(tmp_path / "two", {"a": STATE["a"] + 1}, {})
    (tmp_path / "one" / WEIGHTS).write_bytes((tmp_path / "two" / WEIGHTS).read_bytes())
    with pytest.raises(VoicenymError, match=r"of another config\.json"):
        read(tmp_path / "one")


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000])
def test_a_broken_configuration_is_named(tmp_path, content):
    write(tmp_path, STATE, {})
    (tmp_path / CONFIG).write_text(content)
    with pytest.raises(VoicenymError, match=r"config\.json"):
        read(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(VoicenymError, match=r"config\.json"):
        read(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({}))
    with pytest.raises(VoicenymError, match=r"model\.safetensors"):
        read(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(b"no such file")
    with pytest.raises(VoicenymError, match=r"config\.json: does not say the SHA-256"):
        read(tmp_path)
    digest = hashlib.sha256(b"no such file").hexdigest()
    (tmp_path / CONFIG).write_text(json.dumps({"sha256": digest}))
    with pytest.raises(VoicenymError, match="no safetensors"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ({"weight": torch.zeros(2, 3)}, "bias is missing in it"),
        ({"weight": torch.zeros(2, 4), "bias": torch.zeros(2)}, r"weight is \[2, 4\] in it"),
        (
            {"weight": torch.zeros(2, 3), "bias": torch.zeros(2), "more": torch.zeros(1)},
            "more is in it, and Linear has no such part",
        ),
    ],
)
def test_the_first_key_that_differs_is_named(state, problem):
    with pytest.raises(VoicenymError, match=f"here: of another architecture: {problem}"):
        fill(torch.nn.Linear(3, 2), state, "here")


class Killed(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("writes", [lambda f: write(f, OTHER, {"kind": "new"}), "copy"])
@pytest.mark.parametrize("renames", range(4))
def test_a_killed_process_leaves_the_old_pair_or_the_new_one(
    tmp_path, monkeypatch, writes, renames
):
    """Each rename may be the first that is not done; what is cleaned up after it is not, either."""
    write(tmp_path / "net", STATE, {"kind": "old"})
    write(tmp_path / "given", OTHER, {"kind": "new"})
    left = renames

    def replace(path, target):
        nonlocal left
        if not left:
            monkeypatch.setattr(Path, "unlink", lambda *args, **named: None)
            raise Killed
        left -= 1
        return os.replace(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with suppress(Killed):
        if writes == "copy":
            copy(tmp_path / "given", tmp_path / "net")
        else:
            writes(tmp_path / "net")
    monkeypatch.undo()
    config, state = read(tmp_path / "net")
    new = renames > 1  # the second rename gives config.json its name
    assert config["kind"] == ("new" if new else "old")
    assert torch.equal(state["a"], (OTHER if new else STATE)["a"])
    write(tmp_path / "net", STATE, {"kind": "next"})
    left_over = [p.name for p in (tmp_path / "net").iterdir() if p.suffix == ".safetensors"]
    assert left_over == [WEIGHTS]
    assert torch.equal(read(tmp_path / "net")[1]["a"], STATE["a"])


def digest_of(state):
    return hashlib.sha256(save(state)).hexdigest()


def test_a_full_disk_leaves_the_old_pair(tmp_path, monkeypatch):
    write(tmp_path, STATE, {"kind": "old"})
    whole = weight_files.write_inside

    def full(path, content):
        if path.name == CONFIG:
            raise OSError(28, "No space left on device")
        whole(path, content)

    monkeypatch.setattr(weight_files, "write_inside", full)
    with pytest.raises(VoicenymError, match="cannot be written"):
        write(tmp_path, OTHER, {"kind": "new"})
    assert sorted(p.name for p in tmp_path.iterdir()) == [CONFIG, WEIGHTS]
    assert torch.equal(read(tmp_path)[1]["a"], STATE["a"])


@pytest.mark.parametrize("digest", ["../../etc/passwd", "\0", 7, None, ["x"], "A" * 64])
def test_a_digest_that_is_none_names_no_file(tmp_path, digest):
    write(tmp_path, STATE, {})
    (tmp_path / CONFIG).write_text(json.dumps({"sha256": digest}))
    with pytest.raises(VoicenymError, match=r"model\.safetensors: damaged, or of another"):
        read(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_neither_written_nor_read(tmp_path, value):
    broken = {"n": torch.tensor([1, 2]), "empty": torch.zeros(0), "a": torch.ones(3, 4)}
    broken["a"][1, 2] = value
    with pytest.raises(VoicenymError, match="a would be infinite or undefined, and nothing is"):
        write(tmp_path, broken, {})
    assert not list(tmp_path.iterdir())
    (tmp_path / WEIGHTS).write_bytes(save(broken))
    (tmp_path / CONFIG).write_text(json.dumps({"sha256": digest_of(broken)}))
    with pytest.raises(VoicenymError, match=r"model\.safetensors: a is infinite or undefined"):
        read(tmp_path)


def test_weights_beyond_half_precision_are_not_written_in_it(tmp_path):
    large = {"a": torch.tensor([1e5])}
    with pytest.raises(VoicenymError, match="a would be infinite or undefined in half precision"):
        write(tmp_path, large, {}, half=True)
    write(tmp_path, large, {})
    assert read(tmp_path)[1]["a"].item() == 1e5


@pytest.mark.parametrize(
    "error", [KeyError("size"), TypeError("a"), AttributeError("b"), MemoryError(), ValueError("c")]
)
def test_a_configuration_that_makes_no_network_is_named(tmp_path, error):
    with (
        pytest.raises(VoicenymError, match=f"make no network .{type(error).__name__}"),
        rebuilding(tmp_path),
    ):
        raise error


@pytest.mark.parametrize(
    "header", [b"[" * 100_000, b'{"__metadata__": {"difference_from": "o"}, "a": 1}']
)
def test_a_difference_that_is_none_is_named(tmp_path, header):
    write(tmp_path / "o", STATE, {})
    write(tmp_path / "net", STATE, {})
    (tmp_path / "net" / WEIGHTS).unlink()
    (tmp_path / "net" / DIFFERENCE).write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(VoicenymError, match=r"model\.difference: "):
        read(tmp_path / "net")
