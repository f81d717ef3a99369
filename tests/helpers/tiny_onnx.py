"""ONNX graphs of a few nodes, written by hand: what ``onnx.helper`` would write."""

from __future__ import annotations

import struct

FLOAT, INT64 = 1, 7


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name: str, value: float) -> bytes:
    """An attribute with a number."""
    packed = bytes([2 << 3 | 5]) + struct.pack("<f", value)
    return message(5, message(1, name) + packed + number(20, 1))


def node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    names = b"".join(message(1, name) for name in inputs)
    return message(1, names + message(2, output) + message(4, kind) + b"".join(attributes))


def value(field: int, name: str, kind: int, dimensions: list[str | int]) -> bytes:
    shape = b"".join(
        message(1, message(2, d) if isinstance(d, str) else number(1, d)) for d in dimensions
    )
    return message(
        field, message(1, name) + message(2, message(1, number(1, kind) + message(2, shape)))
    )


def model(*fields: bytes) -> bytes:
    graph = b"".join(fields) + message(2, "tiny")
    return number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 15))


def noisy(kind: str = "RandomNormalLike", *attributes: bytes) -> bytes:
    """``y`` is ``x`` plus as many random numbers."""
    return model(
        node(kind, ["x"], "drawn", *attributes),
        node("Add", ["x", "drawn"], "y"),
        value(11, "x", FLOAT, ["batch", "length"]),
        value(12, "y", FLOAT, ["batch", "length"]),
    )


def reader() -> bytes:
    """A voice of Piper: a number a phoneme as samples, plus noise."""
    return model(
        node(
            "Cast",
            ["input"],
            "numbers",
            message(5, message(1, "to") + number(3, FLOAT) + number(20, 2)),
        ),
        node("RandomNormalLike", ["numbers"], "drawn"),
        node("Add", ["numbers", "drawn"], "output"),
        value(11, "input", INT64, ["batch", "phonemes"]),
        value(11, "input_lengths", INT64, ["batch"]),
        value(11, "scales", FLOAT, [3]),
        value(12, "output", FLOAT, ["batch", "phonemes"]),
    )
