"""Turner et al. 2022 on the bundled pool: claims of sections 3.2 and 3.4."""

from __future__ import annotations

import numpy as np

from voicenym.reproduction.outcome import Figure
from voicenym.reproduction.turner import turner_vectors


def test_pseudo_speakers_are_of_speakers_outside_the_pool_and_the_voices_are_not_warped():
    pool = turner_vectors.pool()
    assert not any(speaker.endswith("-warped") for speaker in pool.speakers)
    for sex in ("f", "m"):
        shapes = {turner_vectors.voices(k, sex).shape for k in ("original", "selection", "mixture")}
        assert len(shapes) == 1


def test_averages_are_more_alike_than_originals_and_draws_of_the_mixture_are_not(mute):
    """Section 3.2: means of many vectors vary less; section 3.4.3: the mixture keeps the spread."""
    found = turner_vectors.distributions(mute)
    assert [finding.holds for finding in found.findings] == [True]
    rows = {row.label: row.figures for row in found.panels[0].rows}
    for sex in ("f", "m"):
        assert rows[f"original {sex}"][-1] == Figure(0.0)
        assert rows[f"selection {sex}"][-1].low > rows[f"mixture {sex}"][-1].high
        middle = {kind: rows[f"{kind} {sex}"][2].value for kind in ("original", "selection")}
        assert middle["selection"] > middle["original"] + 0.2


def test_the_baselines_voices_are_compared_with_originals(mute):
    alike, women = turner_vectors.baseline(mute).findings
    assert alike.holds is True
    assert "women less men" in women.evidence


def test_cosines_of_orthogonal_and_of_equal_vectors():
    assert turner_vectors.cosines(np.eye(3)).tolist() == [0.0, 0.0, 0.0]
    assert turner_vectors.cosines(np.ones((2, 4))).tolist() == [1.0]


def test_equal_distances_are_unchanged_only_where_their_intervals_are_narrow():
    from voicenym.training.identity.train_mixture import Tried

    def size(low, high):
        return Tried("f", 0.99, 1, 9, (low + high) / 2, low, high, 1.0, 1.0, 1.0)

    narrow = size(0.08, 0.09)
    assert turner_vectors.unchanged(narrow, size(0.07, 0.10)) is True
    assert turner_vectors.unchanged(narrow, size(0.02, 0.20)) is None
    assert turner_vectors.unchanged(narrow, size(0.20, 0.30)) is False
    assert turner_vectors.unchanged(size(0.20, 0.30), narrow) is False
