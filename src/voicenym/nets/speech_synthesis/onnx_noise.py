"""ONNX graphs whose random numbers are inputs, so that the caller draws them.

A graph that draws its own noise gives another output at every run. Each node that draws becomes
four nodes that take as many numbers as it would have drawn from an input::

    RandomNormalLike(x) -> y     Shape(x) -> s; ReduceProd(s) -> n; Slice(noise, zero, n) -> flat;
                                 Reshape(flat, s) -> y

The file is protocol buffers (onnx.proto). Only the list of nodes and of inputs is rewritten; the
weights are copied as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from voicenym.errors import VoicenymError

DRAWS = {"RandomNormalLike": "normal", "RandomUniformLike": "uniform"}
"""Operators that are replaced, and what they draw."""
OTHERS = (b"RandomNormal", b"RandomUniform", b"Bernoulli", b"Multinomial")
ZERO = "voicenym.zero"
"""Name of the input ``[1]`` int64 that holds 0."""
FLOAT, INT64 = 1, 7
MODEL_GRAPH, GRAPH_NODE, GRAPH_INPUT = 7, 1, 11
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTRIBUTE = 1, 2, 3, 4, 5
VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5


@dataclass(frozen=True)
class Noisy:
    """A graph without random numbers of its own.

    Args:
        graph: the ONNX file.
        noises: by name of an input ``[number]`` float32, what it holds: ``normal`` or ``uniform``.
    """

    graph: bytes
    noises: dict[str, str]


def with_noise_inputs(content: bytes) -> Noisy:
    """The graph with its noise as inputs; unchanged if it draws none.

    Args:
        content: an ONNX file.

    Raises:
        VoicenymError: it is no ONNX file, or draws in another way.
    """
    if not any(name.encode() in content for name in DRAWS) and not any(
        name in content for name in OTHERS
    ):
        return Noisy(content, {})
    noises: dict[str, str] = {}
    try:
        model = b"".join(
            _field(number, kind, _graph(value, noises) if number == MODEL_GRAPH else value)
            for number, kind, value in _fields(memoryview(content))
        )
    except (IndexError, UnicodeDecodeError, ValueError) as error:
        raise VoicenymError("no ONNX file, or a damaged one; fetch it again") from error
    return Noisy(model, noises)


def _graph(content: memoryview, noises: dict[str, str]) -> bytes:
    parts = []
    for number, kind, value in _fields(content):
        if number == GRAPH_NODE:
            parts.append(_node(value, noises))
        else:
            parts.append(_field(number, kind, value))
    for name in noises:
        parts.append(_message(GRAPH_INPUT, _declared(name, FLOAT, "noise")))
    if noises:
        parts.append(_message(GRAPH_INPUT, _declared(ZERO, INT64, 1)))
    return b"".join(parts)


def _node(content: memoryview, noises: dict[str, str]) -> bytes:
    """A node, or those that replace it, as fields of the graph."""
    found: dict[int, list[bytes]] = {}
    for number, _, value in _fields(content):
        found.setdefault(number, []).append(bytes(value))
    kind = found[NODE_TYPE][0].decode()
    if kind not in DRAWS:
        if kind.encode() in OTHERS or (
            kind in ("If", "Loop", "Scan")
            and any(name.encode() in bytes(content) for name in DRAWS)
        ):
            raise VoicenymError(
                f"the voice draws random numbers in a way that cannot be replaced ({kind}), so "
                "that no two runs would be equal; take another export of it"
            )
        return _message(GRAPH_NODE, content)
    # dtype is that of the input; a mean, deviation or seed would have to be passed on
    extra = [_attribute(value) for value in found.get(NODE_ATTRIBUTE, [])]
    if set(extra) - {"dtype"}:
        raise VoicenymError(
            f"the voice draws random numbers with {', '.join(sorted(set(extra) - {'dtype'}))}, "
            "which is not known here; take another export of it"
        )
    name = f"voicenym.noise.{len(noises)}"
    noises[name] = DRAWS[kind]
    source, target = found[NODE_INPUT][0].decode(), found[NODE_OUTPUT][0].decode()
    shape, count, flat = (f"{name}.{part}" for part in ("shape", "count", "flat"))
    return b"".join(
        _message(GRAPH_NODE, _made(kind, inputs, output))
        for kind, inputs, output in (
            ("Shape", (source,), shape),
            ("ReduceProd", (shape,), count),
            ("Slice", (name, ZERO, count), flat),
            ("Reshape", (flat, shape), target),
        )
    )


def _made(kind: str, inputs: tuple[str, ...], output: str) -> bytes:
    parts = [_message(NODE_INPUT, name.encode()) for name in inputs]
    parts += [
        _message(NODE_OUTPUT, output.encode()),
        _message(NODE_NAME, f"{output}.{kind}".encode()),
        _message(NODE_TYPE, kind.encode()),
    ]
    return b"".join(parts)


def _attribute(content: bytes) -> str:
    """Name of an attribute."""
    return next(bytes(v).decode() for number, _, v in _fields(memoryview(content)) if number == 1)


def _declared(name: str, kind: int, size: str | int) -> bytes:
    """Declaration of an input with one dimension, of a name or a size."""
    dimension = (
        _message(2, size.encode()) if isinstance(size, str) else _field(1, VARINT, _varint(size))
    )
    tensor = _field(1, VARINT, _varint(kind)) + _message(2, _message(1, dimension))
    return _message(1, name.encode()) + _message(2, _message(1, tensor))


def _message(number: int, content: bytes | memoryview) -> bytes:
    return _field(number, BYTES, content)


def _field(number: int, kind: int, value: bytes | memoryview) -> bytes:
    """A field; ``value`` of a number is as it was encoded."""
    head = _varint(number << 3 | kind)
    return b"".join((head, _varint(len(value)) if kind == BYTES else b"", value))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _fields(content: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Number, kind and value of each field; the value of a number as it is encoded."""
    place = 0
    while place < len(content):
        key, place = _read(content, place)
        number, kind = key >> 3, key & 7
        if kind == BYTES:
            length, place = _read(content, place)
            end = place + length
        elif kind == VARINT:
            end = _read(content, place)[1]
        elif kind in (FOUR, EIGHT):
            end = place + (4 if kind == FOUR else 8)
        else:
            raise ValueError(f"a field of kind {kind}")
        if end > len(content):
            raise IndexError("cut off")
        yield number, kind, content[place:end]
        place = end


def _read(content: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
