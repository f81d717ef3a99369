import hashlib
import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.byte_planes import split
from voicenym.nets.checkpoint import CONFIG, PLANES, WEIGHTS, fill, read, write

STATE = {"a": torch.linspace(-1, 1, 12).reshape(3, 4), "n": torch.tensor([1, 2])}


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


@pytest.mark.parametrize("content", ["", "[]", "{"])
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
