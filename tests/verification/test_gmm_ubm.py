"""GMM-UBM: the fast score against the exact likelihood ratio; speakers are found."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.gaussian_mixture import Mixture
from voicenym.training.speakers.train_ubm import BackgroundConfig
from voicenym.training.speakers.verifier_training import train_verifier
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.verification.gmm_ubm import GMMUBM, LikelihoodRatio
from voicenym.verification.scoring import Cosine

CEPSTRA = Cepstra(coefficients=10, bands=20, slopes=0, window=0)
CONFIG = BackgroundConfig(CEPSTRA, components=8)


@pytest.fixture(scope="module")
def folder(voice, tmp_path_factory):
    place = tmp_path_factory.mktemp("ubm")
    speech = [voice(s, take) for s in range(12) for take in range(2)]
    found = train_verifier(GMMUBM, speech, place, options=TrainingOptions(CONFIG))
    assert isinstance(found.verifier, GMMUBM)
    return place


def mixture() -> Mixture:
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 2, 2))
    arrays = rng.dirichlet([3, 3, 3]), rng.normal(size=(3, 2)), roots @ roots.mT + 0.5 * np.eye(2)
    return Mixture(*map(torch.from_numpy, arrays))


def vector(model: Mixture, frames: torch.Tensor) -> np.ndarray:
    counts, sums = model.statistics(frames)
    moved = model.whitened(sums - counts[:, None] * model.means)
    return torch.cat([counts, moved.flatten()]).numpy()


def test_the_score_is_the_likelihood_ratio_of_frames_in_the_backgrounds_components():
    model = mixture()
    generator = torch.Generator().manual_seed(0)
    speaker, more, trial = (
        torch.randn(n, 2, generator=generator, dtype=torch.float64) for n in (30, 50, 40)
    )
    enrolment = np.stack([vector(model, speaker), vector(model, more)])
    found = LikelihoodRatio(3, relevance=7.0).score([enrolment], vector(model, trial)[None])
    adapted = model.with_means(
        model.adapted_means(*model.statistics(torch.cat([speaker, more])), 7.0)
    )
    before, after = (m.log_joint(m.moments(trial)) for m in (model, adapted))
    expected = (before.softmax(1) * (after - before)).sum(1).mean()
    assert found[0, 0] == pytest.approx(float(expected), rel=1e-9)
    # Jensen: frames that may change components fit better still
    exact = (adapted.log_densities(trial) - model.log_densities(trial)).mean()
    assert expected < exact < expected + 0.1


@pytest.mark.parametrize("form", ["supervector", "statistics"])
def test_finds_speakers_that_it_was_not_trained_on(form, voice, folder):
    verifier = GMMUBM(folder, form)
    vectors = verifier.embed([voice(s, take).samples() for s in range(50, 60) for take in range(4)])
    models = [vectors[4 * s : 4 * s + 3] for s in range(10)]
    scores = verifier.score(models, vectors[3::4])
    own = np.eye(10, dtype=bool)
    assert (scores[own][:, None] > scores[~own]).mean() > 0.75
    assert isinstance(verifier.backend(), Cosine) == (form == "supervector")


def test_vectors_are_adapted_means_in_the_kernels_units(voice, folder):
    samples = voice(0, 5).samples()
    model = Background.of(*read(folder))
    m = model.mixture
    own = m.adapted_means(*m.statistics(CEPSTRA(torch.from_numpy(samples))), 16.0)
    roots = torch.linalg.cholesky(m.covariances) if m.full else m.covariances.sqrt().diag_embed()
    whitened = torch.linalg.solve(roots, (own - m.means)[..., None])[..., 0]
    expected = (m.weights.sqrt()[:, None] * whitened).flatten()
    found = GMMUBM(folder).embed([samples])
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    assert not GMMUBM(folder).embed([np.zeros(16_000, np.float32)]).any()
    assert GMMUBM(folder).embed([]).shape == (0, 8 * 10)


def test_is_pickled_and_its_version_follows_its_content(voice, folder, tmp_path):
    verifier = GMMUBM(folder)
    copy = pickle.loads(pickle.dumps(verifier))
    samples = [voice(0, 5).samples()]
    np.testing.assert_array_equal(copy.embed(samples), verifier.embed(samples))
    assert copy.version == verifier.version == GMMUBM(folder).version
    versions = {verifier.version, GMMUBM(folder, "statistics").version}
    versions.add(GMMUBM(folder, relevance=4.0).version)
    speech = [voice(s, 0) for s in range(12)]
    other = train_verifier(verifier, speech, tmp_path, options=TrainingOptions(CONFIG))
    versions.add(other.verifier.version)
    assert len(versions) == 4


def test_other_folders_and_forms_are_refused(folder, tmp_path):
    with pytest.raises(VoicenymError, match="supervector or statistics"):
        GMMUBM(folder, "means")
    with pytest.raises(VoicenymError, match="cannot be read"):
        GMMUBM(tmp_path)
