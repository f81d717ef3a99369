"""Words for how a channel is nearly its input."""

from __future__ import annotations

import math

from voicenym.corpus.nearness.near_original import likeness
from voicenym.corpus.nearness.segment_similarity import Segments


def test_a_copy_has_the_distance_zero_with_no_sign_of_rounding():
    said = likeness(Segments([-1e-7] * 6, [math.nan] * 6))
    assert "least log-mel distance 0.000," in said
    assert said.startswith("100 % of its speech is as before")


def test_another_voice_is_not_like_its_input():
    assert likeness(Segments([0.4] * 6, [0.1] * 6)) == ""
