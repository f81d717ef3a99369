"""The autoencoder's parts: adversaries, files read as written."""

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.nets.identity.vector_autoencoder import (
    Adversaries,
    Autoencoder,
    load,
    save,
)


def test_an_adversary_and_the_code_pull_in_opposite_directions():
    torch.manual_seed(0)
    code = torch.randn(8, 4, requires_grad=True)
    adversaries = Adversaries(4, {"sex": 2})
    labels = torch.tensor([0, 1] * 4)

    def loss(of: torch.Tensor) -> torch.Tensor:
        logits = adversaries(of, {"sex": 1.0})["sex"]
        return torch.nn.functional.cross_entropy(logits, labels)

    before = loss(code)
    before.backward()
    with torch.no_grad():
        assert loss(code - 0.5 * code.grad) > before  # descent for the code hides
        for parameter in adversaries.parameters():
            parameter -= 0.1 * parameter.grad
        assert loss(code) < before  # and for the adversary finds


def test_standard_vectors_have_mean_0_and_deviation_1():
    network = Autoencoder(5, 3, 8)
    x = torch.randn(500, 5) * torch.arange(1.0, 6.0) + 7.0
    network.adapt(x)
    found = network.standard(x)
    assert torch.allclose(found.mean(0), torch.zeros(5), atol=1e-5)
    assert torch.allclose(found.std(0), torch.ones(5), atol=1e-5)
    assert network(x).shape == x.shape
    assert network.encode(x).shape == (500, 3)


def test_it_is_read_as_it_was_written(tmp_path):
    network = Autoencoder(6, 2, 4)
    save(network, tmp_path, "invented", "1", {"vectors": 3})
    again, config = load(tmp_path)
    x = torch.randn(3, 6)
    assert torch.equal(again(x), network(x))
    assert (config["encoder"], config["version"]) == ("invented", "1")
    write(tmp_path / "other", {}, {"kind": "pool"})
    with pytest.raises(VoicenymError, match="no autoencoder"):
        load(tmp_path / "other")
