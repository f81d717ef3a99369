"""Lengths of content units: closed forms."""

from __future__ import annotations

import numpy as np

from voicenym.verification.unit_lengths import LONGEST, measure


def test_shares_rate_and_frames():
    found = measure([np.array([7, 7, 3, 7]), np.repeat(5, 100), np.empty(0, dtype=int)])
    assert found.shape == (3, LONGEST + 2)
    np.testing.assert_allclose(found[0, :2], [2 / 3, 1 / 3])
    np.testing.assert_allclose(found[0, -2:], [3 / 4, np.log(4)])
    np.testing.assert_allclose(found[1, : LONGEST + 1], [*np.zeros(LONGEST - 1), 1.0, 0.01])
    np.testing.assert_allclose(found[:2, :LONGEST].sum(1), 1.0)
    assert np.isnan(found[2]).all()


def test_the_names_of_the_codes_do_not_matter():
    codes = np.random.default_rng(0).integers(0, 4, 200)
    named = np.array([9, 3, 11, 2])[codes]
    np.testing.assert_array_equal(measure([codes]), measure([named]))
