"""Pre-training speech by many systems and keys, reproducible in every run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.training.speakers.many_systems import UNCHANGED, ManySystems, bundled_systems


def test_every_system_takes_its_share_of_the_recordings():
    many = ManySystems()
    drawn = Counter(many.system_of(f"utterance {i}") for i in range(900))
    assert set(drawn) == set(bundled_systems())
    assert min(drawn.values()) > 23, "of 53 expected, with a standard deviation of 7.1"


def test_the_default_systems_are_all_whose_weights_are_bundled():
    systems = bundled_systems()
    assert {UNCHANGED, "mcadams", "base", "word-codes", "ssl-roh", "musa"} <= set(systems)
    assert "asr-tts" not in systems


def test_another_rendering_draws_other_systems_and_other_voices(voices):
    first, again, other = ManySystems(), ManySystems(), ManySystems(number=1)
    names = [recording.name for recording in voices]
    assert [first.system_of(name) for name in names] == [again.system_of(name) for name in names]
    assert [first.system_of(name) for name in names] != [other.system_of(name) for name in names]
    one = ManySystems(("vtln",))
    two = ManySystems(("vtln",), number=1)
    assert one.identity(voices[0]) != two.identity(voices[0])
    np.testing.assert_array_equal(one(voices[0]), ManySystems(("vtln",))(voices[0]))
    assert np.abs(one(voices[0]) - two(voices[0])).max() > 1e-3
    transform = one.transform(voices[0])
    assert transform.steps[0].per == "utterance"


def test_original_speech_is_unchanged(voices):
    plain = ManySystems((UNCHANGED,))
    np.testing.assert_array_equal(plain(voices[0]), voices[0].samples())


def test_a_system_that_there_is_not_is_refused():
    with pytest.raises(VoicenymError, match="parrot"):
        ManySystems(("mcadams", "parrot"))
    with pytest.raises(VoicenymError, match="one at least"):
        ManySystems(())
