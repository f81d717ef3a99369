"""Regression of F0 statistics on speaker vectors."""

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.resynthesis.pipeline.f0_regression import Register


@pytest.fixture
def known():
    """Speakers whose pitch is a linear function of their direction."""
    vectors = torch.randn(300, 6, generator=torch.Generator().manual_seed(0))
    unit = torch.nn.functional.normalize(vectors, dim=1)
    return vectors, torch.stack([5.0 + 0.3 * unit[:, 0], 0.2 + 0.05 * unit[:, 1]], dim=1)


def test_a_linear_law_is_found_whatever_the_vectors_lengths(known, tmp_path):
    vectors, moments = known
    register = Register(6, "ecapa", "abc")
    register.learn(vectors, moments, penalty=1e-6)
    mean, deviation = register(7.0 * vectors)
    torch.testing.assert_close(mean, moments[:, 0], atol=1e-3, rtol=0)
    torch.testing.assert_close(deviation, moments[:, 1], atol=1e-3, rtol=0)
    register.save(tmp_path)
    again = Register.load(tmp_path)
    assert (again.size, again.encoder, again.version) == (6, "ecapa", "abc")
    torch.testing.assert_close(again(vectors), register(vectors))


def test_a_heavy_penalty_leaves_the_mean_of_all(known):
    register = Register(6)
    register.learn(*known, penalty=1e9)
    mean, _ = register(known[0])
    torch.testing.assert_close(mean, known[1][:, 0].mean().expand(300), atol=1e-4, rtol=0)


def test_something_else_in_the_folder_is_refused(tmp_path):
    write(tmp_path, {"a": torch.zeros(1)}, {"kind": "pool"})
    with pytest.raises(VoicenymError, match="train register"):
        Register.load(tmp_path)
