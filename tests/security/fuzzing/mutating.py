"""Damage to valid files, drawn by a seed: the same seed damages a file in the same way."""

from __future__ import annotations

import json
import random
from typing import Any

NUMBERS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
WORDS = (
    b"", b"nan", b"inf", b"-1", b"0", b"1e999", b"-1e-320", b"99999999999999999999", b"../..",
    b"/dev/zero", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"|", b"ls |", b"{", b"[[[[", b"'", b'"',
    b"null", b"true", b"\t", b"\n", b" ", b"x" * 5000, b"\xe2\x80\xa8", b"%s%n",
    b"!!python/name:os.system",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**30, 1e308, -1e-320, float("nan"), float("inf"), "", "nan",
    "x" * 3000, "\u2028", "\x00", "../../etc/passwd", [], [[]], {}, {"a": {}}, [None] * 50, -0.0,
)  # fmt: skip


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, fields set to extremes, parts cut out, repeated, moved or made up."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not found:
            return rng.randbytes(rng.randrange(200))
        at, what = rng.randrange(len(found)), rng.randrange(8)
        if rng.random() < 0.5:
            at = min(at, rng.randrange(256))  # headers are where structures are
        length = min(rng.choice((1, 2, 4, 16, 200)), len(found) - at)
        if what == 0:
            found[at] ^= 1 << rng.randrange(8)
        elif what in (1, 2):
            size = rng.choice((1, 2, 4, 8))
            order = rng.choice(("little", "big"))
            number = rng.choice(NUMBERS) % (1 << (8 * size))
            found[at : at + size] = number.to_bytes(size, order)
        elif what == 3:
            del found[at:]
        elif what == 4:
            del found[at : at + length]
        elif what == 5:
            found[at:at] = found[at : at + length] * rng.choice((1, 3))
        elif what == 6:
            found[at : at + length] = rng.randbytes(length)
        else:
            other = rng.randrange(len(found))
            found[at : at + length] = found[other : other + length]
    return bytes(found)


def mutated_text(data: bytes, rng: random.Random) -> bytes:
    """Lines and fields replaced, repeated, moved or made up; bytes now and then."""
    if rng.random() < 0.2:
        return mutated_bytes(data, rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        ends = b"\n" if rng.random() < 0.5 else rng.choice((b"\t", b" ", b"=", b",", b":"))
        parts = data.split(ends)
        at, what = rng.randrange(len(parts)), rng.randrange(6)
        if what <= 1:
            parts[at] = rng.choice(WORDS)
        elif what == 2:
            parts.insert(at, parts[rng.randrange(len(parts))])
        elif what == 3:
            del parts[at]
        elif what == 4:
            parts[at] = mutated_bytes(parts[at], rng)
        else:
            parts[at] += rng.choice(WORDS)
        data = ends.join(parts)
    return data


def mutated_json(data: bytes, rng: random.Random) -> bytes:
    """A value anywhere in the structure replaced, removed or renamed; text now and then."""
    if rng.random() < 0.25:
        return mutated_text(data, rng)
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return mutated_text(data, rng)
    for _ in range(rng.choice((1, 1, 3))):
        value = _changed(value, rng)
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def _changed(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(VALUES)
    key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if rng.random() < 0.7:
        value[key] = _changed(value[key], rng)
    elif isinstance(value, dict) and rng.random() < 0.3:
        value[rng.choice(("", "x", "__class__", "self"))] = value.pop(key)
    else:
        del value[key]
    return value
