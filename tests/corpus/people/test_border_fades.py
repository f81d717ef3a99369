"""Borders: kept samples stay, nothing of a replaced part is left, and blocks do not matter."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voicenym.corpus.people.border_fades import Borders, Piece

FADE = 8


@st.composite
def recordings(draw):
    """Length, pieces of two voices and silence, and sizes of blocks."""
    frames = draw(st.integers(1, 300))
    edges = sorted(draw(st.sets(st.integers(0, frames), max_size=10)))
    pieces = [
        Piece(a, b, draw(st.sampled_from(["anna", "ben", None])))
        for a, b in itertools.pairwise(edges)
        if draw(st.booleans())
    ]
    sizes, left = [], frames
    while left:
        sizes.append(min(left, draw(st.integers(1, 120))))
        left -= sizes[-1]
    return frames, pieces, sizes


def filled(signal, pieces, sizes, render):
    borders = Borders(pieces, signal.shape[1], FADE, render)
    parts, place = [], 0
    for size in sizes:
        place += size
        parts.append(borders.push(signal[:, place - size : place], place == signal.shape[1]))
    return np.concatenate(parts, axis=1)


def render(index, start, end):
    place = np.arange(start, end)
    return np.stack([np.sin(place + index), np.cos(place * 0.3 - index)]).astype(np.float32)


def mask(frames, pieces):
    hidden = np.zeros(frames, bool)
    for piece in pieces:
        hidden[piece.start : piece.end] = True
    return hidden


@settings(max_examples=60)
@given(recordings(), st.integers(0, 99))
def test_nothing_of_a_replaced_part_is_left_and_all_else_stays(case, seed):
    """The output does not depend on the original of a replaced part, not even by a bit."""
    frames, pieces, sizes = case
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((2, frames)).astype(np.float32)
    hidden = mask(frames, pieces)
    other = np.where(hidden, rng.standard_normal((2, frames)), signal).astype(np.float32)
    out = filled(signal, pieces, sizes, render)
    assert out.shape == signal.shape
    assert np.array_equal(out[:, ~hidden], signal[:, ~hidden])
    assert np.array_equal(out, filled(other, pieces, sizes, render))
    assert np.array_equal(out, filled(signal, pieces, [frames], render))


def test_a_border_is_continuous_and_the_middle_is_the_new_sound():
    signal = np.ones((1, 200), np.float32)
    pieces = [Piece(50, 100, "anna"), Piece(100, 150, "ben")]

    def steady(index, start, end):
        return np.full((1, end - start), -1.0 if index else -3.0, np.float32)

    out = filled(signal, pieces, [64, 136], steady)[0]
    assert np.abs(np.diff(out)).max() < 4.0 / FADE * np.pi / 2
    assert (out[50 + FADE : 100] == -3.0).all()
    assert (out[100 + FADE : 150 - FADE] == -1.0).all()


def test_the_ends_of_a_recording_are_not_faded():
    out = filled(np.ones((1, 40), np.float32), [Piece(0, 40, "a")], [40], lambda *_: render(*_)[:1])
    assert np.array_equal(out, render(0, 0, 40)[:1])
