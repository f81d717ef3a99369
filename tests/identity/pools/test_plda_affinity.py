"""PLDA beside a pool, against the back end that trains it."""

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.pools.plda_affinity import Affinity


@pytest.mark.parametrize("normalise", [True, False])
def test_scores_are_those_of_the_back_end(trained, normalise):
    plda, affinity = trained(normalise)
    vectors = np.random.default_rng(1).normal(size=(8, 12)) * 2
    expected = plda.score([vectors[:1]], vectors)[0]
    found = affinity.scores(torch.from_numpy(vectors[0]), torch.from_numpy(vectors))
    assert np.allclose(found.numpy(), expected, atol=1e-9)


def test_it_is_read_as_it_was_written(trained):
    _, affinity = trained(True)
    again = Affinity.from_state(affinity.state())
    x = torch.randn(3, 12, generator=torch.Generator().manual_seed(0))
    assert torch.equal(again.latent(x), affinity.latent(x))
    assert Affinity.from_state({"vectors": x}) is None


def test_what_does_not_fit_is_refused(trained):
    _, affinity = trained(True)
    state = affinity.state()
    with pytest.raises(VoicenymError, match="build the pool again"):
        Affinity.from_state({**state, "plda.psi": torch.ones(3)})
    with pytest.raises(VoicenymError, match="not finite"):
        Affinity.from_state({**state, "plda.psi": -state["plda.psi"] - 1})
    state.pop("plda.mean")
    with pytest.raises(VoicenymError, match="mean"):
        Affinity.from_state(state)
