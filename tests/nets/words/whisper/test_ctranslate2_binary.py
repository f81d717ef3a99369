"""CTranslate2's binary format: what is whole, cut off, or not finite."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.words.whisper.ctranslate2_binary import not_finite, places, variables


def name(text):
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def variable(called, shape, kind, content):
    head = name(called) + struct.pack("<B", len(shape)) + struct.pack(f"<{len(shape)}I", *shape)
    return head + struct.pack("<BI", kind, len(content)) + content


def binary(*found):
    head = struct.pack("<I", 6) + name("WhisperSpec") + struct.pack("<II", 3, len(found))
    return head + b"".join(found) + struct.pack("<I", 1) + name("alias") + name("half")


HALF = np.arange(6, dtype=np.float16)
BRAIN = np.arange(4, dtype=np.float32).view(np.uint32) >> 16
WHOLE = binary(
    variable("half", (2, 3), 4, HALF.tobytes()),
    variable("heads", (), 2, np.int16(6).tobytes()),
    variable("brain", (4,), 5, BRAIN.astype(np.uint16).tobytes()),
)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.bin"
    found.write_bytes(WHOLE)
    return found


def test_variables_have_their_shapes_and_numbers(path):
    found = places(path)
    assert [(one.name, one.shape) for one in found] == [
        ("half", [2, 3]), ("heads", []), ("brain", [4]),
    ]  # fmt: skip
    read = variables(path)
    called, value = next(read)
    assert called == "half"
    np.testing.assert_array_equal(value, HALF.reshape(2, 3))
    assert int(next(read)[1]) == 6
    with pytest.raises(VoicenymError, match="brain is in bfloat16"):
        next(read)
    assert not_finite(path) == ""


@pytest.mark.parametrize("size", range(0, len(WHOLE), 3))
def test_a_file_that_is_cut_off_anywhere_is_refused(path, size):
    path.write_bytes(WHOLE[:size])
    with pytest.raises(VoicenymError, match=r"model\.bin: (damaged, or cut off|.* of binary)"):
        places(path)


def test_what_follows_the_end_or_has_another_size_is_refused(path):
    path.write_bytes(WHOLE + b"x")
    with pytest.raises(VoicenymError, match="1 bytes behind the end"):
        places(path)
    path.write_bytes(binary(variable("half", (2, 4), 4, HALF.tobytes())))
    with pytest.raises(VoicenymError, match="half has 12 bytes for its shape"):
        places(path)
    with pytest.raises(VoicenymError, match="cannot be read"):
        places(path.with_name("none"))


def test_numbers_that_are_not_finite_are_found_in_all_types(path):
    whole = np.array([1.0, np.nan], np.float32)
    brain = (np.array([np.inf, 1.0], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    for one in (
        variable("this", (2,), 0, whole.tobytes()),
        variable("this", (2,), 4, whole.astype(np.float16).tobytes()),
        variable("this", (2,), 5, brain.tobytes()),
    ):
        path.write_bytes(binary(variable("half", (6,), 4, HALF.tobytes()), one))
        assert not_finite(path) == "this"
