"""The verifier interface: scores by its own back end, and back ends fitted to vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.verification.plda import PLDA
from voicenym.verification.score_normalisation import ASNorm
from voicenym.verification.scoring import Cosine, DiagonalGaussian
from voicenym.verification.voice_statistics import VoiceStatistics


def people(seed=0, speakers=30, each=5, dimension=8):
    """Vectors that PLDA's own model made, and whose they are."""
    rng = np.random.default_rng(seed)
    who = np.repeat([f"s{i}" for i in range(speakers)], each)
    own = 2.0 * rng.standard_normal((speakers, dimension)).repeat(each, 0)
    return own + rng.standard_normal(own.shape), who.tolist()


def test_scores_are_cosines_unless_a_verifier_has_a_back_end(spectrum):
    x, _ = people()
    models = [x[:3], x[5:9]]
    np.testing.assert_array_equal(spectrum.score(models, x), Cosine().score(models, x))
    assert spectrum.score(models, x).shape == (2, len(x))
    statistics = VoiceStatistics()
    y = people(dimension=7)[0]
    np.testing.assert_array_equal(
        statistics.score([y[:3]], y), statistics.backend().score([y[:3]], y)
    )
    assert isinstance(statistics.backend(), DiagonalGaussian)


def test_a_verifier_stands_where_a_back_end_is_asked_for(spectrum):
    x, _ = people()
    np.testing.assert_allclose(
        ASNorm(spectrum, x[20:]).score([x[:3]], x[3:6]),
        ASNorm(Cosine(), x[20:]).score([x[:3]], x[3:6]),
    )


def test_an_adapted_back_end_learnt_from_the_vectors(spectrum):
    x, who = people()
    found = spectrum.adapted(x, who)
    assert isinstance(found, PLDA)
    others, _ = people(seed=1)
    scores = found.score([others[:4], others[5:9]], others[[4, 9]])
    assert (np.diag(scores) > scores[[0, 1], [1, 0]]).all()
    assert isinstance(VoiceStatistics().adapted(*people(dimension=7)), DiagonalGaussian)
    with pytest.raises(VoicenymError, match="two speakers"):
        spectrum.adapted(x[:4], who[:4])


def test_what_nobody_measured_is_not_known(spectrum):
    assert all(map(math.isnan, spectrum.calibration))
    assert VoiceStatistics().concentration == 1.0
