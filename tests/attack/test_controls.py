"""Controls of attackers: originals, copies in the same voice, and half the strength."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym import Key
from voicenym.attack import controls
from voicenym.attack.scenario import Protection
from voicenym.corpus.recording import Recording

USER, OWN = Key(bytes(32)), Key(bytes(range(32)))


@pytest.fixture(scope="module")
def recording(sample):
    return Recording("sample", "s", sample)


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Root mean square of the difference of log spectra, in dB."""
    count = min(len(first), len(second)) // 512 * 512
    spectra = [
        np.abs(np.fft.rfft(x[:count].reshape(-1, 512) * np.hanning(512))) for x in (first, second)
    ]
    loud = spectra[0].mean(1) > np.median(spectra[0].mean(1))
    levels = [20.0 * np.log10(one[loud] + 1e-3) for one in spectra]
    return float(np.sqrt(np.square(levels[0] - levels[1]).mean()))


def test_originals_and_copies_are_the_same_under_every_key(recording):
    protection = Protection.by("mcadams", USER)
    for control in (controls.original(protection), controls.copied(protection)):
        one, other = (control.with_key(key, "speaker") for key in (USER, OWN))
        assert one == other == control.transform
        assert len(control.with_keys([(USER, "speaker"), (OWN, "utterance")])) == 1
    np.testing.assert_array_equal(
        controls.original(protection).transform(recording), recording.samples()
    )


def test_a_copy_keeps_the_voice_and_half_the_strength_keeps_half(recording):
    original = recording.samples()
    for system in ("mcadams", "vtln"):
        protection = Protection.by(system, USER)
        half = controls.halved(protection, USER)
        copy = distance(original, controls.copied(protection).transform(recording))
        weak = distance(original, half.transform(recording))
        full = distance(original, protection.transform(recording))
        assert copy < weak < full, system


def test_half_the_strength_is_by_settings_where_there_are_some():
    half = controls.halved(Protection.by("mcadams", USER, parameters=(("low", 0.7),)), USER)
    assert dict(half.parameters) == pytest.approx({"low": 0.85, "high": 0.95})
    blended = controls.halved(Protection.by("vtln", USER), USER)
    assert isinstance(blended.transform.steps[0], controls.Blended)
    assert blended.with_key(OWN, "utterance").steps[0].protected.key == OWN
    assert controls.halved(Protection.by_files({}), USER) is None


def test_attackers_with_settings_of_their_own_have_them_at_half_the_strength():
    theirs = (("low", 0.5),)
    half = controls.halved(Protection.by("mcadams", USER, attackers_parameters=theirs), USER)
    step = half.with_key(OWN, "utterance").steps[0]
    assert dict(step.parameters) == pytest.approx({"low": 0.75, "high": 0.95})
    assert dict(half.transform.steps[0].parameters) == pytest.approx({"low": 0.75, "high": 0.95})
    blended = controls.halved(
        Protection.by("vtln", USER, attackers_parameters=(("least", 0.1),)), USER
    )
    assert blended.with_key(OWN, "utterance").steps[0].protected.parameters == (("least", 0.1),)
    assert blended.transform.steps[0].protected.parameters == ()
