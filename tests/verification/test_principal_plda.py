"""PLDA on principal components, where measures are many and recordings few."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.metrics import eer
from voicenym.verification.plda import PLDA
from voicenym.verification.principal_plda import PrincipalPLDA

SPEAKERS, TESTED, EACH, MEASURES = 120, 40, 2, 400


@pytest.fixture(scope="module")
def speech():
    """Ten directions in which speakers differ, among noise; each measure has another unit."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(10, MEASURES))
    speakers = np.repeat(np.arange(SPEAKERS), EACH)
    own = 2.0 * rng.normal(size=(SPEAKERS, 10))[speakers] + rng.normal(size=(len(speakers), 10))
    noise = 2.0 * rng.normal(size=(len(speakers), MEASURES))
    return (own @ mixing + noise) * rng.uniform(0.01, 100.0, MEASURES), speakers.astype(str)


def errors(back_end, x, speakers):
    x = x[-TESTED * EACH :].reshape(TESTED, EACH, -1)
    scores = back_end.score(list(x[:, :1]), x[:, 1])
    target = np.eye(TESTED, dtype=bool)
    return 100.0 * eer(scores[target], scores[~target], interval=None).value


def test_it_finds_speakers_that_plda_on_all_measures_does_not(speech):
    x, speakers = speech
    known = slice(0, -TESTED * EACH)
    principal = PrincipalPLDA.train(x[known], speakers[known])
    assert errors(principal, x, speakers) < 15.0
    assert errors(principal, x, speakers) < errors(
        PLDA.train(x[known], speakers[known]), x, speakers
    )


def test_units_of_measures_and_constant_measures_do_not_matter(speech):
    x, speakers = speech
    x = x.copy()
    x[:, 3] = 7.0
    other = x * np.geomspace(1e-2, 1e2, MEASURES) + 3.0
    one, two = PrincipalPLDA.train(x, speakers), PrincipalPLDA.train(other, speakers)
    np.testing.assert_allclose(
        one.score([x[:2]], x[2:9]), two.score([other[:2]], other[2:9]), rtol=1e-5, atol=1e-6
    )


def test_speakers_of_one_recording_are_refused(speech):
    with pytest.raises(VoicenymError):
        PrincipalPLDA.train(speech[0][::EACH], speech[1][::EACH])
